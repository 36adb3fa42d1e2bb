package runs

import (
	"bytes"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
)

// TestEveryLineOnAFailedRunSaysThatItMayHaveTakenEffect: a reader takes FAILED alone for
// "nothing was done", and would repeat the side effect.
func TestEveryLineOnAFailedRunSaysThatItMayHaveTakenEffect(t *testing.T) {
	for _, may := range []bool{false, true} {
		step := countersign.StepRun{ID: "pay", Status: countersign.StepFailed, MayHaveHappened: may, Error: &countersign.StepError{Code: countersign.CodeOutputMissing, Message: "no field id"}}
		r := countersign.Run{ID: "run-1", Status: countersign.RunFailed, Error: "output_missing: no field id", MayHaveHappened: may, Steps: []countersign.StepRun{step}}
		var started bytes.Buffer
		printStarted(&started, &client.Started{Run: r, Replayed: true})
		for place, text := range map[string]string{
			"runs list": strings.Join(runTable.Row(r), " "), "the run in runs watch": runText(&r), "the step in runs watch": stepText(&step), "a start that was repeated": started.String(),
		} {
			if strings.Contains(text, "answered, not as expected; it may have taken effect") != may {
				t.Errorf("%s, mayHaveHappened %v: %s", place, may, text)
			}
		}
	}
}
