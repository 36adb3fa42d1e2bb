package measured_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/storage/measured"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

// shaky is a store that fails as it is told to.
type shaky struct {
	store.Store
	fails error
}

func (s *shaky) Update(ctx context.Context, fn func(store.Tx) error) error {
	return errors.Join(s.fails, s.Store.Update(ctx, fn))
}

func (s *shaky) View(ctx context.Context, fn func(store.Tx) error) error {
	return errors.Join(s.fails, s.Store.View(ctx, fn))
}

var (
	errUnreachable = fmt.Errorf("%w: connection refused", store.ErrUnavailable)
	nothing        = func(store.Tx) error { return nil }
)

// TestAnOutageIsLoggedWithItsCause once when it begins and once a minute while it lasts, with how
// many were refused; and once when it is over. Nothing else is.
func TestAnOutageIsLoggedWithItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		below := &shaky{Store: memory.New()}
		plain := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		s := measured.New(below, telemetry.NewMetrics("test"), telemetry.NewTraces(sdktrace.NewTracerProvider()), plain)
		write := func(fails error, times int) {
			below.fails = fails
			for range times {
				_ = s.Update(t.Context(), nothing)
			}
		}
		read := func(fails error, times int) {
			below.fails = fails
			for range times {
				_ = s.View(t.Context(), nothing)
			}
		}
		expect := func(when string, lines ...string) {
			t.Helper()
			got := strings.Split(strings.TrimSuffix(log.String(), "\n"), "\n")
			if strings.Join(got, "\n") != strings.Join(lines, "\n") {
				t.Errorf("%s:\n%s", when, log.String())
			}
			log.Reset()
		}
		const cause = `error="store: unavailable: connection refused" `
		write(nil, 1)
		write(store.ErrConflict, 2)
		write(context.Canceled, 2)
		read(store.ErrNotFound, 2)
		expect("no outage", "")

		write(errUnreachable, 5)
		expect("it begins", `level=WARN msg="the store can't be written: changes are refused" `+cause+"refused=1")
		read(errUnreachable, 1)
		expect("nor can be read", `level=WARN msg="the store can't be read" `+cause+"refused=1")
		time.Sleep(time.Minute)
		write(errUnreachable, 3)
		expect("it lasts", `level=WARN msg="the store can't be written: changes are refused" `+cause+"refused=5")
		write(nil, 3)
		expect("it is over", `level=INFO msg="the store can be written again"`)

		write(errUnreachable, 1)
		write(nil, 1)
		expect("it comes and goes within the minute", "")
		time.Sleep(time.Minute)
		write(errUnreachable, 1)
		write(nil, 1)
		expect("and later", `level=WARN msg="the store can't be written: changes are refused" `+cause+"refused=4", `level=INFO msg="the store can be written again"`)

		if err := errors.Join(s.Close(), s.Update(t.Context(), nothing)); err == nil || err.Error() != "store: unavailable: the store is closed" {
			t.Errorf("after its end: %v", err)
		}
		expect("it is closed", "")
	})
}
