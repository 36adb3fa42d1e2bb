package sqlite

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/countersign/countersign/internal/storage/pack"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

var logSeed = flag.Uint64("log-seed", 0, "of the first drawn log; 0: another one each time")

// TestLogsAgreeWithMemory draws logs: records that are appended a few or many at a time, some
// of them large, and sometimes what no log gets: gaps, records that are put again, deleted,
// loaded with another version, or whose id says no number. Whenever some of them are in packs,
// some in the table and some in no table yet, every answer is that of the store in memory.
func TestLogsAgreeWithMemory(t *testing.T) {
	first := drawnSeed(*logSeed)
	for i := range fewer(12, 4) {
		seed := first + uint64(i)
		t.Run(fmt.Sprintf("-log-seed %d", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 3))
			s, err := open(context.Background(), emptyStore(t), awaiting([]int{1, 1, 30_000, 300_000}[r.IntN(4)]))
			mustDo(t, err)
			defer func() { mustClose(t, s) }()
			l := &drawnLog{t: t, r: r, stores: []store.Store{memory.New(), s}, next: map[string]int64{}}
			for range 40 {
				l.change()
				l.ask()
			}
		})
	}
}

// drawnLog does the same in two stores, the first of which is the reference.
type drawnLog struct {
	t      *testing.T
	r      *rand.Rand
	stores []store.Store
	next   map[string]int64 // sequence number of each tenant
	gone   *goneRecord      // that was deleted last
	trace  []string         // what was changed
}

type goneRecord struct {
	tenant string
	seq    int64
}

var logTenants = []string{"acme", "acme", "acme", "globex", store.Realm}

func (l *drawnLog) change() {
	l.t.Helper()
	tenant := logTenants[l.r.IntN(len(logTenants))]
	var change func(tx store.Tx) error
	switch l.r.IntN(10) {
	case 0, 1, 2:
		change = l.oddity(tenant)
	case 3, 4:
		change = l.appends(tenant, 1+l.r.IntN(400))
	default:
		change = l.appends(tenant, 1+l.r.IntN(9))
	}
	var errs []string
	for _, s := range l.stores {
		errs = append(errs, fmt.Sprint(s.Update(context.Background(), change)))
	}
	if errs[0] != "<nil>" || errs[1] != "<nil>" {
		l.t.Fatalf("Update: %v", errs)
	}
}

func (l *drawnLog) appends(tenant string, n int) func(tx store.Tx) error {
	var rows []store.Row
	for range n {
		rows = append(rows, l.record(l.next[tenant]))
		l.next[tenant]++
	}
	l.trace = append(l.trace, fmt.Sprintf("%q: append %d up to %d", tenant, n, l.next[tenant]-1))
	return func(tx store.Tx) error {
		for _, row := range rows {
			if err := tx.Put(store.Audit, tenant, row, 0); err != nil {
				return err
			}
		}
		return nil
	}
}

// record is a record with columns of which some are frequent and some rare.
func (l *drawnLog) record(seq int64) store.Row {
	size := []int{0, 100, 400, 400, 400, 400}[l.r.IntN(6)]
	if l.r.IntN(300) == 0 {
		size = 20_000 // in no pack
	}
	at := 1_000_000*seq + l.r.Int64N(5_000_000)
	return store.Row{ID: pack.ID(seq), Doc: fmt.Appendf(nil, `{"seq":%d,"salt":%d,"fill":%q}`, seq, l.r.Uint64(), strings.Repeat("x", size)), Keys: []any{
		seq, at, drawnOf(l, logActors), drawnOf(l, logActions), fmt.Sprint("run/", seq/20+l.r.Int64N(4)),
	}}
}

func drawnOf[T any](l *drawnLog, from []T) T { return from[l.r.IntN(len(from))] }

var (
	logActors  = []string{"system", "system", "system", "system", "user:ada", "token:t-1", "é"}
	logActions = []string{"step.send", "step.send", "step.complete", "run.complete", "", "plans.create"}
)

