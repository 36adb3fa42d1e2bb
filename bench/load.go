package main

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// kind is one kind of request. once sends the n-th request of a client and passes to note
// how long the answer took.
type kind struct {
	name    string
	clients int
	shown   int // number of clients to print, 0: clients
	once    func(client, n int, note func(time.Duration)) error
	alone   measurements // measured without other load
	beside  measurements // measured while runs are in progress
}

// measurements has the measurements of one kind of request, one element per repetition.
type measurements struct {
	rate     []float64
	p50, p99 []time.Duration
}

// play has all clients send requests for d. Each client sends its next request as soon as it
// has an answer.
func (m *measurements) play(k *kind, d time.Duration) error {
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	begin := time.Now()
	var wg sync.WaitGroup
	for client := range k.clients {
		wg.Go(func() {
			took, err := k.ask(client, begin.Add(d))
			mu.Lock()
			defer mu.Unlock()
			all, failed = append(all, took...), errors.Join(failed, err)
		})
	}
	wg.Wait()
	m.rate = append(m.rate, float64(len(all))/time.Since(begin).Seconds())
	m.p50, m.p99 = append(m.p50, quantile(all, 0.5)), append(m.p99, quantile(all, 0.99))
	return failed
}

func (k *kind) ask(client int, until time.Time) (took []time.Duration, err error) {
	var mu sync.Mutex
	note := func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		took = append(took, d)
	}
	for n := 0; time.Now().Before(until); n++ {
		if err := k.once(client, n, note); err != nil {
			return took, fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return took, nil
}

func (m measurements) String() string {
	return fmt.Sprintf("%s | %s | %s", spread("%.0f", m.rate), shortDuration(median(m.p50)), shortDuration(median(m.p99)))
}
