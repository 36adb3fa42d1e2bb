package sqlite

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/countersign/countersign/internal/storage/store"
)

var (
	every     = flag.Bool("every", false, "fail every call to the disk and end each trial in every way, not a sample")
	faultSeed = flag.Uint64("fault-seed", 0, "of the calls that are failed with -short; 0: others each time")
)

// scenario is something that a store goes through, to be tried with each call to
// the disk failing in turn.
type scenario struct {
	name     string
	long     bool      // a single call is failed where -every isn't set
	has      operation // the kinds of calls that it consists of
	only     operation // the kinds that are tried, if not all
	settings settings
	tables   []*store.Table // beside models
	before   []change       // what the store holds
	make     func(t *testing.T, dir string, before []change)
	law      func(store.Tx) error // what holds of the rows at any time
	play     func(p *play)
}

type namedFault struct {
	name string
	fault
}

// faults are the ways in which a call fails.
var faults = []namedFault{
	{"read error", fault{on: reads}},
	{"write error", fault{on: writes}},
	{"disk full", fault{on: writes, code: lib.SQLITE_FULL}},
	{"half a write", fault{on: writes, short: true}},
	{"half a write, then full", fault{on: writes, short: true, code: lib.SQLITE_FULL}},
	{"truncate error", fault{on: truncates}},
	{"failed sync", fault{on: syncs}},
	{"failed open", fault{on: opens}},
	{"failed delete", fault{on: deletes}},
	{"failed mapping", fault{on: maps}},
}

func TestEveryFault(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(t)
		})
	}
}

// run plays the scenario once without a fault, to count its calls, and then once
// for each call of each kind that fails.
func (s scenario) run(t *testing.T) {
	made := s.prepare(t)
	_, calls := s.try(t, made, fault{})
	t.Log(summary(calls))
	for on, is := range anErrorOf {
		if (calls[on] > 0) != (s.has&on != 0) {
			t.Errorf("it has %d %s", calls[on], is.name)
		}
	}
	if testing.Short() && !*every {
		s.failDrawn(t, made, calls)
		return
	}
	for _, f := range s.possible(calls) {
		for _, f.sticky = range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, sticky %t", f.name, f.sticky), func(t *testing.T) {
				s.failInTurn(t, made, f.fault, calls)
			})
		}
	}
}

// possible are the faults that a scenario with these calls can meet.
func (s scenario) possible(calls map[operation]int) (all []namedFault) {
	for _, f := range faults {
		if calls[f.on] > 0 && (s.only == 0 || f.on&s.only != 0) {
			all = append(all, f)
		}
	}
	return all
}

// drawnFaults is how many a scenario meets with -short, beside a failed sync.
const drawnFaults = 2

// failDrawn fails a few calls of the scenario: a sync, since what follows that is the
// hardest, and others of different kinds.
func (s scenario) failDrawn(t *testing.T, made string, calls map[operation]int) {
	t.Helper()
	seeds := append(keptSeeds(t, "fault-seed", s.name), drawnSeed(*faultSeed))
	for _, seed := range seeds {
		r, drawn := rand.New(rand.NewPCG(seed, 0)), 0
		possible := s.possible(calls)
		r.Shuffle(len(possible), func(i, j int) { possible[i], possible[j] = possible[j], possible[i] })
		for _, f := range possible {
			if f.on != syncs && drawn == drawnFaults {
				continue
			}
			if f.on != syncs {
				drawn++
			}
			f.nth, f.sticky = 1+r.IntN(calls[f.on]), r.IntN(3) == 0
			t.Run(fmt.Sprintf("-fault-seed %d, %s, sticky %t", seed, f.name, f.sticky), func(t *testing.T) {
				s.mustReach(t, made, f.fault, calls)
			})
		}
	}
}

func summary(calls map[operation]int) string {
	var b strings.Builder
	for on := reads; on <= maps; on <<= 1 {
		fmt.Fprintf(&b, "%s %d, ", anErrorOf[on].name, calls[on])
	}
	return strings.TrimSuffix(b.String(), ", ")
}

