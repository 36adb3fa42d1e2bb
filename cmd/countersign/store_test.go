package main

import (
	"strings"
	"testing"
)

// TestNoPrintOfAStoreShowsItsPassword, at any position in the address.
func TestNoPrintOfAStoreShowsItsPassword(t *testing.T) {
	for _, address := range []string{
		"postgres://u:secret@db/c", "postgresql://u:secret@db:5432/c?sslmode=require", "postgres://db/c?user=u&password=secret", "postgres://u:secret@db/c?password=secret",
		"postgres://u:secret@[bad/c",
	} {
		if shown := shownStore(address); strings.Contains(shown, "secret") || !strings.HasPrefix(shown, "postgres") {
			t.Errorf("%s is shown as %s", address, shown)
		}
	}
	if got := shownStore("./countersign-data"); got != "./countersign-data" {
		t.Error(got)
	}
}
