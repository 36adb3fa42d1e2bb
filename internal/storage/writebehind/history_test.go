package writebehind_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/writebehind"
	"github.com/countersign/countersign/internal/testing/memory"
)

var (
	histories   = flag.Int("histories", 0, "how many histories are played; 0: 200, or 40 with -short")
	historySeed = flag.Uint64("history-seed", 0, "of the first of them; 0: another one each time")
)

// TestHistories plays drawn histories of batches, Views that stay open, layers that are
// frozen and written, writes that fail, and crashes. Every answer is that of the store in
// memory as of the same commit.
func TestHistories(t *testing.T) {
	first, n := *historySeed, *histories
	if first == 0 {
		first = rand.Uint64()
	}
	switch {
	case n > 0:
	case testing.Short():
		n = 40
	default:
		n = 200
	}
	for i := range n {
		seed := first + uint64(i)
		t.Run(fmt.Sprintf("-history-seed %d", seed), func(t *testing.T) {
			t.Parallel()
			newHistory(t, seed).play()
		})
	}
}

// history is one that is being played.
type history struct {
	t         *testing.T
	r         *rand.Rand
	reference *memory.Store
	*engine
	written int64 // the number of the last commit in the database
	views   []*view
	ids     int // that rise
}

func newHistory(t *testing.T, seed uint64) *history {
	return &history{t: t, r: rand.New(rand.NewPCG(seed, 7)), reference: memory.New(), engine: newEngine(seed)}
}

func (h *history) play() {
	h.t.Helper()
	for range 300 {
		h.step()
		if h.t.Failed() {
			break
		}
	}
	h.endViews()
	h.wantSame()
}

func (h *history) step() {
	switch h.r.IntN(16) {
	case 0, 1, 2, 3, 4:
		h.commit()
	case 5:
		if h.frozen == nil {
			h.frozen = h.layers.Freeze()
		}
	case 6:
		h.writeLayer()
	case 7, 8:
		if len(h.views) < 4 {
			h.views = append(h.views, h.begin())
		}
	case 9:
		if len(h.views) > 0 {
			h.end(h.r.IntN(len(h.views)))
		}
	case 10:
		if h.r.IntN(8) == 0 {
			h.crash()
		}
	default:
		if len(h.views) > 0 {
			h.look(h.views[h.r.IntN(len(h.views))])
		}
	}
}

// commit runs a batch of a few functions, each also in the store in memory. Some batches
// are not committed: their frame did not become durable.
func (h *history) commit() {
	before := begun(h.reference)
	defer before.Close()
	b := h.writer.Begin()
	defer b.End()
	for range 1 + h.r.IntN(3) {
		h.function(b)
	}
	if b.Empty() {
		return
	}
	if h.r.IntN(10) == 0 {
		h.reference = copied(h.t, before)
		return
	}
	frame, number := b.Frame(nil)
	if want := h.written + int64(len(h.frames)) + 1; number != want {
		h.t.Fatalf("the commit has the number %d, want %d", number, want)
	}
	h.frames = append(h.frames, frame)
	b.Committed()
}

var errRegretted = errors.New("the function thought better of it")

// function is one of a batch. It may fail after some of its writes.
func (h *history) function(b *writebehind.Batch) {
	var regret error
	if h.r.IntN(4) == 0 {
		regret = errRegretted
	}
	_, broken := b.Run(func(tx store.Tx) error {
		return h.reference.Update(context.Background(), func(same store.Tx) error {
			for range 1 + h.r.IntN(4) {
				h.compare("batch", h.operation(), tx, same)
			}
			return regret
		})
	})
	if broken != nil {
		h.t.Fatalf("a function of a batch: %v", broken)
	}
}

// compare performs an operation in both stores.
func (h *history) compare(where string, o operation, tx, reference store.Tx) {
	got, want := o.do(tx), o.do(reference)
	if got != want {
		h.t.Errorf("%s: %s\ngot  %s\nwant %s", where, o.name, got, want)
	}
}

// writeLayer writes the frozen layer to the database. Some commits of that fail.
func (h *history) writeLayer() {
	if h.frozen == nil {
		return
	}
	if h.r.IntN(5) == 0 {
		if err := h.frozen.Written(func() error { return errRegretted }); !errors.Is(err, errRegretted) {
			h.t.Fatalf("the failed commit of a layer: %v", err)
		}
		return
	}
	last := h.frozen.Last()
	h.write()
	h.frames, h.written = h.frames[last-h.written:], last
}

