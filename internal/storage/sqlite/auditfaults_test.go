package sqlite

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/store"
)

// audited is a change of a model with its audit record, in one Update, as every
// use case makes it.
func audited(model, action string) change {
	return func(tx store.Tx) error {
		row, err := tx.Get(store.Tenants, "acme", model)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		doc := store.Row{ID: model, Doc: fmt.Appendf(nil, `{"revision":%d}`, row.Version+1)}
		if err := tx.Put(store.Tenants, "acme", doc, row.Version); err != nil {
			return err
		}
		return audit.Append(tx, "acme", []countersign.AuditRecord{record(action, "model/"+model)})
	}
}

func record(action, subject string) countersign.AuditRecord {
	return countersign.AuditRecord{
		At: time.Unix(1_700_000_000, 0).UTC(), Actor: "user:ada@example.com", Action: action, Subject: subject,
		Outcome: countersign.AuditDone, Reason: "for the test",
	}
}

// audits are n audited changes of three models in turn.
func audits(n int) (changes []change) {
	for i := range n {
		changes = append(changes, audited(fmt.Sprint("model-", i%3), fmt.Sprintf("models.change-%02d", i)))
	}
	return changes
}

// changeAndRecordAreOne: each version of a model has its record, each record its
// version, and the log verifies.
func changeAndRecordAreOne(tx store.Tx) error {
	v, err := audit.Verify(tx, "acme")
	if err != nil {
		return err
	}
	models, err := tx.List(store.Tenants, "acme", store.Query{Where: []store.Filter{{Column: "id", Op: store.AtLeast, Values: []any{"model-"}}, {Column: "id", Op: store.AtMost, Values: []any{"model-~"}}}})
	if err != nil {
		return err
	}
	versions := int64(0)
	for _, row := range models {
		versions += row.Version
		n, err := tx.Count(store.Audit, "acme", store.Query{Where: []store.Filter{store.Equal("subject", "model/"+row.ID)}})
		if err != nil {
			return err
		}
		if int64(n) != row.Version {
			return fmt.Errorf("%s is at version %d and has %d audit records", row.ID, row.Version, n)
		}
	}
	if !v.Intact || v.Records != versions {
		return fmt.Errorf("%d changes; the audit log: %+v", versions, v)
	}
	return nil
}

// TestAChangeWhoseAuditRecordCannotBeWrittenIsNotMade fails exactly the write of the
// stretch that holds the record, with the entries of the indexes that name it; also
// so that half of it arrives.
func TestAChangeWhoseAuditRecordCannotBeWrittenIsNotMade(t *testing.T) {
	for name, code := range map[string]int32{"write error": lib.SQLITE_IOERR_WRITE, "disk full": lib.SQLITE_FULL} {
		for _, short := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, by half: %v", name, short), func(t *testing.T) {
				if !failRecord(t, fault{on: writes, nth: 1, code: code, short: short, holding: "models.change-now"}) {
					t.Error("the record was never written")
				}
			})
		}
	}
}

func failRecord(t *testing.T, f fault) (fired bool) {
	t.Helper()
	s, d := mustOpenFaulty(t, 1000)
	for _, c := range audits(7) {
		mustDo(t, s.Update(context.Background(), c))
	}
	d.fail(f)
	err := s.Update(context.Background(), audited("model-1", "models.change-now"))
	if fired = d.hasFired(); fired != errors.Is(err, store.ErrUnavailable) || !fired && err != nil {
		t.Fatalf("fault %+v: %v", f, err)
	}
	d.mend()
	mustDo(t, s.View(context.Background(), changeAndRecordAreOne))
	mustDo(t, s.Update(context.Background(), audited("model-1", "models.change-later")))
	mustDo(t, s.View(context.Background(), changeAndRecordAreOne))
	mustDo(t, s.Close())
	return fired
}
