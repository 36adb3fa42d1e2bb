package httpapi

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/cache"
)

// TestAnAnswerOfKeptPartsSaysTheSame as one that is written as a whole.
func TestAnAnswerOfKeptPartsSaysTheSame(t *testing.T) {
	a := &API{snapshots: cache.New[*countersign.Plan, []byte](keptSnapshots), steps: cache.New[*countersign.StepRun, []byte](keptSteps)}
	p := &countersign.Plan{ID: "plan-1", Name: `<"&>`, Steps: []countersign.Step{{ID: "a"}}}
	steps := []countersign.StepRun{{ID: "a"}, {ID: "b"}}
	for _, status := range []countersign.RunStatus{countersign.RunRunning, countersign.RunCompleted} {
		r := countersign.Run{ID: "run-1", Status: status, PlanSnapshot: p, Steps: steps}
		var got, want any
		pieces, err := a.encode(r)
		var doc bytes.Buffer
		if err != nil || pieces.writeTo(&doc) != nil || doc.Len() != pieces.size() || json.Unmarshal(doc.Bytes(), &got) != nil {
			t.Fatalf("%s: %v", doc.Bytes(), err)
		}
		whole, err := countersign.Marshal(r)
		if err != nil || json.Unmarshal(whole, &want) != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}