// oddity changes the log in a way that no log is changed.
func (l *drawnLog) oddity(tenant string) func(tx store.Tx) error {
	seq := l.r.Int64N(l.next[tenant] + 1)
	if l.r.IntN(2) == 0 { // near the end
		seq = max(0, l.next[tenant]-l.r.Int64N(3))
	}
	if l.gone != nil && l.r.IntN(2) == 0 {
		tenant, seq = l.gone.tenant, l.gone.seq
	}
	row := l.record(seq)
	switch l.r.IntN(7) {
	case 0:
		l.next[tenant] += 1 + l.r.Int64N(3) // a gap
		return func(store.Tx) error { return nil }
	case 1:
		row.ID += "x"
	case 2:
		row.Keys[0] = int64(l.r.IntN(100) - 10)
	case 3:
		row.ID, row.Keys[0] = "-"+fmt.Sprint(seq), -seq
	case 4, 5:
		l.gone = &goneRecord{tenant, seq}
		l.trace = append(l.trace, fmt.Sprintf("%q: delete %d", tenant, seq))
		return func(tx store.Tx) error { return tx.Delete(store.Audit, tenant, row.ID) }
	default:
		if l.r.IntN(2) == 0 {
			row.ID, row.Keys[0], row.Version = pack.ID(l.next[tenant]), l.next[tenant], 3
			l.next[tenant]++
			return func(tx store.Tx) error { return tx.(store.Whole).Load(store.Audit, tenant, row) }
		}
	}
	if seq == l.next[tenant] && row.ID == pack.ID(seq) {
		l.next[tenant]++
	}
	l.trace = append(l.trace, fmt.Sprintf("%q: put %s %v", tenant, row.ID, row.Keys))
	return func(tx store.Tx) error {
		was, err := tx.Get(store.Audit, tenant, row.ID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return tx.Put(store.Audit, tenant, row, was.Version)
	}
}

func (l *drawnLog) ask() {
	l.t.Helper()
	for range 20 {
		name, ask := l.question(drawnOf(l, logTenants))
		var answers []any
		for _, s := range l.stores {
			mustDo(l.t, s.View(context.Background(), func(tx store.Tx) error {
				answer, err := ask(tx)
				answers = append(answers, answer)
				if errors.Is(err, store.ErrNotFound) {
					return nil
				}
				return err
			}))
		}
		if want, got := fmt.Sprint(answers[0]), fmt.Sprint(answers[1]); got != want {
			l.t.Fatalf("%s: the store (+) and memory (-) disagree:\n%s\n%s", name, strings.Join(l.trace, "\n"), cmp.Diff(answers[0], answers[1], cmpopts.EquateEmpty()))
		}
	}
}

func (l *drawnLog) question(tenant string) (name string, ask func(tx store.Tx) (any, error)) {
	q := l.query(tenant)
	switch l.r.IntN(8) {
	case 0:
		id := pack.ID(l.r.Int64N(l.next[tenant] + 2))
		return "get " + id, func(tx store.Tx) (any, error) { return tx.Get(store.Audit, tenant, id) }
	case 1, 2:
		return fmt.Sprintf("count %q %+v", tenant, q), func(tx store.Tx) (any, error) { return tx.Count(store.Audit, tenant, q) }
	case 3:
		column := drawnOf(l, []string{"id", "actor", "action", "subject"})
		return "distinct " + column, func(tx store.Tx) (any, error) { return tx.Distinct(store.Audit, tenant, column) }
	case 4:
		return "tenants", func(tx store.Tx) (any, error) { return tx.(store.Whole).Tenants(store.Audit) }
	}
	return fmt.Sprintf("list %q %+v", tenant, q), func(tx store.Tx) (any, error) { return tx.List(store.Audit, tenant, q) }
}

func (l *drawnLog) query(tenant string) store.Query {
	q := store.Query{Limit: l.r.IntN(40), Offset: drawnOf(l, []int{0, 0, 1, l.r.IntN(20), l.r.IntN(1000)})}
	for range drawnOf(l, []int{0, 1, 1, 1, 2, 3}) {
		q.Where = append(q.Where, l.filter(tenant))
	}
	for range drawnOf(l, []int{0, 1, 1, 1, 2}) {
		column := drawnOf(l, []string{"id", "seq", "id", "seq", "id", "seq", "at", "subject"})
		q.Order = append(q.Order, store.Order{Column: column, Descending: l.r.IntN(2) == 0})
	}
	return q
}

func (l *drawnLog) filter(tenant string) store.Filter {
	column := drawnOf(l, []string{"id", "seq", "at", "actor", "action", "subject"})
	f, values := store.Filter{Column: column, Op: drawnOf(l, []store.Op{store.In, store.AtLeast, store.AtMost})}, 1
	if l.r.IntN(4) > 0 && column != "id" && column != "seq" && column != "at" {
		f.Op = store.In
	}
	if f.Op == store.In {
		values = drawnOf(l, []int{0, 1, 1, 1, 1, 1, 1, 2, 3})
	}
	for range values {
		row := l.record(l.r.Int64N(l.next[tenant] + 2))
		f.Values = append(f.Values, map[string]any{
			"id": row.ID + drawnOf(l, []string{"", "", "x"}), "seq": row.Keys[0], "at": row.Keys[1], "actor": row.Keys[2], "action": row.Keys[3], "subject": row.Keys[4],
		}[column])
	}
	return f
}

// TestARecordOfTheTableWithTheNumberOfOneInAPackHasItsPlace: nobody writes such a record but
// who tampers, and pages must not differ for it.
func TestARecordOfTheTableWithTheNumberOfOneInAPackHasItsPlace(t *testing.T) {
	s := mustOpen(t, packedLog(t, pack.Most+2))
	reference := memory.New()
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		rows, err := tx.List(store.Audit, "acme", store.Query{})
		mustDo(t, err)
		return reference.Update(context.Background(), func(tx store.Tx) error {
			for _, row := range rows {
				mustDo(t, tx.Put(store.Audit, "acme", row, 0))
			}
			return nil
		})
	}))
	l := &drawnLog{t: t, r: rand.New(rand.NewPCG(1, 1)), stores: []store.Store{reference, s}}
	for _, seq := range []int64{0, 50, pack.Most - 1, pack.Most} {
		row := l.record(seq)
		row.ID += "x"
		for _, each := range l.stores {
			mustDo(t, each.Update(context.Background(), func(tx store.Tx) error { return tx.Put(store.Audit, "acme", row, 0) }))
		}
	}
	mustDo(t, s.Close())
	l.stores[1] = mustOpen(t, s.dir.path)
	for offset := range pack.Most + 8 {
		for _, o := range []store.Order{{Column: "seq"}, {Column: "seq", Descending: true}, {Column: "id"}, {Column: "id", Descending: true}} {
			var pages []string
			for _, each := range l.stores {
				mustDo(t, each.View(context.Background(), func(tx store.Tx) error {
					rows, err := tx.List(store.Audit, "acme", store.Query{Order: []store.Order{o}, Offset: offset, Limit: 3})
					pages = append(pages, fmt.Sprint(rows))
					return err
				}))
			}
			if pages[0] != pages[1] {
				t.Fatalf("from %d by %+v:\n%s\nwant\n%s", offset, o, pages[1], pages[0])
			}
		}
	}
}

