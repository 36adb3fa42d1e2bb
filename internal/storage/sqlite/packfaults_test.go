package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/pack"
	"github.com/countersign/countersign/internal/storage/store"
)

// packedLog is a closed store whose tenant acme has a log of so many records, all in packs.
func packedLog(t *testing.T, records int) (dir string) {
	t.Helper()
	dir = emptyStore(t)
	s := mustOpen(t, dir)
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
		var log []countersign.AuditRecord
		for i := range records {
			log = append(log, record([]string{"step.send", "step.complete"}[i%2], fmt.Sprint("run/", i/25)))
		}
		return audit.Append(tx, "acme", log)
	}))
	mustDo(t, s.Close())
	return dir
}

// inDatabase changes a closed store.
func inDatabase(t *testing.T, dir string, change func(db *sql.DB)) {
	t.Helper()
	db, err := defaults().writerPool(filepath.Join(dir, databaseFile))
	mustDo(t, err)
	change(db)
	mustDo(t, db.Close())
}

func run(t *testing.T, db *sql.DB, statement string, args ...any) {
	t.Helper()
	result, err := db.Exec(statement, args...)
	mustDo(t, err)
	if n, err := result.RowsAffected(); n == 0 || err != nil {
		t.Fatalf("%s changed nothing (%v)", statement, err)
	}
}

// bomb is a frame that says it becomes a gigabyte.
func bomb() []byte {
	e, _ := zstd.NewWriter(nil, zstd.WithSingleSegment(true))
	return e.EncodeAll(make([]byte, 1<<30/16), nil)
}

// TestDamagedPacksAreNeverAWrongAnswer: whatever is done to the second pack of three, a record
// of it is read as it was written or is damaged, and so is each list; verifying the log finds
// it, and names the first record of the pack. What others hold is read as before.
func TestDamagedPacksAreNeverAWrongAnswer(t *testing.T) {
	made := packedLog(t, 300)
	want := answersOf(t, made)
	second := int64(pack.Most)
	for name, c := range map[string]struct {
		damage func(t *testing.T, db *sql.DB)
		broken int64 // first record that doesn't verify
		gone   bool  // the records are deleted, which only the verification can know
	}{
		"a bit is flipped": {func(t *testing.T, db *sql.DB) {
			editContent(t, db, second, func(c []byte) []byte { c[len(c)/2] ^= 4; return c })
		}, second, false},
		"it is cut": {func(t *testing.T, db *sql.DB) {
			editContent(t, db, second, func(c []byte) []byte { return c[:len(c)/2] })
		}, second, false},
		"it is empty": {func(t *testing.T, db *sql.DB) { editContent(t, db, second, func([]byte) []byte { return []byte{} }) }, second, false},
		"it is zeros": {func(t *testing.T, db *sql.DB) {
			editContent(t, db, second, func(c []byte) []byte { return make([]byte, len(c)) })
		}, second, false},
		"it would become a gigabyte": {func(t *testing.T, db *sql.DB) { editContent(t, db, second, func([]byte) []byte { return bomb() }) }, second, false},
		"it is another's": {func(t *testing.T, db *sql.DB) {
			run(t, db, "UPDATE audit_packs SET (sum, content) = (SELECT sum, content FROM audit_packs WHERE first = 0) WHERE first = ?", second)
		}, second, false},
		"its sum is another's": {func(t *testing.T, db *sql.DB) {
			run(t, db, "UPDATE audit_packs SET sum = sum + 1 WHERE first = ?", second)
		}, second, false},
		"it says it has fewer": {func(t *testing.T, db *sql.DB) { run(t, db, "UPDATE audit_packs SET n = n - 1 WHERE first = ?", second) }, second, false},
		"it says it has more":  {func(t *testing.T, db *sql.DB) { run(t, db, "UPDATE audit_packs SET n = n + 1 WHERE first = ?", second) }, second, false},
		"it is of another tenant": {func(t *testing.T, db *sql.DB) {
			run(t, db, "UPDATE audit_packs SET tenant = 'globex' WHERE first = ?", second)
		}, second, true},
		"it isn't there": {func(t *testing.T, db *sql.DB) { run(t, db, "DELETE FROM audit_packs WHERE first = ?", second) }, second, true},
		"a posting is missing": {func(t *testing.T, db *sql.DB) {
			run(t, db, "DELETE FROM audit_postings WHERE first = ? AND value = 'run/6'", second)
		}, second, false},
		"a posting has fewer places": {func(t *testing.T, db *sql.DB) {
			run(t, db, "UPDATE audit_postings SET places = substr(places, 2) WHERE first = ? AND value = 'run/6'", second)
		}, second, false},
		"a posting has another place": {func(t *testing.T, db *sql.DB) {
			run(t, db, "UPDATE audit_postings SET places = (SELECT places FROM audit_postings WHERE first = ? AND value = 'run/7') WHERE first = ? AND value = 'run/6'", second, second)
		}, second, false},
		"a posting has no place in a pack": {func(t *testing.T, db *sql.DB) {
			run(t, db, "UPDATE audit_postings SET places = x'0102FF' WHERE first = ? AND value = 'run/6'", second)
		}, second, false},
		"a posting is of another value": {func(t *testing.T, db *sql.DB) {
			run(t, db, "UPDATE audit_postings SET value = 'run/77' WHERE first = ? AND value = 'run/6'", second)
		}, second, false},
		"a posting is of another pack": {func(t *testing.T, db *sql.DB) {
			run(t, db, "UPDATE audit_postings SET first = ? WHERE first = ? AND value = 'run/7'", second-1, second)
		}, second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			copyStore(t, dir, made)
			inDatabase(t, dir, func(db *sql.DB) { c.damage(t, db) })
			got := answersOf(t, dir)
			for question, answer := range got {
				if answer != "damaged" && answer != want[question] && !bySubjectAlone[question] && !c.gone {
					t.Errorf("%s:\ngot  %.300s\nwant %.300s", question, answer, want[question])
				}
			}
			s := mustOpen(t, dir)
			mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
				v, err := audit.Verify(tx, "acme")
				if err != nil || v.Intact || *v.FirstBroken != c.broken {
					t.Errorf("the log: %+v, %v; want it broken at %d", v, err, c.broken)
				}
				v, _, err = audit.VerifyEnd(tx, "acme", 200)
				if err != nil || v.Intact || *v.FirstBroken != c.broken {
					t.Errorf("its end: %+v, %v; want it broken at %d", v, err, c.broken)
				}
				return nil
			}))
			// The service goes on, and what it appends is there.
			mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
				return audit.Append(tx, "acme", []countersign.AuditRecord{record("models.change", "model/new")})
			}))
			mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
				rows, err := tx.List(store.Audit, "acme", store.Query{Where: []store.Filter{store.Equal("subject", "model/new")}})
				if len(rows) != 1 || err != nil {
					t.Errorf("%d new records, %v", len(rows), err)
				}
				return err
			}))
		})
	}
}

