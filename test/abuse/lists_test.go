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
// several at once, takes bounded memory and time.
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
	before, _ := v.resident(t)
	for _, path := range []string{"/models?limit=200", "/audit?limit=200", "/plans?limit=200"} {
		began := time.Now()
		var all sync.WaitGroup
		size := make([]int, askers)
		for i := range askers {
			all.Go(func() { size[i] = len(v.Admin.Get(path).OK(t).String()) })
		}
		all.Wait()
		now, most := v.resident(t)
		t.Logf("%s: %d at once in %s, %d bytes each; before %d MiB, now %d, %d at most", path, askers, time.Since(began).Round(time.Millisecond), size[0], before, now, most)
		if most > 600 {
			t.Errorf("%s: %d MiB", path, most)
		}
	}
}
