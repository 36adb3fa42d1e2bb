package batches

import (
	"errors"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/turns"
)

// Draft runs functions on cached rows while the engine waits for its turn to write. A batch
// that has the turn takes over what a function has made if it would make the same now: if all
// rows and counts that it has seen are as it saw them. Otherwise the function runs again, as
// if there had been no draft.
//
// A Draft asks the database nothing: a function that needs more than what is cached is undone.
// What all writers change with each batch, such as a log's head, a function leaves to
// store.AtTurn.
type Draft struct {
	batch *Batch
	made  map[*turns.Request]*drafted
}

// drafted is what a function has seen and made.
type drafted struct {
	seen   map[place]seen // before the function wrote there
	counts map[string]int
	writes []written
	begun  time.Time
	atTurn []func(tx store.Tx, waited time.Duration) error
}

// seen is a row, or that it isn't cached: a guarded row is written without having been read.
type seen struct {
	entry
	known bool
}

// written is a row as the function left it.
type written struct {
	place
	entry
	isNew bool // that there was none is taken for granted
}

// errNotCached ends a function of a Draft that needs the database.
var errNotCached = errors.New("batches: what the function asks for is not cached")

// NewDraft begins a draft. Until its last function has ended nobody else may use the cache.
func NewDraft(conn *sqldoc.Conn, cache *Cache) *Draft {
	return &Draft{batch: New(conn, nil, cache, false), made: map[*turns.Request]*drafted{}}
}

// Run runs a request's function in the draft.
func (d *Draft) Run(r *turns.Request) {
	made := &drafted{seen: map[place]seen{}, counts: map[string]int{}, begun: time.Now()}
	t := &Tx{direct: *d.batch.conn.Begin(false), batch: d.batch, offline: true, draft: made}
	if !r.Call(t) {
		return
	}
	t.End()
	switch {
	case t.Err() != nil:
		d.batch.undo(t)
		return
	case r.Err() != nil: // by what it has seen
		d.batch.undo(t)
		made.atTurn = nil
	default:
		made.writes = d.batch.writtenBy(t)
	}
	d.made[r] = made
}

// writtenBy lists the rows that a function has changed, in the order of their first changes.
func (b *Batch) writtenBy(t *Tx) (rows []written) {
	listed := map[place]bool{}
	for _, u := range t.undo {
		if !listed[u.place] {
			listed[u.place] = true
			rows = append(rows, written{u.place, b.known[u.place], u.was.assumed})
		}
	}
	return rows
}

// TakeOver makes in the batch what the request's function made in the draft. It reports false,
// and changes nothing, if the function must run: it might make something else now.
func (b *Batch) TakeOver(d *Draft, r *turns.Request) bool {
	made, ok := d.made[r]
	if !ok || !b.isAsSeen(made) {
		return false
	}
	b.asks(made)
	t := &Tx{direct: *b.conn.Begin(false), batch: b, offline: true}
	defer t.End()
	for _, w := range made.writes {
		b.rewrite(t, w)
	}
	for _, fn := range made.atTurn {
		if fn(t, time.Since(made.begun)) != nil || t.Err() != nil {
			b.undo(t)
			return false
		}
	}
	return true
}

// isAsSeen reports that the function would see now what it saw.
func (b *Batch) isAsSeen(made *drafted) bool {
	for p, was := range made.seen {
		if is, known := b.peek(p); !was.same(is, known) {
			return false
		}
	}
	for key, n := range made.counts {
		if is, known := b.tallies[key]; !known || is.n != n {
			return false
		}
	}
	return true
}

// same compares the content and not only the version: an earlier function of the batch may
// have written something else this time.
func (s *seen) same(is entry, known bool) bool {
	switch {
	case s.assumed:
		return !known || is.version == 0
	case !s.known || !known:
		return s.known == known
	}
	return is.version == s.version && is.doc == s.doc && slices.Equal(is.keys, s.keys)
}

// asks marks what a function has seen as asked for, as it would be if the function had run.
func (b *Batch) asks(made *drafted) {
	for p, s := range made.seen {
		if e, known := b.peek(p); known && s.asked {
			e.asked, e.idle = true, 0
			b.known[p] = e
		}
	}
	for key := range made.counts {
		b.tallied(key)
	}
}

// rewrite changes a row to what the function made of it.
func (b *Batch) rewrite(t *Tx, w written) {
	is := w.entry
	was, known := b.peek(w.place)
	switch {
	case known:
		is.stored, is.columns, is.asked, is.guessed = was.stored, was.columns, was.asked || w.asked, was.guessed && w.version != 0
	case w.isNew:
		was, known, is.guessed = entry{assumed: true}, true, true
	}
	b.unproven = b.unproven || is.version == 0 && (was.guessed || was.assumed)
	is.dirty = is.version != 0 || is.stored != 0
	_ = b.change(t, w.place, was, known, is) // it fails only in a savepoint
}

// saw notes a row as it was before the function wrote to it.
func (t *Tx) saw(p place, e entry, known bool) {
	if t.draft == nil {
		return
	}
	if _, before := t.draft.seen[p]; !before {
		t.draft.seen[p] = seen{e, known}
	}
}

// sawCount notes a count. One that the function has itself changed can't be compared.
func (t *Tx) sawCount(table *store.Table, key string, n int) error {
	if t.draft == nil {
		return nil
	}
	if slices.ContainsFunc(t.undo, func(u undo) bool { return u.table == table }) {
		return t.notCached()
	}
	t.draft.counts[key] = n
	return nil
}

func (t *Tx) notCached() error { return t.fail(errNotCached) }

// AtTurn implements store.Turner.
func (t *Tx) AtTurn(fn func(tx store.Tx, waited time.Duration) error) bool {
	if t.draft == nil || t.direct.Usable() != nil {
		return false
	}
	t.draft.atTurn = append(t.draft.atTurn, fn)
	return true
}
