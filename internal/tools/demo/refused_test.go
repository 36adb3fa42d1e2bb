package demo

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/countersign/countersign/internal/tools/sample"
)

// TestWhatIsNotRefusedDoesNotHold: a service that takes what it must refuse is told of.
func TestWhatIsNotRefusedDoesNotHold(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"made"}`)
	}))
	defer service.Close()
	shop, err := sample.StartShop(sample.Config{Secret: []byte("secret")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = shop.Close() }()
	d := &demo{service: Service{Address: service.URL}, shop: shop, print: &printer{w: io.Discard}}
	c, err := d.caller("token")
	if err != nil {
		t.Fatal(err)
	}
	d.agent, d.operator = c, c
	for _, ask := range []error{d.overreach(t.Context()), d.overrideFixed(t.Context())} {
		if ask != nil {
			t.Error(ask)
		}
	}
	want := []string{`an agent's token stores no plan; the answer is ""`, `a fixed input can't be overridden; the answer is ""`}
	if !slices.Equal(d.broke, want) {
		t.Errorf("\n got %q\nwant %q", d.broke, want)
	}
}
