package sqlite

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

// change is what one Update does.
type change func(store.Tx) error

// play is one performance of a scenario, with one fault.
type play struct {
	t        *testing.T
	scenario scenario
	fault    fault
	dir      string
	disk     *disk
	store    *Store     // nil while it is closed, or was refused
	failed   int        // calls, before it was open
	poisoned bool       // it was, also if it is closed by now
	answered []answered // Updates that were decided on, in their order
	doubt    []change   // those of the commit that poisoned the store

	reference *reference // what was answered; nil before it is asked for first
}

type answered struct {
	change change
	err    error // the function's own
}

// ready ends what a scenario only prepares: from here on the disk may fail.
func (p *play) ready() {
	synctest.Wait()
	p.disk.fail(p.fault)
}

// open opens the store, which may be refused because of the fault alone.
func (p *play) open() {
	p.t.Helper()
	settings, passed := p.scenario.settings, p.faultPassed()
	settings.vfs = faultyVFS
	p.disk.endProcess(p.t) // of the one before
	s, err := open(context.Background(), p.dir, settings)
	p.failed = p.disk.failures()
	switch {
	case err == nil:
		p.store = s
	case !p.disk.hasFired(), passed:
		p.fatalf("Open: %v", err)
	case strings.Contains(err.Error(), "\n"):
		p.fatalf("Open was refused with more than a line: %v", err)
	case strings.Contains(err.Error(), "not an error"):
		p.fatalf("Open doesn't say what failed: %v", err)
	case strings.Contains(err.Error(), "damaged"):
		p.fatalf("Open takes a store that is whole for a damaged one: %v", err)
	case p.disk.syncsAfterTheFailedOne() > 0:
		p.fatalf("Open synced again after a sync had failed")
	}
}

// faultPassed says that nothing fails any more.
func (p *play) faultPassed() bool { return p.disk.hasFired() && !p.fault.sticky }

// update does one Update and looks at what it has come to.
func (p *play) update(c change) {
	p.t.Helper()
	if p.store == nil {
		return
	}
	passed, poisoned := p.faultPassed(), isFailed(p.store)
	err := p.store.Update(context.Background(), c)
	if passed && !poisoned && errors.Is(err, store.ErrUnavailable) {
		p.fatalf("an Update after the fault: %v", err)
	}
	if err != nil && strings.Contains(err.Error(), "not an error") {
		p.fatalf("an Update doesn't say what failed: %v", err)
	}
	p.note(c, err, poisoned)
	p.check()
}

// fill does one Update before anything may fail.
func (p *play) fill(c change) {
	p.t.Helper()
	mustDo(p.t, p.store.Update(context.Background(), c))
	synctest.Wait() // its rows are in their tables
	p.answered = append(p.answered, answered{change: c})
}

// note keeps what an Update came to. What is refused as unavailable is not there, and only the
// commit that poisons a store is in doubt.
func (p *play) note(c change, err error, poisoned bool) {
	p.t.Helper()
	switch {
	case errors.Is(err, store.ErrInDoubt) && isFailed(p.store) && !poisoned:
		p.doubt = append(p.doubt, c)
	case errors.Is(err, store.ErrInDoubt):
		p.fatalf("an Update is in doubt, poisoned %t: %v", poisoned, err)
	case !errors.Is(err, store.ErrUnavailable):
		p.answered = append(p.answered, answered{c, err})
	}
}

// batch does Updates that share a commit: while the first has the turn, the others come
// to wait for it, one after the other.
func (p *play) batch(changes ...change) {
	p.t.Helper()
	if p.store == nil {
		return
	}
	poisoned, errs := isFailed(p.store), make([]error, len(changes))
	var turns []int // whose turn came, in order
	update := func(i int, c change) {
		errs[i] = p.store.Update(context.Background(), func(tx store.Tx) error {
			turns = append(turns, i)
			return c(tx)
		})
	}
	var all sync.WaitGroup
	update(0, func(tx store.Tx) error {
		for i, c := range changes[1:] {
			all.Go(func() { update(i+1, c) })
			synctest.Wait() // they come in order, so that each trial makes the same calls
		}
		return changes[0](tx)
	})
	all.Wait()
	for _, i := range turns {
		p.note(changes[i], errs[i], poisoned)
	}
	p.check()
}

// check compares what the store shows with what it has answered.
func (p *play) check() {
	p.t.Helper()
	synctest.Wait()
	got, err := p.contents(p.store)
	if p.mayFailToRead(err) {
		return
	}
	if err != nil {
		p.fatalf("View: %v", err)
	}
	p.wantSame(got, p.expected())
	p.wantPoisonedByDoubtAlone()
}

// mayFailToRead: only faults in reading keep anybody from reading.
func (p *play) mayFailToRead(err error) bool {
	return errors.Is(err, store.ErrUnavailable) && p.disk.hasFired() && p.fault.on&(reads|opens|maps) != 0
}

// wantPoisonedByDoubtAlone: a failed sync poisons, and what leaves no doubt about
// a commit doesn't.
func (p *play) wantPoisonedByDoubtAlone() {
	p.t.Helper()
	p.poisoned = p.poisoned || isFailed(p.store)
	switch {
	case p.poisoned && p.fault.on&(syncs|maps) == 0:
		p.fatalf("the store is poisoned")
	case !p.poisoned && p.fault.on == syncs && p.disk.failures() > p.failed:
		p.fatalf("a sync failed and the store isn't poisoned")
	}
}

// expected is what the store holds after all that was answered, and these.
func (p *play) expected(more ...change) string {
	p.t.Helper()
	r := p.reference
	if r == nil || len(more) > 0 {
		r = &reference{Store: memory.New()}
		for _, c := range p.scenario.before {
			mustDo(p.t, r.Update(context.Background(), c))
		}
	}
	for ; r.answered < len(p.answered); r.answered++ {
		a := p.answered[r.answered]
		if err := r.Update(context.Background(), a.change); a.err != nil && err == nil {
			p.fatalf("an Update came to %v, and to %v in memory", a.err, err)
		}
	}
	if len(more) == 0 {
		p.reference = r
	}
	for _, c := range more {
		_ = r.Update(context.Background(), c)
	}
	text, err := p.contents(r)
	mustDo(p.t, err)
	return text
}

// reference is a store in memory that so many Updates of a play were made in.
type reference struct {
	store.Store
	answered int
}

// contents is every row of a store, in short.
func (p *play) contents(s store.Store) (string, error) {
	var b strings.Builder
	err := s.View(context.Background(), func(tx store.Tx) error {
		for _, table := range append([]*store.Table{store.Tenants}, p.scenario.tables...) {
			rows, err := tx.List(table, "acme", store.Query{})
			if err != nil {
				return err
			}
			for _, row := range rows {
				fmt.Fprintf(&b, "%s %s, version %d, %v, %d bytes %08x\n", table.Name, row.ID, row.Version, row.Keys, len(row.Doc), crc32.ChecksumIEEE(row.Doc))
			}
		}
		if p.scenario.law == nil {
			return nil
		}
		return p.scenario.law(tx)
	})
	return b.String(), err
}

func (p *play) wantSame(got, want string) {
	p.t.Helper()
	if got != want {
		p.fatalf("got + instead of want -:\n%s", cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
	}
}

func (p *play) fatalf(format string, args ...any) {
	p.t.Helper()
	p.t.Fatalf("fault %+v: %s%s", p.fault, fmt.Sprintf(format, args...), p.disk.ownFailures())
}

// drop gives back what a trial that failed has left open.
func (p *play) drop() {
	if p.store != nil {
		_ = p.store.Close()
	}
}
