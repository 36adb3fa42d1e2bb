package outbound

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/rules/request"
)

func TestACallThatEndsInDoubtIsLoggedWithItsRunAndStep(t *testing.T) {
	var out bytes.Buffer
	b := setup(t)
	b.client.log = slog.New(slog.NewTextHandler(&out, nil))
	b.client.Call(t.Context(), b.call(t, "POST"))
	if out.Len() > 0 {
		t.Errorf("a call that went well is logged: %s", &out)
	}
	b.client.origins = nil
	b.client.Call(t.Context(), b.call(t, "POST"))
	for _, want := range []string{"call not sent", "run=run-1", "step=refund", "project=acme-shop", "is not on the server's list"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %s", want, &out)
		}
	}
}

// A receiver's span can be made below the call's; a credential that travels under
// the header's name is not touched.
func TestTheReceiverIsToldOfTheCallsSpan(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = r.Header.Values("traceparent") }))
	t.Cleanup(server.Close)
	b := setup(t)
	b.moveTo(server.URL, nil)
	b.client.traces = telemetry.NewTraces(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)))
	if o := b.client.Call(t.Context(), b.call(t, "POST")); o.Certainty != request.Returned {
		t.Fatalf("%+v", o)
	}
	s := spans.GetSpans()[0]
	if want := "00-" + s.SpanContext.TraceID().String() + "-" + s.SpanContext.SpanID().String() + "-01"; len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %s", got, want)
	}
	for _, a := range s.Attributes {
		if strings.Contains(a.Value.String(), "A-1") || strings.Contains(a.Value.String(), secret) {
			t.Errorf("%s is %s", a.Key, a.Value.String())
		}
	}
	b.project.Auth = countersign.OneAuth(countersign.Auth{Type: countersign.AuthAPIKey, CredentialEnv: keyEnv, HeaderName: "Traceparent"})
	b.client.Call(t.Context(), b.call(t, "POST"))
	if len(got) != 1 || got[0] != secret {
		t.Errorf("an API key came as %q", got)
	}
	b.client.Close()
}
