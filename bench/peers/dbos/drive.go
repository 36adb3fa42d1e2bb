package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

var (
	process = rand.Text()[:8] // prefix of workflow ids, so that no id of an earlier process is used again
	made    atomic.Int64
)

// drive keeps conc workflows in progress for d, and returns how long their starts took.
func drive(ctx dbos.Context, conc int, d time.Duration) ([]time.Duration, error) {
	var mu sync.Mutex
	var starts []time.Duration
	var failed error
	end := time.Now().Add(d)
	var wg sync.WaitGroup
	for range conc {
		wg.Go(func() {
			for time.Now().Before(end) {
				took, err := once(ctx)
				mu.Lock()
				starts, failed = append(starts, took), errors.Join(failed, err)
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return starts, failed
}

// once starts a workflow and waits until it has ended. It returns how long the start took.
func once(ctx dbos.Context) (start time.Duration, err error) {
	id := fmt.Sprintf("%s-%d", process, made.Add(1))
	begin := time.Now()
	handle, err := dbos.RunWorkflow(ctx, workflow, id, dbos.WithWorkflowID(id))
	if err != nil {
		return 0, err
	}
	start = time.Since(begin)
	_, err = handle.GetResult()
	return start, err
}
