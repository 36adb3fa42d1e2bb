package test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestDoctorFindsTheDamageThatServeRefuses: otherwise an operator would learn of the damage only at the next start.
func TestDoctorFindsTheDamageThatServeRefuses(t *testing.T) {
	t.Parallel()
	harness.OnlyDirectory(t) // the pages of a database are its server's
	s := harness.Start(t)
	settings := s.Settings()
	dir := settings["SVC_PLATFORM_STORE"]
	s.Stop()
	if r := harness.Run(t, settings, "doctor"); r.Status != 0 || !strings.Contains(r.Out, "every page is as it was written") || !strings.Contains(r.Out, "records in 2 logs are as they were written") {
		t.Errorf("a whole store: %d\n%s%s", r.Status, r.Out, r.Err)
	}
	database := filepath.Join(dir, "countersign.db")
	whole, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	if err := os.WriteFile(database, flipped, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"doctor"}, {"doctor", "--all"}, {"serve"}} {
		if r := harness.Run(t, settings, command...); r.Status == 0 || !strings.Contains(r.Out+r.Err, "is damaged: restore it from a backup") {
			t.Errorf("%v: %d\n%s%s", command, r.Status, r.Out, r.Err)
		}
	}
}
