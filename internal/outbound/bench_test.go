package outbound

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/request"
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
// http.Client takes for the same request without signing or checking anything;
// the ratio is theirs over ours, in one run.
func BenchmarkSequentialPOST(b *testing.B) {
	server := echoServer(b)
	s := setup(b)
	s.moveTo(server.URL, nil)
	call := s.call(b, "POST")
	b.ReportAllocs()
	for b.Loop() {
		if o := s.client.Call(b.Context(), call); o.Certainty != request.Returned {
			b.Fatalf("got %+v", o)
		}
	}
	ours := b.Elapsed() / time.Duration(b.N)
	start := time.Now()
	for range b.N {
		plainPOST(b, call)
	}
	theirs := time.Since(start) / time.Duration(b.N)
	b.ReportMetric(float64(theirs.Nanoseconds()), "net/http-ns/op")
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
