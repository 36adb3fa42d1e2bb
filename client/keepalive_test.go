package client

import (
	"errors"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// TestAnInstanceKeepsItsNameOverRestarts: the service stores every instance id, so a new one for
// each process would grow its store for ever.
func TestAnInstanceKeepsItsNameOverRestarts(t *testing.T) {
	for name, want := range map[string]string{
		"pod-7.local": "host-pod-7.local", "büro 2": "host-b-ro-2", "": "host-",
		strings.Repeat("a", 200): "host-" + strings.Repeat("a", 100),
	} {
		hostname := func() (string, error) { return name, nil }
		got := hostInstance(hostname)
		if got != want || got != hostInstance(hostname) || !countersign.ValidID(got) {
			t.Errorf("%q became %q, expected %q", name, got, want)
		}
	}
	if got := hostInstance(func() (string, error) { return "x", errors.New("no name") }); got != "host-" {
		t.Error(got)
	}
}
