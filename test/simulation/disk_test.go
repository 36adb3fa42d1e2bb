package simulation

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// fault is a fault at a commit.
type fault string

const (
	diskFull  fault = "disk full"                             // refused; lasts until the disk is repaired
	dieBefore fault = "killed before the commit"              // nothing of it is stored
	dieAfter  fault = "killed after the commit"               // all of it is stored, but nobody got an answer
	syncLost  fault = "sync failed, and the bytes were lost"  // the store refuses further use
	syncKept  fault = "sync failed, but the bytes were there" // the store refuses further use
	readError fault = "read error"                            // of one View
	noFault   fault = ""
)

// disk is what outlives a process: the committed rows, and the planned faults.
type disk struct {
	rows    store.Store
	reserve bool // outcomes can be stored on a full disk
	poison  poison

	mu      sync.Mutex
	next    fault
	in      int // commits until the fault
	commits int
	full    time.Time // when the disk last refused a commit because it was full
}

// plan makes the nth commit from now fail.
func (d *disk) plan(f fault, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next, d.in = f, n
}

func (d *disk) mend() { d.plan(noFault, 0) }

// meet is the fault of this commit. A full disk stays full; other faults happen once.
func (d *disk) meet() fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.commits++
	if d.next == noFault || d.next == readError {
		return noFault
	}
	if d.in > 0 {
		d.in--
		return noFault
	}
	f := d.next
	if f == diskFull {
		d.full = time.Now()
	} else {
		d.next = noFault
	}
	return f
}

// lastFull is when the disk last refused a commit because it was full.
func (d *disk) lastFull() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.full
}

// meetRead is the fault of this View.
func (d *disk) meetRead() fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.next != readError {
		return noFault
	}
	if d.in > 0 {
		d.in--
		return noFault
	}
	d.next = noFault
	return readError
}

// session is the disk as opened by one process. After the process has died, nothing reaches the disk through it.
type session struct {
	disk *disk
	rows store.Store
	dead chan struct{}
	once sync.Once

	mu     sync.Mutex
	cut    time.Time // until then it doesn't reach the store
	wasCut time.Time // when it last was cut off
}

func (d *disk) open() *session { return d.through(d.rows) }

// through is the disk as opened by a process with a store of its own.
func (d *disk) through(rows store.Store) *session {
	return &session{disk: d, rows: rows, dead: make(chan struct{})}
}

// die ends the process at once.
func (s *session) die() { s.once.Do(func() { close(s.dead) }) }

// cutFor cuts the process off from the store for a while; 0 ends that.
func (s *session) cutFor(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d > 0 {
		s.wasCut = time.Now().Add(d)
	}
	s.cut = time.Now().Add(d)
}

func (s *session) isCut() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Before(s.cut)
}

// reached reports that the process has lived and reached the store since then.
func (s *session) reached(since time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.isDead() && s.wasCut.Before(since)
}

func (s *session) isDead() bool {
	select {
	case <-s.dead:
		return true
	default:
		return false
	}
}

var errDiscard = errors.New("simulation: the commit did not happen")

// View implements store.Store.
func (s *session) View(ctx context.Context, fn func(store.Tx) error) error {
	if s.isDead() || s.isCut() || s.disk.meetRead() == readError {
		return store.ErrUnavailable
	}
	return s.rows.View(ctx, fn)
}

// Update implements store.Store.
func (s *session) Update(ctx context.Context, fn func(store.Tx) error) error {
	if s.isDead() || s.isCut() {
		return store.ErrUnavailable
	}
	f := s.disk.meet()
	if f == diskFull && s.disk.reserve && store.IsUrgent(ctx) {
		f = noFault
	}
	keep := f == noFault || f == dieAfter || f == syncKept
	err := s.rows.Update(ctx, func(tx store.Tx) error {
		if s.isDead() { // the process died while this Update waited
			return errDiscard
		}
		if err := fn(poisoned{tx, &s.disk.poison}); err != nil {
			return err
		}
		if !keep {
			return errDiscard
		}
		return nil
	})
	if f != noFault && f != diskFull {
		s.die()
	}
	switch {
	case f != noFault && f != diskFull: // also of a process that was killed: nobody knows
		return store.ErrInDoubt
	case f != noFault || errors.Is(err, errDiscard):
		return store.ErrUnavailable
	}
	return err
}

// Failed implements store.Store: a process whose store failed ends.
func (s *session) Failed() <-chan struct{} { return s.dead }

// Full implements store.Store.
func (s *session) Full() bool { return false }

// Close implements store.Store.
func (s *session) Close() error { return nil }
