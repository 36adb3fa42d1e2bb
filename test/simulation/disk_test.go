package simulation

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
)

// fault is what happens to a commit.
type fault string

const (
	diskFull   fault = "disk full"                             // refused; goes on until the disk is mended
	dieBefore  fault = "killed before the commit"              // nothing of it is there
	dieAfter   fault = "killed after the commit"               // all of it is there, and nobody was told
	syncLost   fault = "sync failed, and the bytes were lost"  // the store is poisoned
	syncKept   fault = "sync failed, but the bytes were there" // the store is poisoned
	unreadable fault = "read error"                            // of one look
	noFault    fault = ""
)

// disk is what outlives a process: the committed rows, and what its next commits
// meet.
type disk struct {
	rows    store.Store
	reserve bool // outcomes have space on a full disk

	mu      sync.Mutex
	next    fault
	in      int // commits until then
	commits int
	full    time.Time // when a commit was refused last for want of space
}

// plan lets the commit that comes n commits from now fail.
func (d *disk) plan(f fault, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next, d.in = f, n
}

func (d *disk) mend() { d.plan(noFault, 0) }

// meet is what this commit meets. A full disk stays full; the rest happens once.
func (d *disk) meet() fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.commits++
	if d.next == noFault || d.next == unreadable {
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

// lastFull is when a commit was refused last for want of space.
func (d *disk) lastFull() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.full
}

// meetRead is what this look meets.
func (d *disk) meetRead() fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.next != unreadable {
		return noFault
	}
	if d.in > 0 {
		d.in--
		return noFault
	}
	d.next = noFault
	return unreadable
}

// session is the disk as one process has it open. When the process dies, nothing
// more reaches the disk through it.
type session struct {
	disk *disk
	dead chan struct{}
	once sync.Once
}

func (d *disk) open() *session { return &session{disk: d, dead: make(chan struct{})} }

// die ends the process at this instant.
func (s *session) die() { s.once.Do(func() { close(s.dead) }) }

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
	if s.isDead() || s.disk.meetRead() == unreadable {
		return store.ErrUnavailable
	}
	return s.disk.rows.View(ctx, fn)
}

// Update implements store.Store.
func (s *session) Update(ctx context.Context, fn func(store.Tx) error) error {
	if s.isDead() {
		return store.ErrUnavailable
	}
	f := s.disk.meet()
	if f == diskFull && s.disk.reserve && store.IsUrgent(ctx) {
		f = noFault
	}
	keep := f == noFault || f == dieAfter || f == syncKept
	err := s.disk.rows.Update(ctx, func(tx store.Tx) error {
		if s.isDead() { // it died while this one waited for its turn
			return errDiscard
		}
		if err := fn(tx); err != nil {
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
	if f != noFault || errors.Is(err, errDiscard) {
		return store.ErrUnavailable
	}
	return err
}

// Failed implements store.Store: a process whose store is poisoned ends.
func (s *session) Failed() <-chan struct{} { return s.dead }

// Full implements store.Store.
func (s *session) Full() bool { return false }

// Close implements store.Store.
func (s *session) Close() error { return nil }
