package main

import (
	"errors"
	"sync"
	"time"
)

// contender is a system that does the canonical workload: runs of sequential POSTs to the
// receiver.
type contender interface {
	name() string
	// drive keeps conc runs in progress for d.
	drive(conc int, d time.Duration) (result, error)
	// roots returns the ids of its top processes, none if it runs in this process.
	roots() []int
	// storedBytes returns the size of its database in bytes, once its log has been moved there.
	storedBytes() (int64, error)
	// syncs returns how many syncs are in its trace so far.
	syncs() (int, error)
	// clear ends its processes.
	clear()
}

// result has the measurements of a contender in one turn.
type result struct {
	steps        int64
	took         time.Duration
	starts, gaps []time.Duration // of each run until it was accepted; of each step but the first, from the answer before to its request
	syncs        int64           // only of ideal, which counts them itself
	usage
}

func (r result) stepsPerSecond() float64 { return float64(r.steps) / r.took.Seconds() }

// closedLoop keeps conc runs in progress for d. once does one run for a worker and returns
// how long its start took. Steps and gaps are measured at the receiver.
func closedLoop(r *receiver, conc int, d time.Duration, once func(worker int) (time.Duration, error)) (result, error) {
	var mu sync.Mutex
	var starts []time.Duration
	var failed error
	res, err := r.witness(func() error {
		end := time.Now().Add(d)
		var wg sync.WaitGroup
		for worker := range conc {
			wg.Go(func() {
				for time.Now().Before(end) {
					start, err := once(worker)
					mu.Lock()
					starts, failed = append(starts, start), errors.Join(failed, err)
					mu.Unlock()
					if err != nil {
						return
					}
				}
			})
		}
		wg.Wait()
		return failed
	})
	res.starts = starts
	return res, err
}

// witness calls work and returns the steps and gaps that the receiver measured meanwhile.
func (r *receiver) witness(work func() error) (res result, err error) {
	before, begin := r.calls.Load(), time.Now()
	err = work()
	res.steps, res.took = r.calls.Load()-before, time.Since(begin)
	r.runs.Range(func(id, v any) bool {
		res.gaps = append(res.gaps, v.(*progress).gaps...)
		r.runs.Delete(id)
		return true
	})
	return res, err
}
