package pgtest

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"
)

// Clone makes a database of what another one holds at this moment, as a backup by
// pg_dump and its restore do.
func Clone(t testing.TB, url string) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		absent(t, err)
	}
	dump, err := exec.Command(filepath.Join(dir, "pg_dump"), "--no-owner", url).Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	clone := Database(t)
	restore := exec.Command(filepath.Join(dir, "psql"), "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", clone)
	restore.Stdin = bytes.NewReader(dump)
	if out, err := restore.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v: %s", err, out)
	}
	return clone
}