// crash leaves the database and the frames that it lacks.
func (h *history) crash() {
	h.endViews()
	e := newEngine(h.r.Uint64())
	e.database, e.layers = h.database, writebehind.New(h.written)
	e.writer = e.layers.NewWriter(e.borrow)
	for _, frame := range h.frames {
		e.frames = append(e.frames, frame)
		if err := e.writer.Recover(frame, historyTable); err != nil {
			h.t.Fatalf("Recover: %v", err)
		}
	}
	h.engine = e
	if got, want := e.layers.Commit(), h.written+int64(len(h.frames)); got != want {
		h.t.Fatalf("after the crash the last commit is %d, want %d", got, want)
	}
	h.wantSame()
}

// wantSame compares all rows.
func (h *history) wantSame() {
	v := h.begin()
	defer v.stop(h.t)
	for _, table := range historyTables {
		for _, tenant := range historyTenants {
			h.ask(v, list(table, tenant, store.Query{}))
		}
		h.ask(v, tenants(table))
	}
}

// view is a View that stays open and does what it is asked.
type view struct {
	ask       chan operation
	answers   chan string
	begun     chan struct{} // receives when the function begins
	ended     chan error
	reference base
}

func (h *history) begin() *view {
	v := &view{ask: make(chan operation), answers: make(chan string), begun: make(chan struct{}), ended: make(chan error)}
	layers, borrow := h.layers, h.borrow
	go func() {
		v.ended <- layers.View(borrow, func(tx store.Tx) error {
			v.begun <- struct{}{}
			for o := range v.ask {
				answer := o.do(tx)
				if v.answers <- answer; isOvertaken(answer) {
					return nil // whatever a function makes of it
				}
			}
			return nil
		})
	}()
	<-v.begun
	v.reference = begun(h.reference)
	return v
}

func isOvertaken(answer string) bool { return strings.Contains(answer, "overtaken") }

func (h *history) look(v *view) { h.ask(v, h.reading()) }

// ask asks a View. It may run again, once, and then shows what is committed now.
func (h *history) ask(v *view, o operation) {
	v.ask <- o
	got := <-v.answers
	if isOvertaken(got) {
		<-v.begun
		v.reference.Close()
		v.reference = begun(h.reference)
		v.ask <- o
		got = <-v.answers
	}
	if want := o.do(v.reference); got != want {
		h.t.Errorf("View: %s\ngot  %s\nwant %s", o.name, got, want)
	}
}

func (h *history) end(i int) {
	h.views[i].stop(h.t)
	h.views = slices.Delete(h.views, i, i+1)
}

func (h *history) endViews() {
	for len(h.views) > 0 {
		h.end(0)
	}
}

func (v *view) stop(t *testing.T) {
	close(v.ask)
	if err := <-v.ended; err != nil {
		t.Errorf("View: %v", err)
	}
	v.reference.Close()
}

// begun is a snapshot of a store in memory.
func begun(s *memory.Store) base {
	b, _ := reader{s}.Begin()
	return b.(base)
}

