package otlp

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTracesGoOutOnlyWhereTheEnvironmentNamesAnEndpoint(t *testing.T) {
	tests := map[string]struct {
		env     map[string]string
		on, bad bool
	}{
		"nothing set":     {env: nil},
		"an endpoint":     {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, on: true},
		"one for traces":  {env: map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/v1/traces"}, on: true},
		"disabled":        {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"}},
		"no exporter":     {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"}},
		"another one":     {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "zipkin"}, bad: true},
		"grpc":            {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, bad: true},
		"grpc for others": {env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf"}, on: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e, err := Start(t.Context(), func(name string) string { return test.env[name] }, "test", slog.New(slog.DiscardHandler))
			if (e.Traces() != nil) != test.on || (err != nil) != test.bad {
				t.Errorf("on %v, error %v", e.Traces() != nil, err)
			}
			if err := e.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestACollectorThatIsAwayIsMentionedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		c := &complaints{log: slog.New(slog.NewTextHandler(&out, nil))}
		for range 100 {
			c.Handle(errors.New("connection refused"))
			time.Sleep(time.Second)
		}
		if n := strings.Count(out.String(), "traces not exported"); n != 2 {
			t.Errorf("it was mentioned %d times in 100 s", n)
		}
	})
}
