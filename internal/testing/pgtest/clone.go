package pgtest

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"
)

// Clone makes a copy of a database, as a backup by pg_dump and its restore do.
func Clone(t testing.TB, url string) string {
	t.Helper()
	dump, err := exec.Command(client(t, "pg_dump"), "--no-owner", url).Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	clone := Database(t)
	restore := exec.Command(client(t, "psql"), "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", clone)
	restore.Stdin = bytes.NewReader(dump)
	if out, err := restore.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v: %s", err, out)
	}
	return clone
}

// client finds a client program, which may be installed without the server.
func client(t testing.TB, name string) string {
	t.Helper()
	if found, err := exec.LookPath(name); err == nil {
		return found
	}
	dir, err := programs()
	if err != nil {
		absent(t, err)
	}
	return filepath.Join(dir, name)
}
