package main

import (
	"errors"
	"sync"
	"time"
)

// contender does the canonical workload: runs of sequential POSTs to the receiver.
type contender interface {
	name() string
	// drive keeps conc runs going for d.
	drive(conc int, d time.Duration) (result, error)
	// roots are its processes, none where it has none of its own.
	roots() []int
	// settled is how many bytes it keeps, when all is where it stays.
	settled() (int64, error)
	// syncs are those that a trace has seen since its beginning.
	syncs() (int, error)
	// clear leaves nothing running.
	clear()
}

// result is what was seen of a contender while it was driven.
type result struct {
	steps        int64
	took         time.Duration
	starts, gaps []time.Duration // of each run until it was accepted; from an answer to the run's next request
	syncs        int64           // of the ideal
	usage
}

func (x result) stepsPerSecond() float64 { return float64(x.steps) / x.took.Seconds() }

// closedLoop keeps conc runs going for d: once does one, on behalf of a worker, and
// says how long its start took. Steps and gaps are what the receiver saw.
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

// witness gives what the receiver sees while work goes on.
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
