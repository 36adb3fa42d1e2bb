package main

import (
	"strings"
	"testing"
)

// TestDoctorTakesADatabaseForNoDirectory: it also shows no password of the database.
func TestDoctorTakesADatabaseForNoDirectory(t *testing.T) {
	cfg := config{Store: "postgres://countersign:hidden-word@127.0.0.1:1/countersign"}
	found := append(checkStore(t.Context(), cfg, false), checkSpace(t.Context(), cfg)...)
	if len(found) != 1 || found[0].Check != "store" || found[0].State != findingBroken || !strings.Contains(found[0].Seen, "127.0.0.1") {
		t.Errorf("%+v", found)
	}
	for _, f := range found {
		if strings.Contains(f.Seen+f.Do, "hidden-word") {
			t.Errorf("%+v", f)
		}
	}
}
