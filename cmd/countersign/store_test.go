package main

import (
	"strings"
	"testing"
)

// TestAnAddressThatCannotBeListenedOnEndsTheStart, and says which.
func TestAnAddressThatCannotBeListenedOnEndsTheStart(t *testing.T) {
	const want = "can't listen on 127.0.0.1:99999: listen tcp: address 99999: invalid port"
	s := service{cfg: config{Listen: "127.0.0.1:99999"}}
	if err := s.listen(); err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}

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
