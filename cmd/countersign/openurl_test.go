package main

import "testing"

// TestPrintedAddressesCanBeOpened: those of a service that listens on all addresses name this machine.
func TestPrintedAddressesCanBeOpened(t *testing.T) {
	for _, c := range []struct{ listens, public, want string }{
		{"http://127.0.0.1:8080", "", "http://127.0.0.1:8080"},
		{"http://[::]:8080", "", "http://localhost:8080"},
		{"https://0.0.0.0:8443", "", "https://localhost:8443"},
		{"http://[::1]:8080", "", "http://[::1]:8080"},
		{"http://[::]:8080", "https://countersign.example/", "https://countersign.example"},
	} {
		s := &service{address: c.listens, cfg: config{PublicURL: c.public}}
		if got := s.openURL(); got != c.want {
			t.Errorf("%s, public %q: %s, want %s", c.listens, c.public, got, c.want)
		}
	}
}