// TestADamagedPackSaysWhatIsWrong reads what the log says.
func TestADamagedPackSaysWhatIsWrong(t *testing.T) {
	made := packedLog(t, 300)
	for statement, want := range map[string]string{
		"DELETE FROM audit_packs WHERE first = ?": `list audit: audit records 128 to 128 of "acme" are damaged: their pack is missing: store: damaged document`,
		"UPDATE audit_postings SET places = (SELECT places FROM audit_postings WHERE first = ?1 AND value = 'run/7') WHERE first = ?1 AND value = 'run/6'": `list audit: audit records 128 to 255 of "acme" are damaged: their postings do not match them: store: damaged document`,
	} {
		dir := t.TempDir()
		copyStore(t, dir, made)
		inDatabase(t, dir, func(db *sql.DB) { run(t, db, statement, int64(pack.Most)) })
		s := mustOpen(t, dir)
		mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
			_, err := tx.List(store.Audit, "acme", store.Query{Where: []store.Filter{store.Equal("subject", "run/6")}})
			if err == nil || err.Error() != want {
				t.Errorf("%s\n got %v\nwant %s", statement, err, want)
			}
			return nil
		}))
	}
}

// bySubjectAlone are the questions that postings alone answer. A posting that is gone is found
// by whoever reads the records in their order, as the verification does.
var bySubjectAlone = map[string]bool{"list run/6": true, "count run/6": true, "list run/7": true, "count run/7": true, "subjects": true}

func editContent(t *testing.T, db *sql.DB, first int64, edit func([]byte) []byte) {
	t.Helper()
	var content []byte
	mustDo(t, db.QueryRow("SELECT content FROM audit_packs WHERE first = ?", first).Scan(&content))
	run(t, db, "UPDATE audit_packs SET content = ? WHERE first = ?", edit(content), first)
}

// answersOf asks a store everything about its log.
func answersOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	s := mustOpen(t, dir)
	defer mustClose(t, s)
	answers := map[string]string{}
	note := func(question string, ask func(tx store.Tx) (any, error)) {
		mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
			answer, err := ask(tx)
			answers[question] = fmt.Sprintf("%s", answer)
			if errors.Is(err, store.ErrDamaged) {
				answers[question] = "damaged"
				return nil
			}
			if errors.Is(err, store.ErrNotFound) { // of a pack that is gone: the log shows the gap
				answers[question] = "damaged"
				return nil
			}
			return err
		}))
	}
	for seq := range int64(300) {
		note(fmt.Sprint("get ", seq), func(tx store.Tx) (any, error) { return tx.Get(store.Audit, "acme", pack.ID(seq)) })
	}
	for _, q := range []store.Query{
		{}, {Limit: 20, Order: []store.Order{{Column: "id", Descending: true}}},
		{Limit: 20, Offset: 100, Order: []store.Order{{Column: "id", Descending: true}}}, {Order: []store.Order{{Column: "at"}}},
		{Where: []store.Filter{store.Equal("actor", "user:ada@example.com")}}, {Where: []store.Filter{store.Equal("action", "step.send")}, Order: []store.Order{{Column: "seq"}}},
	} {
		note(fmt.Sprintf("list %+v", q), func(tx store.Tx) (any, error) {
			rows, err := tx.List(store.Audit, "acme", q)
			if len(rows) == 0 || len(q.Order) == 0 && len(rows) < 300 {
				return nil, errors.Join(err, store.ErrNotFound)
			}
			return rows, err
		})
	}
	for i := range 12 {
		q := store.Query{Where: []store.Filter{store.Equal("subject", fmt.Sprint("run/", i))}}
		note(fmt.Sprint("list run/", i), func(tx store.Tx) (any, error) { return tx.List(store.Audit, "acme", q) })
		note(fmt.Sprint("count run/", i), func(tx store.Tx) (any, error) { return tx.Count(store.Audit, "acme", q) })
	}
	note("subjects", func(tx store.Tx) (any, error) { return tx.Distinct(store.Audit, "acme", "subject") })
	return answers
}

