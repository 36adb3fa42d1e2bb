package outbound

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/testing/faultreceiver"
)

// TestA409IsOfAnotherRequestByAllOfItsBody: what is kept for people is its beginning alone, and of
// a body that can't be read nobody knows what it says.
func TestA409IsOfAnotherRequestByAllOfItsBody(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxSaid)
	for body, want := range map[string]bool{
		`{"error":"in_progress"}`:                  true,
		`{"a":"` + long + `","error":"in_doubt"}`:  true,
		`{"a":"` + long + `","error":"duplicate"}`: false,
		`{"error":"duplicate"}`:                    false,
		"conflict":                                 false,
		"":                                         false,
	} {
		b := setup(t)
		b.receiver.Next(faultreceiver.Answering("conflict", faultreceiver.JSON(409, body)))
		if o := b.client.Call(t.Context(), b.call(t, "POST")); o.OfAnother != want {
			t.Errorf("%.40q: of another: %t", body, o.OfAnother)
		}
	}
	for name, raw := range map[string]string{
		"cut off":    "HTTP/1.1 409 Conflict\r\nContent-Length: 100\r\nConnection: close\r\n\r\n{\"error\":\"in_pro",
		"compressed": "HTTP/1.1 409 Conflict\r\nContent-Length: 2\r\nContent-Encoding: gzip\r\n\r\n{}",
	} {
		b := setup(t)
		b.receiver.Next(faultreceiver.Closing(name, raw))
		if o := b.client.Call(t.Context(), b.call(t, "POST")); !o.OfAnother {
			t.Errorf("a body that is %s says nothing of another", name)
		}
	}
}
