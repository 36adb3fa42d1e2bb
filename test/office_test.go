package test

import (
	"net/url"
	"testing"
)

// TestAnOfficeSignsInAtAProvider: many people share a network address, and none of them makes a mistake.
func TestAnOfficeSignsInAtAProvider(t *testing.T) {
	t.Parallel()
	_, w := elsewhere(t)
	w.Admin.Put("/users/ada@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	for n := range 30 {
		b := w.NewBrowser()
		if b.Open(atIssuer(t, w, b, "/settings")); b.Session() == "" {
			t.Fatalf("person %d is not signed in", n+1)
		}
	}
	if p := w.NewBrowser().Submit("/sign-in", url.Values{"email": {"ada@example.com"}}); p.Status != 200 {
		t.Errorf("a code from the same address: %d", p.Status)
	}
}
