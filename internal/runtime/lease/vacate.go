package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Viewer is a store that is looked at.
type Viewer interface {
	View(ctx context.Context, fn func(store.Tx) error) error
}

// looks is how many times between two renewals a beat is looked at.
const looks = 8

// Beating watches the processes that have a record until all of them have raised
// their beat, or the time is over, and tells those that have from those that stood
// still. Longer than Every is enough to see one that is well, Length to know one
// that is dead.
func Beating(ctx context.Context, v Viewer, length time.Duration) (alive, still []records.Replica, err error) {
	until := time.Now().Add(length)
	first, err := replicas(ctx, v)
	for last := first; err == nil; last, err = replicas(ctx, v) {
		alive, still = nil, nil
		for _, r := range last {
			if slices.Contains(first, r) {
				still = append(still, r)
			} else {
				alive = append(alive, r)
			}
		}
		if len(still) == 0 || !time.Now().Before(until) {
			return alive, still, nil
		}
		select {
		case <-time.After(Every / looks):
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	return nil, nil, err
}

// ErrAlive says that a process goes on with its work.
var ErrAlive = errors.New("a replica is alive")

// Vacate removes the records of all processes, having watched for the length of a
// lease that none of them lives, and says how many there were. A process that only
// stood still can't commit afterwards. It is for a store that nobody should use.
func Vacate(ctx context.Context, s store.Store) (gone int, err error) {
	gone, vacate, err := Vacant(ctx, s)
	if err != nil || gone == 0 {
		return 0, err
	}
	return gone, s.Update(ctx, vacate)
}

// Vacant watches as Vacate does, and gives what removes the records, for a transaction that
// does something else that no process may live to see.
func Vacant(ctx context.Context, v Viewer) (gone int, vacate func(store.Tx) error, err error) {
	alive, still, err := Beating(ctx, v, Length)
	if err == nil && len(alive) > 0 {
		err = fmt.Errorf("%w: %s", ErrAlive, alive[0].ID)
	}
	if err != nil {
		return 0, nil, err
	}
	looked := time.Now()
	return len(still), func(tx store.Tx) error {
		if len(still) > 0 && time.Since(looked) > maxBlink { // nobody could write: that beats stood still says nothing
			return fmt.Errorf("%w: writes had to wait, and beats with them; try again", store.ErrUnavailable)
		}
		return remove(tx, still)
	}, nil
}

// remove deletes these records, if they are all and as they were.
func remove(tx store.Tx, still []records.Replica) error {
	list, err := records.AllReplicas(tx)
	for _, r := range list {
		if !slices.Contains(still, r) {
			return fmt.Errorf("%w: %s", ErrAlive, r.ID)
		}
		err = errors.Join(err, records.Replicas.Delete(tx, store.Realm, records.ReplicaID(r.ID)))
	}
	return err
}

func replicas(ctx context.Context, v Viewer) (list []records.Replica, err error) {
	err = v.View(ctx, func(tx store.Tx) (err error) {
		list, err = records.AllReplicas(tx)
		return err
	})
	return list, err
}
