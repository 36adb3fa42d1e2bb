package audit

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

// auditor verifies a log and counts what that reads.
type auditor struct {
	Verifier
	t     *testing.T
	store store.Store
	now   time.Time
	mu    sync.Mutex
	spans []int // records that each span read
	after func(span int)
}

func audits(t *testing.T, s store.Store) *auditor { return &auditor{t: t, store: s, now: morning} }

// counted is a snapshot that counts records.
type counted struct {
	store.Tx
	rows *int
}

func (c counted) List(t *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	rows, err := c.Tx.List(t, tenant, q)
	*c.rows += len(rows)
	return rows, err
}

func (a *auditor) read(ctx context.Context, fn func(tx store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	rows := 0
	err := a.store.View(ctx, func(tx store.Tx) error { return fn(counted{tx, &rows}) })
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spans = append(a.spans, rows)
	if a.after != nil {
		a.after(len(a.spans))
	}
	return err
}

func (a *auditor) verify(ctx context.Context) (countersign.AuditVerification, error) {
	return a.Verify(ctx, tenant, func() time.Time { return a.now }, a.read)
}

// finds wants a verdict, and that many records read for it.
func (a *auditor) finds(what string, intact bool, size int64, read int) {
	a.t.Helper()
	a.spans = nil
	v, err := a.verify(context.Background())
	if err != nil || v.Intact != intact || v.Records != size || v.Intact == (v.FirstBroken != nil) {
		a.t.Errorf("%s: %+v, %v", what, v, err)
	}
	rows := 0
	for _, n := range a.spans {
		if rows += n; n > verifyBatch {
			a.t.Errorf("%s: a span of %d records", what, n)
		}
	}
	if rows != read {
		a.t.Errorf("%s: %d records were read, not %d", what, rows, read)
	}
}

func (a *auditor) append(from, to int) {
	for ; from < to; from++ {
		update(a.t, a.store, func(tx store.Tx) error { return Append(tx, tenant, []countersign.AuditRecord{record(from)}) })
	}
}

// TestALogIsVerifiedInSpans of bounded size, and what was computed stands for a minute.
func TestALogIsVerifiedInSpans(t *testing.T) {
	const n = 2*verifyBatch + 30
	a := audits(t, journal(t, n))
	a.finds("at first", true, n, n)
	if len(a.spans) != 3 {
		t.Errorf("%d spans", len(a.spans))
	}
	a.now = a.now.Add(keptFor / 2)
	a.finds("again within a minute", true, n, 0)
	a.append(n, n+5)
	a.finds("five more", true, n+5, 5)
	a.now = a.now.Add(keptFor / 2)
	a.finds("after a minute, whoever asked meanwhile", true, n+5, n+5)
	a.now = a.now.Add(-2 * keptFor)
	a.finds("the clock was set back", true, n+5, n+5)
}

// TestALogThatIsTamperedWithBetweenTwoVerifications is found broken within a minute, and
// at once where it shows at the end of the log.
func TestALogThatIsTamperedWithBetweenTwoVerifications(t *testing.T) {
	const n = verifyBatch + 30
	a := audits(t, journal(t, n))
	a.finds("at first", true, n, n)
	update(t, a.store, func(tx store.Tx) error {
		tampering{t, tx}.edit(7, "run/r-", "run/x-")
		return nil
	})
	a.now = a.now.Add(keptFor)
	a.finds("an old record", false, n, verifyBatch)
	a.finds("it stays so", false, n, verifyBatch)

	a = audits(t, journal(t, n))
	a.finds("at first", true, n, n)
	update(t, a.store, func(tx store.Tx) error { // appended behind the service's back
		m := tampering{t, tx}
		row := m.row(n - 1)
		row.ID = recordID(n)
		m.put(row)
		return nil
	})
	a.finds("one too many", false, n, 1+n+1)
}

// TestAStoreThatWasPutBackIsVerifiedAnew: what was computed leads to another tree.
func TestAStoreThatWasPutBackIsVerifiedAnew(t *testing.T) {
	a := audits(t, journal(t, 40))
	a.finds("at first", true, 40, 40)
	a.store = journal(t, 30)
	a.finds("an earlier one", true, 30, 30)
	a.store = memory.New()
	update(t, a.store, func(tx store.Tx) error {
		for i := range 50 {
			if err := Append(tx, tenant, []countersign.AuditRecord{record(i + 1)}); err != nil {
				return err
			}
		}
		return nil
	})
	a.finds("another one, longer", true, 50, 20+50)
}

// TestAVerificationThatIsGivenUpIsGoneOnWith: a log that takes longer than anybody waits
// is verified all the same.
func TestAVerificationThatIsGivenUpIsGoneOnWith(t *testing.T) {
	const n = 3*verifyBatch + 1
	a := audits(t, journal(t, n))
	ctx, leave := context.WithCancel(context.Background())
	a.after = func(span int) {
		if span == 2 {
			leave()
		}
	}
	if _, err := a.verify(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	a.finds("the rest", true, n, n-2*verifyBatch)
	a.finds("again", true, n, 0)
}

// TestRecordsAppendedBetweenSpansAreVerifiedToo.
func TestRecordsAppendedBetweenSpansAreVerifiedToo(t *testing.T) {
	const n = verifyBatch
	a := audits(t, journal(t, n))
	a.after = func(span int) {
		if span == 1 {
			a.append(n, n+3)
		}
	}
	a.finds("appended meanwhile", true, n+3, n+3)
}

// TestVerificationsAtOnceReadALogOnce.
func TestVerificationsAtOnceReadALogOnce(t *testing.T) {
	const n = 2*verifyBatch + 1
	a := audits(t, journal(t, n))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if v, err := a.verify(context.Background()); err != nil || !v.Intact || v.Records != n {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
	all.Wait()
	rows := 0
	for _, r := range a.spans {
		rows += r
	}
	if rows != n {
		t.Errorf("%d records were read", rows)
	}
}
