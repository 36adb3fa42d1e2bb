package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
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
	s, err := open(context.Background(), dir, pausing(withCheckpoints(pages, 4), time.Minute))
	mustDo(t, err)
	defer mustClose(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	views := overlap(ctx, t, &all, s)
	largest, written := int64(0), int64(0)
	for n := 1; n <= commits; n++ {
		if !views.are() {
			t.Fatalf("no View is under way as commit %d begins", n)
		}
		mustPutPair(t, s, n)
		log := logSize(t, dir)
		largest, written = max(largest, log), written+2*frameSize
	}
	cancel()
	all.Wait()
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
	s, err := open(context.Background(), dir, pausing(withCheckpoints(pages, 2), time.Millisecond))
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

// underWay counts Views that have read, and those of them that have ended.
type underWay struct{ read, ended atomic.Int64 }

func (u *underWay) are() bool {
	ended := u.ended.Load() // first: what begins meanwhile doesn't matter
	return u.read.Load() > ended
}

// overlap has Views, each of which ends when the next one has read; the first has read.
func overlap(ctx context.Context, t *testing.T, all *sync.WaitGroup, s *Store) (views *underWay) {
	t.Helper()
	views = &underWay{}
	hasRead, begun := make(chan struct{}), make(chan struct{})
	for i := range 2 {
		first := i == 0
		all.Go(func() {
			for ctx.Err() == nil {
				err := s.View(context.Background(), func(tx store.Tx) error {
					_, err := tx.List(store.Tenants, "acme", store.Query{})
					views.read.Add(1)
					defer views.ended.Add(1)
					if first {
						close(begun)
					} else {
						relieve(ctx, hasRead)
					}
					first = false
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
	<-begun
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

func pausing(s settings, pause time.Duration) settings {
	s.startOverPause = pause
	return s
}
