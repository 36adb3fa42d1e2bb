package soak

import (
	"bufio"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

var (
	viewers = flag.Int("viewers", 20, "how many follow a run's page")
	steps   = flag.Int("steps", 20, "how many steps the run has")
)

// pace is how long the receiver takes for a step: 20 steps a second.
const pace = 50 * time.Millisecond

// TestViewersOfALiveRunLeaveNothingBehind: each viewer follows the run to its end and sees the end. When all have left, the process holds
// what it held before.
func TestViewersOfALiveRunLeaveNothingBehind(t *testing.T) {
	w := open(t)
	w.work(10, 0) // fills caches and pools
	plan := w.longPlan()
	w.rest()
	before := w.sample()
	a := w.operator.Post("/runs", harness.Doc{"planId": plan}, "Idempotency-Key: viewed").OK(t)
	var all sync.WaitGroup
	var ended, events, bytes atomic.Int64
	for range *viewers {
		all.Go(func() {
			n, size, end := w.follow("/runs/" + a.At("id").Text() + "/live")
			events.Add(int64(n))
			bytes.Add(int64(size))
			if end {
				ended.Add(1)
			}
		})
	}
	all.Wait()
	w.rest()
	t.Logf("%d viewers of %d steps: %d events, %.1f MiB; before %s", *viewers, *steps, events.Load(), float64(bytes.Load())/(1<<20), before)
	if ended.Load() != int64(*viewers) {
		t.Errorf("%d of %d viewers saw the end", ended.Load(), *viewers)
	}
	w.returnsTo(sample{before.goroutines + 4, before.descriptors + 4, 2*before.heap + 32<<20})
}

// longPlan is a chain of reads, for each of which the receiver takes pace.
func (s *soaked) longPlan() string {
	s.t.Helper()
	var chain []any
	for i := range *steps {
		step := harness.Doc{
			"id": fmt.Sprintf("s%d", i), "name": fmt.Sprintf("Step %d", i), "projectId": "default-shop", "capability": "search",
			"input": harness.Doc{}, "expectation": harness.Doc{"field": "ok", "equals": true},
		}
		if i > 0 {
			step["dependsOn"] = []string{fmt.Sprintf("s%d", i-1)}
		}
		chain = append(chain, step)
	}
	s.receiver.On("GET", "/search", func(x *harness.Exchange) {
		<-time.After(pace)
		harness.Answering(200, `{"ok":true}`)(x)
	})
	return s.operator.Post("/plans", harness.Doc{"name": "p", "modelId": "refund", "modelRevision": 1, "mode": "LIVE", "steps": chain}).
		OK(s.t).Is(s.t, "validationErrors", []string{}).At("id").Text()
}

// follow reads a live page to its end. It returns the number of events, the size, and whether the page showed that the run is done.
func (s *soaked) follow(path string) (events, size int, done bool) {
	req, err := http.NewRequest(http.MethodGet, s.URL+"/console"+path, http.NoBody)
	if err != nil {
		s.t.Error(err)
		return 0, 0, false
	}
	req.Header.Set("Cookie", strings.TrimPrefix(string(s.browser.Cookie()), "Cookie: "))
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		s.t.Error(err)
		return 0, 0, false
	}
	defer func() { _ = res.Body.Close() }()
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		size += len(lines.Text()) + 1
		done = done || strings.Contains(lines.Text(), "Done.")
		if lines.Text() == "" {
			events++
		}
	}
	if res.StatusCode != http.StatusOK {
		s.t.Errorf("%s: %s", path, res.Status)
	}
	return events, size, done
}
