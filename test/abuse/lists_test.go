package abuse

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestListsOfLargeDocumentsAreBounded: several concurrent requests for a page of the largest documents need
// memory for what they answer and not for what they leave out. Garbage is collected often, so that the heap shows what
// is in use: otherwise a collection that other work on the machine slows down decides the heap's size.
func TestListsOfLargeDocumentsAreBounded(t *testing.T) {
	v := serve(t, 0, harness.Env("GOGC", "30"))
	stored, askers, runs, base := 60, 6, 10, 500
	if testing.Short() {
		stored, askers, runs, base = 6, 3, 2, 200
	}
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
	v.runsWithLargeAnswers(t, runs)
	answers := 0 // the largest so far, as the heap's maximum is never reset
	for _, path := range []string{"/models?limit=200", "/audit?limit=200", "/runs?limit=200", "/plans?limit=200"} {
		v.forgetPeak(t)
		before, _ := v.resident(t)
		var all sync.WaitGroup
		size := make([]int, askers)
		for i := range askers {
			all.Go(func() { size[i] = v.read(t, path) })
		}
		all.Wait()
		now, most := v.resident(t)
		heap := v.spent(t).heap >> 20
		t.Logf("%s: %d at once, %d bytes each; before %d MiB, now %d, %d at most; a heap of %d at most", path, askers, size[0], before, now, most, heap)
		answers = max(answers, askers*size[0]>>20)
		if bound := base + 2*answers; heap > bound || most > perByte*bound { // each answer exists once, and as garbage once more
			t.Errorf("%s: a heap of %d MiB, %d in all, for answers of %d", path, heap, most, answers)
		}
	}
}

// read requests a list with a long timeout, and returns the size of the answer.
func (v *victim) read(t *testing.T, path string) int {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, v.URL+harness.Prefix+path, http.NoBody)
	if err != nil {
		t.Error(err)
		return 0
	}
	req.Header.Set("Authorization", "Bearer "+v.Admin.Token())
	res, err := (&http.Client{Timeout: patience}).Do(req)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer func() { _ = res.Body.Close() }()
	size, err := io.Copy(io.Discard, res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("%s: %s, %v", path, res.Status, err)
	}
	return int(size)
}

// runsWithLargeAnswers makes runs in which each step has an answer of almost the maximal size.
func (v *victim) runsWithLargeAnswers(t *testing.T, runs int) {
	t.Helper()
	v.receiver.On("GET", "/search", harness.Answering(200, `{"status":"found","text":"`+strings.Repeat("o", 900<<10)+`"}`))
	plan := v.operator.Post("/plans", doc{"name": "reads", "modelId": "refund", "modelRevision": 1, "mode": "LIVE", "steps": numbered(20, func(i int) any {
		return doc{"id": fmt.Sprintf("s%d", i), "name": "n", "projectId": "default-shop", "capability": "search", "input": doc{}}
	})}).OK(t).At("id").Text()
	for n := range runs {
		run := v.operator.Post("/runs", doc{"planId": plan}, harness.Header(fmt.Sprintf("Idempotency-Key: reads-%d", n))).OK(t).At("id").Text()
		harness.Until(t, run+" completes", func() bool { return v.operator.Get("/runs?limit=1").OK(t).At("items.0.status").Text() == "COMPLETED" })
	}
}
