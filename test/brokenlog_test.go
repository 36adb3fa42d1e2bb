package test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/storage/pack"
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

// TestAStoreWithABrokenLogIsNotRestoredOrCopied: its backup is made, to be compared with an
// earlier one.
func TestAStoreWithABrokenLogIsNotRestoredOrCopied(t *testing.T) {
	harness.OnlyDirectory(t)
	t.Parallel()
	w := ownWorld(t)
	tamper(t, filepath.Join(w.Store, "countersign.db"), `"outcome":"done"`, `"outcome":"dine"`)
	w.Stop()
	dir := t.TempDir()
	backup, restored, copied := filepath.Join(dir, "backup"), filepath.Join(dir, "restored"), filepath.Join(dir, "copied")
	for _, c := range []struct{ says, args string }{
		{"", "backup " + backup + " --store " + w.Store},
		{"", "check-backup " + backup},
		{"an audit log in " + backup + " is broken; it is not restored", "restore " + backup + " --store " + restored},
		{"an audit log in " + w.Store + " is broken; nothing was changed", "store restored " + w.Store},
		{"the copy can't be used: its digest is not the source's, or an audit log in it is broken", "store copy " + w.Store + " " + copied},
	} {
		r := harness.Run(t, nil, strings.Fields(c.args)...)
		if r.Status != 1 || !strings.Contains(r.Out+r.Err, "BROKEN") || c.says != "" && !strings.HasSuffix(r.Err, "countersign: "+c.says+"\n") {
			t.Errorf("%s: %d\n%s%s", c.args, r.Status, r.Out, r.Err)
		}
	}
	for _, made := range []string{restored, copied} {
		if _, err := os.Stat(made); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was made: %v", made, err)
		}
	}
	r := harness.Run(t, w.Settings(), "doctor", "-o", "json")
	for _, f := range parsed(t, r.Out).Items() {
		if f.At("check").Text() == "audit log" {
			f.Is(t, "state", "BROKEN").Is(t, "seen", "the log of tenant default is not what was written: record 2").
				Is(t, "do", "keep the store as it is, and compare it with a backup: a person or a disk fault changed the log")
			return
		}
	}
	t.Errorf("no finding about an audit log: %d\n%s%s", r.Status, r.Out, r.Err)
}

// tamper changes one record directly in the database: in its pack, which then has the sum of
// what was made of it.
func tamper(t *testing.T, file, old, replacement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(60000)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	harness.Until(t, "record 2 to be written to its table, behind its commit", func() bool {
		var n int
		return db.QueryRow(`SELECT n FROM audit_packs WHERE tenant = 'default' AND first = 0`).Scan(&n) == nil && n > 2
	})
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	var n int
	var content []byte
	if err := tx.QueryRow(`SELECT n, sum, content FROM audit_packs WHERE tenant = 'default' AND first = 0`).Scan(&n, &sum, &content); err != nil {
		t.Fatal(err)
	}
	p, err := pack.Open("default", 0, n, content, sum)
	if err != nil {
		t.Fatal(err)
	}
	rows := p.Rows()
	text := strings.Replace(string(rows[2].Doc), old, replacement, 1)
	if text == string(rows[2].Doc) {
		t.Fatalf("record 2 has no %s", old)
	}
	rows[2].Doc = []byte(text)
	content, sum = new(pack.Packer).Pack("default", rows)
	_, err = tx.Exec(`UPDATE audit_packs SET sum = ?, content = ? WHERE tenant = 'default' AND first = 0`, sum, content)
	if err := errors.Join(err, tx.Commit()); err != nil {
		t.Fatal(err)
	}
}