// failInTurn fails one call after the other until the scenario is over before the
// fault; without -every, only some of them.
func (s scenario) failInTurn(t *testing.T, made string, f fault, calls map[operation]int) {
	t.Helper()
	turns := s.sample(calls[f.on], f.sticky)
	for _, f.nth = range turns {
		s.mustReach(t, made, f, calls)
	}
	for f.nth = calls[f.on] + 1; *every; f.nth++ {
		if fired, _ := s.try(t, made, f); !fired {
			break
		}
	}
	t.Logf("%d of %d calls were failed", len(turns), calls[f.on])
}

// mustReach plays the scenario with a fault at a call that it makes. SQLite's connections share
// the memory of their pages, also those of other scenarios, so that a play may read less than
// the one whose calls were counted: then its last call fails.
func (s scenario) mustReach(t *testing.T, made string, f fault, calls map[operation]int) {
	t.Helper()
	for {
		fired, now := s.try(t, made, f)
		if fired {
			return
		}
		if now[f.on] == 0 || now[f.on] >= f.nth {
			t.Fatalf("call %d of %d was not reached; without a fault it made %s, now %s", f.nth, calls[f.on], summary(calls), summary(now))
		}
		f.nth = now[f.on]
	}
}

// sample chooses the calls that are failed in turn: the first, the last and one
// between, or two between where all later ones fail too.
func (s scenario) sample(calls int, sticky bool) (turns []int) {
	switch {
	case *every:
		for nth := range calls {
			turns = append(turns, nth+1)
		}
	case s.long:
		turns = []int{(calls + 1) / 2}
	case sticky:
		turns = []int{1 + calls/4, 1 + 3*calls/4}
	default:
		turns = []int{1, (calls + 1) / 2, calls}
	}
	return slices.Compact(turns)
}

// prepare makes the directory that each trial gets a copy of.
func (s scenario) prepare(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if s.make == nil {
		s.make = closedStore
	}
	s.make(t, dir, s.before)
	return dir
}

// closedStore leaves a store that was closed in order.
func closedStore(t *testing.T, dir string, before []change) {
	t.Helper()
	copyStore(t, dir, emptyStore(t))
	s, err := open(t.Context(), dir, plain)
	mustDo(t, err)
	for _, c := range before {
		mustDo(t, s.Update(t.Context(), c))
	}
	mustClose(t, s)
}

var plain = withCheckpoints(1000, 1)

// withCheckpoints are settings with which each commit's rows are written to their tables at
// once, so that each trial makes the same calls.
func withCheckpoints(pages, readers int) settings {
	return settings{checkpointPages: pages, readers: readers, flushBytes: 1, mostPending: 64 << 20, flushAge: time.Hour}
}

// try plays the scenario with one fault, in a bubble that shows when the store
// has come to rest.
func (s scenario) try(t *testing.T, made string, f fault) (fired bool, calls map[operation]int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		copyStore(t, dir, made)
		p := &play{t: t, scenario: s, fault: f, dir: dir, disk: newDisk(t, dir)}
		t.Cleanup(p.drop)
		s.play(p)
		synctest.Wait()
		fired, calls = p.disk.hasFired(), p.disk.counted()
		p.end()
	})
	return fired, calls
}

// copyStore copies what a process that dies leaves, but for the reserve, which is
// big and nobody reads.
func copyStore(t *testing.T, to, from string) {
	t.Helper()
	for _, name := range left(t, from) {
		content, err := os.ReadFile(filepath.Join(from, name))
		mustDo(t, err)
		mustDo(t, os.WriteFile(filepath.Join(to, name), content, 0o600))
	}
}

// left are the files that a process leaves, but for its reserve and its lock.
func left(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	mustDo(t, err)
	for _, e := range entries {
		if e.Name() != reserveFile && e.Name() != lockFile {
			names = append(names, e.Name())
		}
	}
	return names
}
