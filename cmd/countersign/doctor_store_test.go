package main

import (
	"strings"
	"testing"
)

// TestDoctorTakesADatabaseForNoDirectory, and shows no password of it.
func TestDoctorTakesADatabaseForNoDirectory(t *testing.T) {
	cfg := config{Store: "postgres://countersign:hidden-word@db.example.com/countersign"}
	found := append(checkStore(t.Context(), cfg), checkSpace(t.Context(), cfg)...)
	if len(found) != 1 || found[0].Check != "store" || !strings.Contains(found[0].Seen, "db.example.com") {
		t.Errorf("%+v", found)
	}
	for _, f := range found {
		if strings.Contains(f.Seen+f.Do, "hidden-word") {
			t.Errorf("%+v", f)
		}
	}
}
