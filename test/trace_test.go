package test

import (
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/countersign/countersign/internal/tools/sample"
	"github.com/countersign/countersign/test/harness"
)

// spanCollector receives spans by OTLP over HTTP.
type spanCollector struct {
	*httptest.Server
	mu    sync.Mutex
	spans map[string]*otlp.Span // by id
	raw   strings.Builder
}

func newSpanCollector(t *testing.T) *spanCollector {
	o := &spanCollector{spans: map[string]*otlp.Span{}}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var request collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &request); err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		o.take(&request)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(o.Close)
	return o
}

func (c *spanCollector) take(request *collector.ExportTraceServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.WriteString(protojson.Format(request))
	for _, of := range request.ResourceSpans {
		for _, in := range of.ScopeSpans {
			for _, s := range in.Spans {
				c.spans[hex.EncodeToString(s.SpanId)] = s
			}
		}
	}
}

// has reports whether a trace has these spans, each a child of the one before.
func (c *spanCollector) has(chain, traceID string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		var names []string
		for at := s; at != nil; at = c.spans[hex.EncodeToString(at.ParentSpanId)] {
			names = append([]string{at.Name}, names...)
		}
		if strings.Join(names, " > ") == chain && hex.EncodeToString(s.TraceId) == traceID {
			return true
		}
	}
	return false
}

// links reports whether a span of this name links to a trace.
func (c *spanCollector) links(name, traceID string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		for _, l := range s.Links {
			if s.Name == name && hex.EncodeToString(l.TraceId) == traceID {
				return true
			}
		}
	}
	return false
}

// traces makes the server export to the collector without delay.
func (c *spanCollector) traces() []harness.Setting {
	return []harness.Setting{harness.Env("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL), harness.Env("OTEL_BSP_SCHEDULE_DELAY", "100")}
}

// traced is a project API that makes a span for each request, as a child of the caller's span.
func (c *spanCollector) traced(t *testing.T) func(http.Handler) http.Handler {
	exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(c.URL+"/v1/traces"))
	if err != nil {
		t.Fatal(err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	t.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	return func(shop http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
			_, span := provider.Tracer("shop").Start(ctx, "shop "+r.Method, trace.WithSpanKind(trace.SpanKindServer))
			defer span.End()
			shop.ServeHTTP(w, r)
		})
	}
}

// sampleWorld is a server on which the sample shop is registered and enabled.
func sampleWorld(t *testing.T, around func(http.Handler) http.Handler, settings ...harness.Setting) (*world, *sample.Shop) {
	t.Helper()
	s, err := sample.StartShop(sample.Config{Secret: []byte(harness.Secret), Around: around})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	w := &world{}
	w.Server = harness.Start(t, append([]harness.Setting{
		harness.Set("CONNECTION_ORIGINS", s.URL()), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret),
	}, settings...)...)
	w.Keep(harness.Secret)
	w.operator, w.approver = w.principal(t, "OPERATOR"), w.principal(t, "APPROVER")
	w.operator.Put("/models/refund", doc{"document": harness.Model("refund")}).OK(t)
	rev := w.Admin.Put("/projects/"+shop, sample.ShopProject(s.URL(), harness.SecretEnv)).OK(t).At("revision").Int()
	w.enable(t, shop, rev)
	return w, s
}

// TestATraceLeadsFromTheCallersRequestToTheProjectsOwnSpan: one LIVE run with an approval and a restart of the service is one trace: the
// caller's span, our request, the step, our call, and the project API's span. Each transaction is a child of the span that waits for it.
func TestATraceLeadsFromTheCallersRequestToTheProjectsOwnSpan(t *testing.T) {
	t.Parallel()
	o := newSpanCollector(t)
	w, _ := sampleWorld(t, o.traced(t), o.traces()...)
	plan := w.ready(t, planOf(
		step("look", sample.ReadOrder, doc{"orderId": sample.ReturnedOrder}),
		harness.With(step("pay", sample.CreateRefund, doc{"orderId": sample.ReturnedOrder, "amount": 12, "currency": "EUR"}), "dependsOn", []string{"look"}),
	))
	const callersTrace, callersSpan = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	runID := w.operator.Post("/runs", doc{"planId": plan}, key(), harness.Header("traceparent: 00-"+callersTrace+"-"+callersSpan+"-01")).OK(t).At("id").Text()
	w.approval(t, runID)
	w.Stop()
	w.Restart()
	w.approve(t, runID)
	w.reaches(t, runID, "COMPLETED")

	for _, want := range []string{
		"POST /runs > step orders.read > GET > shop GET",
		"POST /runs > step refunds.create > POST > shop POST",
		"POST /runs > transaction",
		"POST /runs > step refunds.create > transaction",
	} {
		harness.Until(t, want, func() bool { return o.has(want, callersTrace) })
	}
	harness.Until(t, "the decision's link to the run's trace", func() bool { return o.links("POST /approvals/{id}/decision", callersTrace) })
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.spans {
		if s.Name == "POST /runs" && hex.EncodeToString(s.ParentSpanId) != callersSpan {
			t.Errorf("the request's parent is %x", s.ParentSpanId)
		}
	}
	for _, secret := range []string{harness.Secret, sample.ReturnedOrder, w.Settings()["SVC_PLATFORM_BOOTSTRAP_TOKEN"]} {
		if strings.Contains(o.raw.String(), secret) {
			t.Errorf("%q is in a span", secret)
		}
	}
}

// TestNoTraceparentIsSentWhereNobodyTraces: without tracing, a call's bytes don't depend on what our caller sent.
func TestNoTraceparentIsSentWhereNobodyTraces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.operator.Post("/runs", doc{"planId": w.ready(t, planOf(step("note", "note", nil)))}, key(),
		harness.Header("traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")).OK(t).At("id").Text()
	w.reaches(t, id, "COMPLETED")
	for _, r := range w.shop.Seen("POST", "/notes") {
		if r.Header.Get("traceparent") != "" {
			t.Errorf("%s %s came with a traceparent", r.Method, r.Target)
		}
	}
}
