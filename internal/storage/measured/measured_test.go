package measured_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/storage/measured"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
)

func TestChangesAreMeasuredByResultAndTracedBelowWhatWaits(t *testing.T) {
	below, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	figures := telemetry.NewMetrics("test")
	s := measured.New(below, figures, telemetry.NewTraces(provider), slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _ = s.Close() })
	if _, knows := s.(store.Changing); !knows {
		t.Error("it doesn't know of changes any more")
	}
	write := func(tx store.Tx) error {
		return tx.Put(store.Tenants, store.Realm, store.Row{ID: "acme", Doc: []byte("{}")}, 0)
	}
	ctx, parent := provider.Tracer("test").Start(t.Context(), "request")
	if err := s.Update(ctx, write); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	if err := s.Update(context.Background(), func(store.Tx) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
	parent.End()
	if got := spans.GetSpans(); len(got) != 2 || got[0].Name != "transaction" || got[0].Parent.SpanID() != parent.SpanContext().SpanID() {
		t.Errorf("%+v", got)
	}
	families, err := figures.Gather("acme", true, nil)
	if err != nil {
		t.Fatal(err)
	}
	object := families.Object()
	results := object["countersign_store_update_duration_seconds"].(map[string]any)
	for _, result := range []string{"durable", "refused"} {
		if n := results[result].(map[string]any)["count"]; n != uint64(1) {
			t.Errorf("%s: %v", result, n)
		}
	}
	if n := object["countersign_store_commits_total"].(float64); n < 1 {
		t.Errorf("%v commits", n)
	}
}
