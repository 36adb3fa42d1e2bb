package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestDoctorChecksThatRunsCanBeArchived(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		archive, state, seen string
		keep                 time.Duration
	}{
		{archive: file, keep: 0, state: ""},
		{archive: dir, keep: time.Hour, state: findingOK, seen: "1h0m0s ago"},
		{archive: filepath.Join(dir, "not", "yet"), keep: time.Hour, state: findingOK, seen: "yet"},
		{archive: file, keep: time.Hour, state: findingBroken, seen: "is no directory"},
		{archive: filepath.Join(file, "below"), keep: time.Hour, state: findingBroken, seen: "is no directory"},
	} {
		found := checkArchive(t.Context(), config{Retention: c.keep, ArchiveDir: c.archive})
		if c.state == "" && len(found) == 0 {
			continue
		}
		if len(found) != 1 || found[0].State != c.state || !strings.Contains(found[0].Seen, c.seen) {
			t.Errorf("%s, kept for %s: %+v", c.archive, c.keep, found)
		}
	}
}
