package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// TestAnOutcomeIsStoredBeforeACostlyNextStepIsJudged: what a receiver did is never at risk
// for what its answer is bound to next, and no transaction judges that.
func TestAnOutcomeIsStoredBeforeACostlyNextStepIsJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			length int
			bound  []string
			status countersign.RunStatus
			steps  []countersign.StepStatus
		}{
			{9_000, []string{"a"}, countersign.RunCompleted, []countersign.StepStatus{countersign.StepCompleted, countersign.StepCompleted}},
			{9_000, []string{"a", "b"}, countersign.RunFailed, []countersign.StepStatus{countersign.StepCompleted, countersign.StepFailed}},
		} {
			text := strings.Repeat("ab", c.length/2) + "c"
			h := open(t, func(context.Context, request.Call) request.Outcome {
				return ok(`{"state":"done","text":"` + text + `"}`)
			})
			next := step("next", "match", "first")
			next.InputBindings = map[string]countersign.Binding{}
			for _, name := range c.bound {
				next.InputBindings[name] = countersign.Binding{StepID: "first", Field: "text"}
			}
			ref := h.mustStart(h.registerAs(func(p *countersign.Project) {
				field := countersign.InputField{Type: "string", Pattern: "[ab]{0,900}c$"}
				p.Capabilities = append(p.Capabilities, countersign.Capability{Name: "match", Method: "POST", Path: "/match", Approval: countersign.ApprovalNone, InputSchema: map[string]countersign.InputField{"a": field, "b": field}})
			}, step("first", "pay"), next))
			synctest.Wait()
			r := h.wantRun(ref, c.status, c.steps...)
			if failed := r.Steps[1].Error; failed != nil && (failed.Code != countersign.CodeNotSent || !strings.Contains(failed.Message, "takes more than 20 million steps")) {
				t.Errorf("%+v", failed)
			}
			alone := false
			for _, seen := range h.seen[ref.RunID] {
				alone = alone || seen.Steps[0].Status == countersign.StepCompleted && seen.Steps[1].Status == countersign.StepPending
			}
			if !alone {
				t.Error("the outcome waited for the next step to be judged")
			}
			h.stop()
		}
	})
}
