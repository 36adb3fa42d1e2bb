package outbound

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/rules/request"
)

// echoServer answers every request with its own body.
func echoServer(b *testing.B) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	}))
	b.Cleanup(server.Close)
	return server
}

// BenchmarkSequentialPOST compares a whole signed call with what a plain
// http.Client takes for the same request without signing or checking anything.
// The two take turns, so that whatever else the machine does hits both; the ratio
// is theirs over ours.
func BenchmarkSequentialPOST(b *testing.B) {
	server := echoServer(b)
	s := setup(b)
	s.moveTo(server.URL, nil)
	call := s.call(b, "POST")
	var ours, theirs time.Duration
	for b.Loop() {
		start := time.Now()
		if o := s.client.Call(b.Context(), call); o.Certainty != request.Returned {
			b.Fatalf("got %+v", o)
		}
		between := time.Now()
		plainPOST(b, call)
		ours += between.Sub(start)
		theirs += time.Since(between)
	}
	b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N), "ns/op")
	b.ReportMetric(float64(theirs.Nanoseconds())/float64(b.N), "net/http-ns/op")
	b.ReportMetric(float64(theirs)/float64(ours), "times-net/http")
	s.client.Close()
	http.DefaultClient.CloseIdleConnections()
}

func plainPOST(b *testing.B, call request.Call) {
	resp, err := http.Post(call.Request.URL, "application/json", strings.NewReader(call.Request.Body.Raw()))
	if err != nil {
		b.Fatal(err)
	}
	_, _ = io.ReadAll(resp.Body)
	_ = resp.Body.Close()
}