// TestARecordThatWasChangedInItsPackIsNamed: the pack has the sum of what was made of it.
func TestARecordThatWasChangedInItsPackIsNamed(t *testing.T) {
	for name, edit := range map[string]func(row *store.Row){
		"its text":    func(row *store.Row) { row.Doc = bytes.Replace(row.Doc, []byte(`"done"`), []byte(`"dine"`), 1) },
		"its time":    func(row *store.Row) { row.Keys[1] = int64(1) },
		"its actor":   func(row *store.Row) { row.Keys[2] = "user:eve@example.com" },
		"its action":  func(row *store.Row) { row.Keys[3] = "step.fail" },
		"its subject": func(row *store.Row) { row.Keys[4] = "run/99" },
	} {
		t.Run(name, func(t *testing.T) {
			dir := packedLog(t, 200)
			inDatabase(t, dir, func(db *sql.DB) { repack(t, db, pack.Most, func(rows []store.Row) { edit(&rows[9]) }) })
			s := mustOpen(t, dir)
			mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
				v, err := audit.Verify(tx, "acme")
				if err != nil || v.Intact || *v.FirstBroken != pack.Most+9 {
					t.Errorf("%+v, %v", v, err)
				}
				return err
			}))
		})
	}
}

// repack changes the records of a pack, with the sum and the postings that they come to.
func repack(t *testing.T, db *sql.DB, first int64, change func(rows []store.Row)) {
	t.Helper()
	var n int
	var sum int64
	var content []byte
	mustDo(t, db.QueryRow("SELECT n, sum, content FROM audit_packs WHERE first = ?", first).Scan(&n, &sum, &content))
	p, err := pack.Open("acme", first, n, content, sum)
	mustDo(t, err)
	rows := p.Rows()
	change(rows)
	content, sum = new(pack.Packer).Pack("acme", rows)
	run(t, db, "UPDATE audit_packs SET sum = ?, content = ? WHERE first = ?", sum, content, first)
	run(t, db, "DELETE FROM audit_postings WHERE first = ?", first)
	for _, p := range pack.Postings(rows) {
		run(t, db, "INSERT INTO audit_postings VALUES ('acme', ?, ?, ?, ?)", p.Column+1, p.Value, first, p.Places.Places())
	}
}

// TestALogWhoseLastPackIsDamagedGoesOn: the next records are in another pack.
func TestALogWhoseLastPackIsDamagedGoesOn(t *testing.T) {
	dir := packedLog(t, 10)
	inDatabase(t, dir, func(db *sql.DB) {
		editContent(t, db, 0, func(c []byte) []byte { c[len(c)/2] ^= 1; return c })
	})
	s, err := open(context.Background(), dir, plain)
	mustDo(t, err)
	for range 3 {
		mustDo(t, s.Update(context.Background(), audited("new", "models.change")))
	}
	mustDo(t, s.Close())
	s = mustOpen(t, dir)
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		v, err := audit.Verify(tx, "acme")
		if err != nil || v.Intact || v.Records != 13 || *v.FirstBroken != 0 {
			t.Errorf("%+v, %v", v, err)
		}
		for seq := range int64(13) {
			if _, err := tx.Get(store.Audit, "acme", pack.ID(seq)); errors.Is(err, store.ErrDamaged) != (seq < 10) {
				t.Errorf("record %d: %v", seq, err)
			}
		}
		return nil
	}))
}

// TestADamagedPackLetsAnUpdateGoOn: that a record is damaged is an answer like that there is
// none, and doesn't end the transaction.
func TestADamagedPackLetsAnUpdateGoOn(t *testing.T) {
	dir := packedLog(t, 10)
	inDatabase(t, dir, func(db *sql.DB) { run(t, db, "UPDATE audit_packs SET sum = sum + 1") })
	s := mustOpen(t, dir)
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
		if _, err := tx.Get(store.Audit, "acme", pack.ID(3)); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("a damaged record: %v", err)
		}
		return set("new", 10)(tx)
	}))
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		_, err := tx.Get(store.Tenants, "acme", "new")
		return err
	}))
}
