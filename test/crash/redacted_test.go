package crash

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/harness"
)

// redactedDeaths are the cases of TestKilledWhileARunIsRedacted, which plays its points itself: no stage keeps a run for
// less than a day.
var redactedDeaths = []struct {
	point    string
	archived bool // the run, before it is redacted
}{
	{"archive.written", false},
	{"archive.committed", true},
	{"control.written.runs.redact", false},
	{"control.committed.runs.redact", false},
	{"control.written.runs.redact", true},
	{"control.committed.runs.redact", true},
	{"redact.written", true},
	{"redact.replaced", true},
	{"redact.removed", true},
}

// redactedOnDatabase are the cases that PostgreSQL plays in a short run: after each kill a lease has to end.
var redactedOnDatabase = []string{"redact.written", "redact.replaced"}

// TestKilledWhileARunIsRedacted kills the service between the stages of a redaction and of the archiving before it. After the
// restart the redaction ends: no file has what the run held, the one that the log names is whole, and the receipt
// that was filed verifies.
func TestKilledWhileARunIsRedacted(t *testing.T) {
	for _, c := range redactedDeaths {
		t.Run(c.point, func(t *testing.T) { t.Parallel(); redactKilled(t, c.point, c.archived) })
	}
}

// TestKilledWhileARunIsRedactedOnPostgreSQL does the same on a database.
func TestKilledWhileARunIsRedactedOnPostgreSQL(t *testing.T) {
	for _, c := range redactedDeaths {
		if c.archived && (!testing.Short() || slices.Contains(redactedOnDatabase, c.point)) {
			t.Run(c.point, func(t *testing.T) {
				t.Parallel()
				redactKilled(t, c.point, c.archived, harness.Set("STORE", pgtest.Database(t)))
			})
		}
	}
}

// held is what the run holds.
const held = "Mallory-0815"

func redactKilled(t *testing.T, point string, archived bool, settings ...harness.Setting) {
	dir := filepath.Join(t.TempDir(), "archive")
	b := newBed(t, tagged(t), append(settings, harness.Set("REDACT_AFTER", "0s"), harness.Set("ARCHIVE_DIR", dir))...)
	id := b.operator.Post("/projects/"+project+"/runs", doc{"capability": "note", "mode": "LIVE", "inputs": doc{"text": held}}, harness.Header("Idempotency-Key: k")).OK(t).At("id").Text()
	harness.Until(t, "run "+id+" to end", func() bool { return ended(b.Admin.Get("/runs/" + id).OK(t).At("status").Text()) })
	by := b.principal("ADMIN")
	b.Stop()
	dies, archives := harness.Env("COUNTERSIGN_CRASH_AT", point+":1"), harness.Set("RETENTION", "1ms")
	without := func(name string) harness.Setting { return func(settings map[string]string) { delete(settings, name) } }
	switch {
	case strings.HasPrefix(point, "archive."):
		b.Begin(archives, dies)
	case archived:
		b.Restart(archives)
		harness.Until(t, "the archiving", func() bool { return b.Admin.Get("/runs/"+id).Status == 404 })
		b.Stop()
		fallthrough
	default:
		b.Begin(dies, without("SVC_PLATFORM_RETENTION"))
		_, _ = by.Try("POST", "/runs/"+id+"/redact", doc{"reason": "request 48"}) // it may die with no answer
	}
	if !b.Killed() {
		t.Fatalf("the point was never reached; the service ended by itself:\n%s", b.Log())
	}
	if !b.Begin(without("COUNTERSIGN_CRASH_AT"), without("SVC_PLATFORM_RETENTION")) {
		t.Fatalf("the service ended at its start:\n%s", b.Log())
	}
	if a := by.Do("POST", "/runs/"+id+"/redact", doc{"reason": "request 48"}); a.Status != 200 { // it was committed, or is now
		a.Refused(t, "state_conflict", "was redacted already")
	}
	harness.Until(t, "the redaction to end", func() bool { return !b.holds(dir, held) })
	b.filesAreNamed(dir, id, archived)
	done := slices.DeleteFunc(b.Admin.Get("/audit?action=runs.redact&subject=run/"+id).OK(t).At("items").Items(), func(r json) bool { return r.At("outcome").Text() != "done" })
	if len(done) != 1 {
		t.Errorf("it was redacted %d times", len(done))
	}
	b.Admin.Get("/audit/verify").OK(t).Is(t, "intact", true)
	b.Keep(held) // the harness looks for it in all that the store has
}

// holds looks for a value in all files below a folder, unpacked where they are packed.
func (b *bed) holds(dir, value string) (does bool) {
	b.t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil // it was removed meanwhile
		}
		if z, errZ := gzip.NewReader(bytes.NewReader(text)); errZ == nil {
			text, _ = io.ReadAll(z) // what isn't whole is looked at as far as it goes
		}
		does = does || bytes.Contains(text, []byte(value))
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		b.t.Fatal(err)
	}
	return does
}

// filesAreNamed: one file of the archive is named in the log, and whole, and the receipt that is filed with the run
// verifies, as that of a run that was redacted. A file that was written and never committed is named nowhere.
func (b *bed) filesAreNamed(dir, id string, archived bool) {
	b.t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		b.t.Fatal(err)
	}
	named := 0
	for _, file := range found {
		name := path.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file))
		if b.Admin.Get("/audit?subject=archive/"+name).OK(b.t).At("total").Int() == 0 {
			continue
		}
		named++
		b.prints("archive", "verify", file)
		receipt := filepath.Join(b.t.TempDir(), "receipt.json")
		if err := os.WriteFile(receipt, b.prints("archive", "show", file, id, "--receipt"), 0o600); err != nil {
			b.t.Fatal(err)
		}
		if out := b.prints("receipt", "verify", receipt, "-o", "json"); !bytes.Contains(out, []byte(`"redacted": true`)) {
			b.t.Errorf("%s", out)
		}
	}
	if want := map[bool]int{true: 1}[archived]; named != want {
		b.t.Errorf("%d of the files %q are named in the log; want %d", named, found, want)
	}
}

// prints is what a command prints that does its work.
func (b *bed) prints(args ...string) []byte {
	b.t.Helper()
	out, err := exec.Command(binary, args...).Output()
	if err != nil {
		b.t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return out
}
