package issuer_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/platform/issuer"
	"github.com/countersign/countersign/internal/testing/issuertest"
)

// TestAnIssuerIsReadInBounds: no redirect, no more than a mebibyte, no address that isn't its own,
// and nothing that asks for compression.
func TestAnIssuerIsReadInBounds(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("/good", func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "identity" || r.Header.Get("Cookie") != "" {
			t.Errorf("it is asked with %v", r.Header)
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		_, _ = w.Write([]byte("good"))
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/good", http.StatusFound) })
	mux.HandleFunc("/most", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strings.Repeat("x", 1<<20))) })
	mux.HandleFunc("/more", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(strings.Repeat("x", 1<<20+1))) })
	mux.HandleFunc("/head", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) })
	fetch := issuer.HTTP([]issuer.Entry{{Tenant: "acme", Issuer: server.URL}})
	elsewhere := issuer.HTTP([]issuer.Entry{{Tenant: "acme", Issuer: "https://id.example.com"}})
	for _, test := range []struct {
		by   issuer.Fetch
		path string
		want string // of the error; "" for none
	}{
		{fetch, "/good", ""}, {fetch, "/good", ""}, {fetch, "/most", ""},
		{fetch, "/away", server.URL + "/away answers 302; redirects are not followed"},
		{fetch, "/none", server.URL + "/none answers 404; redirects are not followed"},
		{fetch, "/more", server.URL + "/more answers more than 1048576 bytes"},
		{fetch, "/head", "exceeded"},
		{elsewhere, "/good", "its address is not allowed"},
	} {
		answer, err := test.by(t.Context(), server.URL+test.path)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.path, err, test.want)
		}
		if err == nil && (len(answer.Body) == 0 || answer.Date.IsZero()) {
			t.Errorf("%s: %d bytes of %s", test.path, len(answer.Body), answer.Date)
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := fetch(ctx, server.URL+"/good"); err == nil {
		t.Error("it is asked for nobody")
	}
}

// TestExamineSaysHowAnIssuerIs: its keys, and how far its clock is ahead.
func TestExamineSaysHowAnIssuerIs(t *testing.T) {
	t.Parallel()
	i := issuertest.New(t)
	fetch := issuer.HTTP([]issuer.Entry{{Tenant: "acme", Issuer: i.URL}})
	early := func() time.Time { return time.Now().Add(-time.Hour) }
	f := issuer.Examine(t.Context(), fetch, early, i.URL)
	if f.Err != nil || f.Keys != 1 || f.Ahead < 59*time.Minute || f.Ahead > 70*time.Minute {
		t.Errorf("%+v", f)
	}
	i.CallItself("https://other.example")
	if f := issuer.Examine(t.Context(), fetch, time.Now, i.URL); f.Err == nil || f.Err.Error() != `it describes itself as "https://other.example"` {
		t.Errorf("%+v", f)
	}
}
