package runs

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

func TestWhatManySeeIsWrittenOnce(t *testing.T) {
	const viewers, revisions = 200, 10
	var views Views
	var writes atomic.Int64
	var here, gone sync.WaitGroup
	here.Add(viewers)
	k := viewKey{run: "run-1"}
	for range viewers {
		gone.Go(func() {
			v := views.join(k)
			defer views.leave(k)
			here.Done()
			here.Wait()
			for revision := range int64(revisions) {
				w, err := v.at(revision+1, func() (renderedRun, error) {
					writes.Add(1)
					return renderedRun{revision: revision + 1, list: []piece{{"a", strconv.FormatInt(revision, 10)}}}, nil
				})
				if err != nil || w.revision <= revision {
					t.Errorf("revision %d, %v, asked for %d", w.revision, err, revision+1)
				}
			}
		})
	}
	gone.Wait()
	if writes.Load() != revisions || len(views.views) != 0 {
		t.Errorf("written %d times, %d views left", writes.Load(), len(views.views))
	}
}
