package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/store"
)

// TestLogStartsOverWhileReadersOverlap: at each moment a View is under way that began
// before the last commit, as on a console that several people look at.
func TestLogStartsOverWhileReadersOverlap(t *testing.T) {
	t.Parallel()
	const pages = 50
	commits := 4000
	if testing.Short() {
		commits = 1000
	}
	dir := t.TempDir()
	s, err := open(context.Background(), dir, settings{checkpointPages: pages, startOverPause: time.Minute, readers: 4})
	mustDo(t, err)
	defer mustClose(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	views := overlap(ctx, t, &all, s)
	largest, written, across := int64(0), int64(0), 0
	for n := 1; n <= commits; n++ {
		before := views.oldest()
		mustPutPair(t, s, n)
		if views.stands(before) {
			across++
		}
		views.commits.Add(1)
		log := logSize(t, dir)
		largest, written = max(largest, log), written+2*frameSize
	}
	cancel()
	all.Wait()
	if across < commits/2 {
		t.Errorf("only %d of %d commits had a View under way that began before", across, commits)
	}
	if bound := int64(3 * pages * frameSize); largest > bound {
		t.Errorf("with views that overlap the log grew to %d bytes, more than %d; %d commits wrote at least %d", largest, bound, commits, written)
	}
}

// TestAViewThatStaysKeepsNobodyFromWriting, and what the log grew by meanwhile goes
// when the log starts over.
func TestAViewThatStaysKeepsNobodyFromWriting(t *testing.T) {
	t.Parallel()
	const pages = 20
	dir := t.TempDir()
	s, err := open(context.Background(), dir, settings{checkpointPages: pages, startOverPause: time.Millisecond, readers: 2})
	mustDo(t, err)
	defer mustClose(t, s)
	mustPutPair(t, s, 1)
	mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
		for n := 2; n <= 200; n++ { // the View has read when the first of them begins
			if _, err := tx.List(store.Tenants, "acme", store.Query{}); err != nil {
				return err
			}
			mustPutPair(t, s, n)
		}
		return nil
	}))
	held := logSize(t, dir)
	for n := 201; n <= 400; n++ {
		mustPutPair(t, s, n)
	}
	bound := int64(4 * pages * frameSize)
	if after := logSize(t, dir); held <= bound || after > bound {
		t.Errorf("the log had %d bytes beside a View that stayed, and %d without it; the bound is %d", held, after, bound)
	}
	wantPair(t, s, 400)
}

// underWay are the Views that have read and not ended. They end in the order in which
// they began, each after a commit since it has read; or after so many reads, since
// writing may pause for the Views to end.
type underWay struct{ read, ended, commits atomic.Int64 }

const mostReads = 200

// oldest is the number of the View that ends next; 0: none is under way.
func (u *underWay) oldest() int64 {
	if ended := u.ended.Load(); u.read.Load() > ended {
		return ended + 1
	}
	return 0
}

// stands reports that a View of that number has not ended.
func (u *underWay) stands(view int64) bool { return view > 0 && u.ended.Load() < view }

// stay reads on until there is a commit.
func (u *underWay) stay(tx store.Tx) (err error) {
	for n, began := 0, u.commits.Load(); err == nil && n < mostReads && u.commits.Load() == began; n++ {
		_, err = tx.List(store.Tenants, "acme", store.Query{})
	}
	return err
}

// overlap has Views, each of which ends when the next one has read.
func overlap(ctx context.Context, t *testing.T, all *sync.WaitGroup, s *Store) (views *underWay) {
	t.Helper()
	views = &underWay{}
	hasRead := make(chan struct{})
	for i := range 2 {
		first := i == 0
		all.Go(func() {
			for ctx.Err() == nil {
				err := s.View(context.Background(), func(tx store.Tx) error {
					_, err := tx.List(store.Tenants, "acme", store.Query{})
					views.read.Add(1)
					defer views.ended.Add(1)
					if !first {
						relieve(ctx, hasRead)
					}
					first = false
					err = errors.Join(err, views.stay(tx))
					select {
					case <-hasRead:
					case <-ctx.Done():
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	return views
}

// relieve lets the View end that began before.
func relieve(ctx context.Context, hasRead chan<- struct{}) {
	select {
	case hasRead <- struct{}{}:
	case <-ctx.Done():
	}
}

func logSize(t *testing.T, dir string) int64 {
	t.Helper()
	log, err := os.Stat(filepath.Join(dir, databaseFile+"-wal"))
	mustDo(t, err)
	return log.Size()
}
