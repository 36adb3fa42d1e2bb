// Package lease says which of several processes on one store are alive, so that
// the runs of one that died are taken over, and that one which only stood still
// neither commits nor sends afterwards.
//
// Each process keeps a record whose beat it raises. Who sees a beat unchanged for
// the length of a lease, by its own clock, removes the record: the process is
// fenced, for every commit of it looks for the record first. No two machines'
// clocks are ever compared. A process itself counts from before it raised its
// beat, and sends only well within that time.
package lease

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// The times of a lease. A process that can't raise its beat stops sending at
// Length - Margin and is fenced at Length after it was last seen alive.
const (
	Length = 10 * time.Second
	Margin = 4 * time.Second
	Every  = 2 * time.Second
)

// ErrLost is the end of a process's right to act: another one has taken over.
var ErrLost = errors.New("lease: this process was taken for dead; others have taken over its runs")

// Keeper keeps the lease of this process.
type Keeper struct {
	store store.Store
	id    string

	mu     sync.Mutex
	until  time.Time     // until then may be sent
	raised time.Time     // when the last beat was raised, or before
	fresh  chan struct{} // closed and replaced by each renewal
	lost   chan struct{}
	seen   map[string]sighting // of the others
	looked time.Time           // when they were looked at last
}

// sighting is a beat and when it was first seen, by our clock.
type sighting struct {
	beat int64
	at   time.Time
}

// Join makes the record of a new process of that version. Its id must be new.
func Join(ctx context.Context, s store.Store, id, version string) (*Keeper, error) {
	k := &Keeper{store: s, id: id, fresh: make(chan struct{}), lost: make(chan struct{}), seen: map[string]sighting{}}
	began := time.Now()
	err := s.Update(ctx, func(tx store.Tx) error {
		_, err := records.Replicas.Put(tx, store.Realm, records.ReplicaID(id), &records.Replica{ID: id, Version: version}, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	k.renewed(began)
	return k, nil
}

// ID names the process.
func (k *Keeper) ID() string { return k.id }

// Lost is closed when the lease is lost for good: the process must end.
func (k *Keeper) Lost() <-chan struct{} { return k.lost }

// Check is nil while this process is not fenced. It is asked in every transaction
// that drives a run.
func (k *Keeper) Check(tx store.Tx) error {
	_, _, err := records.Replicas.Get(tx, store.Realm, records.ReplicaID(k.id))
	if errors.Is(err, store.ErrNotFound) {
		return ErrLost
	}
	return err
}

// Renew raises the beat. Whoever runs the process calls it at each Every.
func (k *Keeper) Renew(ctx context.Context) error {
	began := time.Now()
	err := k.store.Update(ctx, func(tx store.Tx) error {
		r, version, err := records.Replicas.Get(tx, store.Realm, records.ReplicaID(k.id))
		if errors.Is(err, store.ErrNotFound) {
			return ErrLost
		}
		if err != nil {
			return err
		}
		r.Beat++
		_, err = records.Replicas.Put(tx, store.Realm, records.ReplicaID(k.id), r, version)
		return err
	})
	switch {
	case errors.Is(err, ErrLost):
		k.lose()
	case err == nil:
		k.renewed(began)
	}
	return err
}

func (k *Keeper) renewed(began time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.until, k.raised = began.Add(Length-Margin), began
	close(k.fresh)
	k.fresh = make(chan struct{})
}

func (k *Keeper) lose() {
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-k.lost:
	default:
		close(k.lost)
	}
}

// Hold waits until the lease is good and gives until when something may be sent.
func (k *Keeper) Hold(ctx context.Context) (until time.Time, err error) {
	for {
		k.mu.Lock()
		until, fresh := k.until, k.fresh
		k.mu.Unlock()
		if now := time.Now(); before(now, now, until) {
			return until, nil
		}
		select {
		case <-fresh:
		case <-k.lost:
			return time.Time{}, ErrLost
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		}
	}
}

// before compares by the monotonic clock and by the wall clock: the first stands
// still while a machine sleeps or is moved, the second may be set back.
func before(now, wall, until time.Time) bool {
	return now.Before(until) && wall.Round(0).Before(until.Round(0))
}

// Leave removes the record, so that the others take over at once what is left.
func (k *Keeper) Leave(ctx context.Context) error {
	return k.store.Update(ctx, func(tx store.Tx) error {
		return records.Replicas.Delete(tx, store.Realm, records.ReplicaID(k.id))
	})
}
