package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// readers page through the list of runs at the pace of people: the newest runs, then the next
// page and so on, until they begin again.
type readers struct {
	p     *product
	count int
	pace  time.Duration // between two pages, from a half to one and a half of it

	mu      sync.Mutex
	took    []time.Duration // of each page, from when it was due
	failed  error
	largest map[string]int64 // of each of the store's logs and journals
}

const (
	readerPages = 10 // until a reader begins again
	readerPage  = 20 // runs
)

// beside has them read while work is done, and measures the logs. Readers that come and go
// all the time must not keep the store from starting its log over.
func (r *readers) beside(work func() error) error {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range r.count {
		all.Go(func() { r.read(ctx) })
	}
	all.Go(func() { r.watch(ctx) })
	err := work()
	cancel()
	all.Wait()
	return errors.Join(err, r.failed)
}

// read begins at a random moment of the pace and a random page, as after a while of reading.
func (r *readers) read(ctx context.Context) {
	due := time.Now().Add(rand.N(r.pace))
	for page := rand.IntN(readerPages); pause(ctx, time.Until(due)); page++ {
		path := fmt.Sprintf("/runs?limit=%d&offset=%d", readerPage, page%readerPages*readerPage)
		status, err := r.p.fetch(context.Background(), http.MethodGet, path, nil)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("GET %s: %d", path, status)
		}
		r.note(time.Since(due), err)
		due = time.Now().Add(r.pace/2 + rand.N(r.pace))
	}
}

func (r *readers) note(d time.Duration, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = append(r.took, d)
	if r.failed == nil {
		r.failed = err
	}
}

// logInterval is the interval at which the logs are measured.
const logInterval = 20 * time.Millisecond

func (r *readers) watch(ctx context.Context) {
	for pause(ctx, logInterval) {
		for _, name := range storeLogs {
			n, err := size(filepath.Join(r.p.dir, name))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				fmt.Fprintln(os.Stderr, "the log is not measured:", err)
			}
			r.mu.Lock()
			r.largest[name] = max(r.largest[name], n)
			r.mu.Unlock()
		}
	}
}
