package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// TestAFigureWithoutANameIsRefused.
func TestAFigureWithoutANameIsRefused(t *testing.T) {
	const want = "figures measured: "
	if _, err := NewMetrics("1").Gather("acme", false, []Metric{{Help: "without a name"}}); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}

func TestEveryLineOfARequestSaysWhichAndWhichTrace(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(Log(slog.NewJSONHandler(&out, nil))).With("room", "here")
	traces := NewTraces(sdktrace.NewTracerProvider())
	r := httptest.NewRequest("GET", "/", nil)
	ctx, span := traces.Request(r)
	defer span.End()
	log.InfoContext(WithRequestID(ctx, "req-1"), "within")
	log.Info("without")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var within, without map[string]any
	if json.Unmarshal([]byte(lines[0]), &within) != nil || json.Unmarshal([]byte(lines[1]), &without) != nil {
		t.Fatal(out.String())
	}
	if want := strings.Split(Traceparent(ctx), "-"); within["requestId"] != "req-1" || within["room"] != "here" || within["traceId"] != want[1] || within["spanId"] != want[2] {
		t.Errorf("%s for %v", lines[0], want)
	}
	if len(without) != 4 { // time, level, msg, room
		t.Errorf("%s", lines[1])
	}
}

func TestNobodyToTellCostsNothingAndBreaksNothing(t *testing.T) {
	var figures *Metrics
	var traces *Traces
	ctx := t.Context()
	allocs := testing.AllocsPerRun(100, func() {
		span := traces.Step("", StepOf{})
		in, call := traces.Call(span.In(ctx), "GET", "http://a", "run-1", "a")
		_, tx := traces.Transaction(in)
		call.Returned("Returned", 200)
		span.Became("COMPLETED", "")
		tx.Failed()
		for _, s := range []*Span{span, call, tx} {
			s.End()
		}
		figures.Observe("acme", nil)
		figures.Updated(nil, 0)
	})
	if allocs > 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestATraceparentThatIsNoneBeginsATraceOfItsOwn(t *testing.T) {
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, bad := range [][]string{{}, {"nonsense"}, {good, good}, {strings.Replace(good, "00-0af", "00-0AF", 1)}, {"00-" + strings.Repeat("0", 32) + "-b7ad6b7169203331-01"}} {
		spans := tracetest.NewInMemoryExporter()
		traces := NewTraces(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)))
		r := httptest.NewRequest("GET", "/", nil)
		r.Header["Traceparent"] = bad
		_, span := traces.Request(r)
		span.End()
		if got := spans.GetSpans(); len(got) != 1 || got[0].Parent.IsValid() {
			t.Errorf("%q was taken for a parent", bad)
		}
	}
}

func TestARequestIsMeasuredByItsRouteToItsFirstByte(t *testing.T) {
	f := NewMetrics("test")
	h := Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/unknown" {
			Route(w, "GET /runs/{id}")
		}
		if r.URL.Path == "/runs/none" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte("{}"))
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
	}), "none", f, nil)
	for _, path := range []string{"/runs/a", "/runs/b", "/runs/none", "/unknown"} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
	}
	families, err := f.Gather("acme", true, nil)
	if err != nil {
		t.Fatal(err)
	}
	routes := families.Object()["countersign_http_request_duration_seconds"].(map[string]any)
	counts := map[string]any{}
	for route, classes := range routes {
		for class, d := range classes.(map[string]any) {
			counts[route+" "+class] = d.(map[string]any)["count"]
		}
	}
	if diff := cmp.Diff(map[string]any{"GET /runs/{id} 2xx": uint64(2), "GET /runs/{id} 4xx": uint64(1), "none 2xx": uint64(1)}, counts); diff != "" {
		t.Error(diff)
	}
}

// TestSeriesOfATenantAreBounded: capabilities beyond maxCapabilities share one series.
func TestSeriesOfATenantAreBounded(t *testing.T) {
	f := NewMetrics("test")
	for i := range 3 * maxCapabilities {
		f.Observe("acme", []Fact{{Kind: Sent, ProjectID: "acme-shop", Capability: fmt.Sprint("c", i)}})
	}
	families, err := f.Gather("acme", false, nil)
	if err != nil {
		t.Fatal(err)
	}
	series := families.Object()["countersign_capability_sent_total"].(map[string]any)
	if rest := series[other].(map[string]any)[other]; len(series) != maxCapabilities+1 || rest != float64(2*maxCapabilities) {
		t.Errorf("%d series, %v counted together", len(series), rest)
	}
}