// TestTotalsByTwoColumnsWhereOneValueFillsAPack: of full packs and of one that isn't full,
// whichever of the two columns has the one value, and within times.
func TestTotalsByTwoColumnsWhereOneValueFillsAPack(t *testing.T) {
	const records = 3*pack.Most + 40
	dir, rows := emptyStore(t), []store.Row(nil)
	for seq := range int64(records) {
		actor, action := "ada", fmt.Sprint("action ", seq%3)
		if seq >= pack.Most { // the first pack has one actor, the others have one action
			actor, action = fmt.Sprint("actor ", seq%5), "action 0"
		}
		rows = append(rows, store.Row{ID: pack.ID(seq), Doc: []byte("{}"), Keys: []any{seq, seq / 10, actor, action, "run/1"}})
	}
	s, reference := mustOpen(t, dir), memory.New()
	for _, each := range []store.Store{s, reference} {
		mustDo(t, each.Update(context.Background(), func(tx store.Tx) error {
			for _, row := range rows {
				mustDo(t, tx.Put(store.Audit, "acme", row, 0))
			}
			return nil
		}))
	}
	mustClose(t, s)
	s = mustOpen(t, dir)
	defer func() { mustClose(t, s) }()
	for _, actor := range []string{"ada", "actor 0", "actor 4", "nobody"} {
		for _, action := range []string{"action 0", "action 1", "nothing"} {
			for _, until := range []int64{4, 20, records} {
				q := store.Query{Where: []store.Filter{store.Equal("actor", actor), store.Equal("action", action), {Column: "at", Op: store.AtMost, Values: []any{until}}}}
				if until == records {
					q.Where = q.Where[:2]
				}
				got, want := 0, 0
				mustDo(t, s.View(context.Background(), func(tx store.Tx) (err error) { got, err = tx.Count(store.Audit, "acme", q); return err }))
				mustDo(t, reference.View(context.Background(), func(tx store.Tx) (err error) { want, err = tx.Count(store.Audit, "acme", q); return err }))
				if got != want {
					t.Errorf("%s, %s, until %d: %d of %d", actor, action, until, got, want)
				}
			}
		}
	}
}