// copied is a store in memory with the rows of a snapshot.
func copied(t *testing.T, from base) *memory.Store {
	to := memory.New()
	err := to.Update(context.Background(), func(tx store.Tx) error {
		for _, table := range historyTables {
			for _, tenant := range historyTenants {
				rows, err := from.List(table, tenant, store.Query{})
				if err != nil {
					return err
				}
				for _, row := range rows {
					if err := tx.(store.Whole).Load(table, tenant, row); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// The rows of a history are in a table with columns and in one without. There are few ids
// and values, so that drawn operations often concern the same row.
var (
	ranked = &store.Table{Name: "ranked", Columns: []store.Column{{Name: "kind"}, {Name: "rank", Integer: true}}}
	simple = &store.Table{Name: "simple"}

	historyTables  = []*store.Table{ranked, simple}
	historyTenants = []string{"acme", "zoo"}
	historyIDs     = []string{"a", "b", "c", "d", "e", "f"}
	historyKinds   = []string{"", "high", "low"}
)

func historyTable(name string) *store.Table {
	for _, t := range historyTables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// operation describes its answer in comparable form.
type operation struct {
	name string
	do   func(store.Tx) string
}

func (h *history) operation() operation {
	switch h.r.IntN(8) {
	case 0, 1, 2, 3:
		return h.putting()
	case 4:
		return h.deleting()
	default:
		return h.reading()
	}
}

func drawn[T any](h *history, from []T) T { return from[h.r.IntN(len(from))] }

// place draws a row: one of few, or one whose id is above all others.
func (h *history) place() (table *store.Table, tenant, id string) {
	table, tenant, id = drawn(h, historyTables), drawn(h, historyTenants), drawn(h, historyIDs)
	if h.r.IntN(4) == 0 {
		id = fmt.Sprintf("x%04d", h.ids-h.r.IntN(3))
		h.ids++
	}
	return table, tenant, id
}

// sizes of documents: the largest are not cached.
var sizes = []int{0, 1, 10, 100, 100, 100, 3000, 70_000}

func (h *history) putting() operation {
	table, tenant, id := h.place()
	row := store.Row{ID: id, Doc: []byte(strings.Repeat(string(rune('a'+h.r.IntN(26))), drawn(h, sizes)))}
	if table == ranked {
		row.Keys = []any{drawn(h, historyKinds), int64(h.r.IntN(5) - 2)}
	}
	off := drawn(h, []int64{0, 0, 0, 0, 1, -1})
	return operation{fmt.Sprintf("put %s %s %s %v off by %d", table.Name, tenant, id, row.Keys, off), func(tx store.Tx) string {
		was, _ := tx.Get(table, tenant, id) // the zero row if there is none
		return fmt.Sprint(was.Version, meaning(tx.Put(table, tenant, row, was.Version+off)))
	}}
}

func (h *history) deleting() operation {
	table, tenant, id := h.place()
	return operation{fmt.Sprintf("delete %s %s %s", table.Name, tenant, id), func(tx store.Tx) string {
		return meaning(tx.Delete(table, tenant, id))
	}}
}

func (h *history) reading() operation {
	table, tenant, id := h.place()
	switch h.r.IntN(8) {
	case 0, 1:
		return operation{fmt.Sprintf("get %s %s %s", table.Name, tenant, id), func(tx store.Tx) string {
			row, err := tx.Get(table, tenant, id)
			return shown(row) + meaning(err)
		}}
	case 2, 3:
		q := h.query(table)
		return operation{fmt.Sprintf("count %s %s %+v", table.Name, tenant, q), func(tx store.Tx) string {
			n, err := tx.Count(table, tenant, q)
			return fmt.Sprint(n, meaning(err))
		}}
	case 4:
		column := "id"
		if table == ranked && h.r.IntN(3) > 0 {
			column = "kind"
		}
		return operation{fmt.Sprintf("distinct %s %s %s", table.Name, tenant, column), func(tx store.Tx) string {
			values, err := tx.Distinct(table, tenant, column)
			return fmt.Sprintf("%q", values) + meaning(err)
		}}
	case 5:
		return tenants(table)
	default:
		return list(table, tenant, h.query(table))
	}
}

func tenants(table *store.Table) operation {
	return operation{"tenants " + table.Name, func(tx store.Tx) string {
		found, err := tx.(store.Whole).Tenants(table)
		return fmt.Sprintf("%q", found) + meaning(err)
	}}
}

func list(table *store.Table, tenant string, q store.Query) operation {
	return operation{fmt.Sprintf("list %s %s %+v", table.Name, tenant, q), func(tx store.Tx) string {
		rows, err := tx.List(table, tenant, q)
		var b strings.Builder
		for _, row := range rows {
			b.WriteString(shown(row))
		}
		return b.String() + meaning(err)
	}}
}

func (h *history) query(table *store.Table) store.Query {
	q := store.Query{Limit: h.r.IntN(5), Offset: h.r.IntN(4)}
	columns := append([]store.Column{{Name: "id"}}, table.Columns...)
	for range h.r.IntN(3) {
		q.Where = append(q.Where, h.filter(drawn(h, columns)))
	}
	for range h.r.IntN(3) {
		q.Order = append(q.Order, store.Order{Column: drawn(h, columns).Name, Descending: h.r.IntN(2) == 0})
	}
	return q
}

func (h *history) filter(c store.Column) store.Filter {
	f := store.Filter{Column: c.Name, Op: drawn(h, []store.Op{store.In, store.AtLeast, store.AtMost})}
	values := 1
	if f.Op == store.In {
		values = h.r.IntN(3)
	}
	for range values {
		switch {
		case c.Integer:
			f.Values = append(f.Values, int64(h.r.IntN(5)-2))
		case c.Name == "id":
			f.Values = append(f.Values, drawn(h, historyIDs))
		default:
			f.Values = append(f.Values, drawn(h, historyKinds))
		}
	}
	return f
}

func shown(row store.Row) string {
	return fmt.Sprintf("[%s %d %v %d:%08x]", row.ID, row.Version, row.Keys, len(row.Doc), crc32.ChecksumIEEE(row.Doc))
}

func meaning(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, store.ErrNotFound):
		return " not found"
	case errors.Is(err, store.ErrConflict):
		return " conflict"
	default:
		return " " + err.Error()
	}
}