func TestEachKindOfFactIsCountedByItself(t *testing.T) {
	for kind := Sent; kind < Decided; kind++ {
		f := NewMetrics("test")
		f.Observe("acme", []Fact{{Kind: kind, ProjectID: "p", Capability: "c"}})
		families, _ := f.Gather("acme", false, nil)
		sum := 0.0
		for _, family := range families {
			for _, m := range family.GetMetric() {
				sum += m.GetCounter().GetValue()
			}
		}
		if sum != 1 {
			t.Errorf("kind %d counts %v", kind, sum)
		}
	}
}

func TestPercentilesAreThoseThatPrometheusWouldGive(t *testing.T) {
	f := NewMetrics("test")
	if got := waits(t, f); got["p50"] != nil || got["count"] != uint64(0) {
		t.Errorf("of nothing: %v", got)
	}
	for range 80 {
		f.Observe("acme", []Fact{{Kind: Decided, ProjectID: "p", Capability: "c", Took: 20 * time.Second}})
	}
	for range 20 {
		f.Observe("acme", []Fact{{Kind: Decided, ProjectID: "p", Capability: "c", Took: 100 * time.Hour}})
	}
	// p50: 50 of 80 between 15 s and 30 s. p95: a value above the last bound counts as that bound.
	want := map[string]any{"count": uint64(100), "sum": 80*20.0 + 20*360000.0, "p50": 15 + 15*50.0/80, "p95": 86400.0}
	if diff := cmp.Diff(want, waits(t, f)); diff != "" {
		t.Error(diff)
	}
}

func waits(t *testing.T, f *Metrics) map[string]any {
	t.Helper()
	f.Observe("acme", []Fact{{Kind: Sent, ProjectID: "p", Capability: "c"}})
	families, err := f.Gather("acme", false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return families.Object()["countersign_capability_approval_wait_seconds"].(map[string]any)["c"].(map[string]any)["p"].(map[string]any)
}

func TestEachTenantSeesItsOwnFiguresAndNobodyTheProcesses(t *testing.T) {
	f := NewMetrics("test")
	f.Observe("acme", []Fact{{Kind: Sent, ProjectID: "acme-shop", Capability: "pay"}})
	f.Heartbeat("acme", "accepted")
	f.Updated(errors.New("full"), time.Second)
	families, err := f.Gather("beta", false, []Metric{{Name: "countersign_models", Help: "Models.", Value: 2}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"countersign_models": 2.0, "countersign_heartbeats_total": map[string]any{"accepted": 0.0, "duplicate": 0.0, "refused": 0.0}}
	if diff := cmp.Diff(want, families.Object()); diff != "" {
		t.Error(diff)
	}
}

func TestARunsTraceIsKeptOnlyWhereThereIsOne(t *testing.T) {
	if got := Traceparent(context.Background()); got != "" {
		t.Errorf("%q", got)
	}
	traces := NewTraces(sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())))
	ctx, span := traces.Request(httptest.NewRequest("GET", "/", nil))
	defer span.End()
	if got := Traceparent(ctx); !strings.HasSuffix(got, "-00") { // the span is not sampled, so its children are not
		t.Errorf("%q", got)
	}
}

// TestACallAnsweredWithinAMillisecondIsMeasured: its duration 0 counts, while a call without
// an answer has no duration.
func TestACallAnsweredWithinAMillisecondIsMeasured(t *testing.T) {
	f := NewMetrics("test")
	f.Observe("acme", []Fact{{Kind: Sent, ProjectID: "p", Capability: "c", Timed: true}, {Kind: Sent, ProjectID: "p", Capability: "c"}})
	families, err := f.Gather("acme", false, nil)
	if err != nil {
		t.Fatal(err)
	}
	calls := families.Object()["countersign_capability_call_duration_seconds"].(map[string]any)["c"].(map[string]any)["p"].(map[string]any)
	if calls["count"] != uint64(1) {
		t.Errorf("%v calls were measured", calls["count"])
	}
}
