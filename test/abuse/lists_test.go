package abuse

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// TestListsOfLargeDocumentsAreBounded: a page of the largest documents, asked for by
// several at once, takes memory for what it answers and not for what it leaves out.
func TestListsOfLargeDocumentsAreBounded(t *testing.T) {
	v := serve(t, 0)
	const stored, askers = 60, 6
	for n := range stored {
		id := fmt.Sprintf("large-%d", n)
		m := harness.With(harness.Model(id), "description", strings.Repeat("d", 15<<10))
		m["actions"] = append(m["actions"].([]any), numbered(50, func(i int) any {
			return doc{"id": fmt.Sprintf("x%d", i), "name": "n", "description": strings.Repeat("e", 15<<10), "inputs": []any{}, "simulatedResult": "", "memoryEffects": []any{}}
		})...)
		v.operator.Put("/models/"+id, doc{"document": m}).OK(t)
	}
	for n := range stored / 3 {
		v.operator.Post("/plans", doc{"name": fmt.Sprintf("large-%d", n), "modelId": "refund", "modelRevision": 1, "mode": "LIVE", "steps": numbered(60, func(i int) any {
			return doc{"id": fmt.Sprintf("s%d", i), "name": "n", "projectId": "default-shop", "capability": "note", "input": doc{"text": strings.Repeat("i", 15<<10)}}
		})}).OK(t)
	}
	v.runsWithLargeAnswers(t)
	for _, path := range []string{"/models?limit=200", "/audit?limit=200", "/runs?limit=200", "/plans?limit=200"} {
		v.forgetPeak(t)
		before, _ := v.resident(t)
		began := time.Now()
		var all sync.WaitGroup
		size := make([]int, askers)
		for i := range askers {
			all.Go(func() { size[i] = len(v.Admin.Get(path).OK(t).String()) })
		}
		all.Wait()
		now, most := v.resident(t)
		t.Logf("%s: %d at once in %s, %d bytes each; before %d MiB, now %d, %d at most", path, askers, time.Since(began).Round(time.Millisecond), size[0], before, now, most)
		if answers := askers * size[0] >> 20; most > 500+2*answers { // they exist once, and as much again before it is collected
			t.Errorf("%s: %d MiB for answers of %d", path, most, answers)
		}
	}
}

// runsWithLargeAnswers has some runs read answers that are nearly as large as they may
// be, in each of their steps.
func (v *victim) runsWithLargeAnswers(t *testing.T) {
	t.Helper()
	v.receiver.On("GET", "/search", harness.Answering(200, `{"status":"found","text":"`+strings.Repeat("o", 900<<10)+`"}`))
	plan := v.operator.Post("/plans", doc{"name": "reads", "modelId": "refund", "modelRevision": 1, "mode": "LIVE", "steps": numbered(20, func(i int) any {
		return doc{"id": fmt.Sprintf("s%d", i), "name": "n", "projectId": "default-shop", "capability": "search", "input": doc{}}
	})}).OK(t).At("id").Text()
	for n := range 10 {
		run := v.operator.Post("/runs", doc{"planId": plan}, harness.Header(fmt.Sprintf("Idempotency-Key: reads-%d", n))).OK(t).At("id").Text()
		harness.Until(t, run+" completes", func() bool { return v.operator.Get("/runs?limit=1").OK(t).At("items.0.status").Text() == "COMPLETED" })
	}
}
