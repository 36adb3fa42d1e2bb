package test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestABrokenLogEndsTheCommandWithOne: scripts rely on the exit status (the table in docs/command-line.md), with a head and
// without, and with every output format.
func TestABrokenLogEndsTheCommandWithOne(t *testing.T) {
	harness.OnlyDirectory(t)
	t.Parallel()
	s := ownShell(t)
	verify := func(status int, args ...string) harness.Result {
		return s.command(t, status, append([]string{"audit", "verify", "--profile", "admin"}, args...)...)
	}
	prints(t, verify(0).Out, "intact   yes")
	kept := s.asked(t, "audit", "verify", "--profile", "admin")
	head := []string{"--head", kept.At("head").Text(), "--records", fmt.Sprint(kept.At("records").Int())}
	file := filepath.Join(s.Store, "countersign.db")
	tamper(t, file, `"outcome":"done"`, `"outcome":"dine"`)
	s.Stop() // the service caches a verification for a minute
	s.Restart()
	s = shellIn(t, s.world)
	for _, args := range [][]string{nil, {"-o", "json"}, head, append(head, "-o", "json")} {
		if said := verify(1, args...).Out; !strings.Contains(said, "intact") || strings.Contains(said, "true") || strings.Contains(said, "yes") {
			t.Errorf("audit verify %v says %s", args, said)
		}
	}
	s.Admin.Get("/audit/verify").OK(t).Is(t, "intact", false).Is(t, "firstBroken", 2)
	tamper(t, file, `"outcome":"dine"`, `"outcome":"done"`)
	verify(0, head...)
}

// tamper changes one record directly in the database.
func tamper(t *testing.T, file, old, replacement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(60000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	result, err := db.Exec(`UPDATE audit SET doc = replace(doc, ?, ?) WHERE tenant = 'default' AND seq = 2`, old, replacement)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := result.RowsAffected(); n == 0 {
		t.Fatal("there is no such record")
	}
}
