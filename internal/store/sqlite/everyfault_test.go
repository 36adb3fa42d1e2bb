package sqlite

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	lib "modernc.org/sqlite/lib"

	"github.com/countersign/countersign/internal/store"
)

var every = flag.Bool("every", false, "fail every call to the disk and end each trial in every way, not a sample")

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

// faults are the ways in which a call fails.
var faults = []struct {
	name string
	fault
}{
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
	for _, f := range faults {
		if calls[f.on] == 0 || s.only != 0 && f.on&s.only == 0 {
			continue
		}
		for _, f.sticky = range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, sticky %t", f.name, f.sticky), func(t *testing.T) {
				s.failInTurn(t, made, f.fault, calls[f.on])
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
func (s scenario) failInTurn(t *testing.T, made string, f fault, calls int) {
	t.Helper()
	turns := s.sample(calls, f.sticky)
	for _, f.nth = range turns {
		if fired, _ := s.try(t, made, f); !fired {
			t.Fatalf("call %d of %d was not reached", f.nth, calls)
		}
	}
	for f.nth = calls + 1; *every; f.nth++ {
		if fired, _ := s.try(t, made, f); !fired {
			break
		}
	}
	t.Logf("%d of %d calls were failed", len(turns), calls)
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
	s, err := open(t.Context(), dir, plain)
	mustDo(t, err)
	for _, c := range before {
		mustDo(t, s.Update(t.Context(), c))
	}
	mustClose(t, s)
}

var plain = settings{checkpointPages: 1000, readers: 1}

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
	entries, err := os.ReadDir(from)
	mustDo(t, err)
	for _, e := range entries {
		if e.Name() == reserveFile || e.Name() == lockFile {
			continue
		}
		content, err := os.ReadFile(filepath.Join(from, e.Name()))
		mustDo(t, err)
		mustDo(t, os.WriteFile(filepath.Join(to, e.Name()), content, 0o600))
	}
}
