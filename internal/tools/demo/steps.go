package demo

import (
	"fmt"

	"github.com/countersign/countersign"
)

// settled are the step states that are printed.
var settled = map[countersign.StepStatus]bool{
	countersign.StepCompleted: true, countersign.StepSimulated: true, countersign.StepFailed: true, countersign.StepSkipped: true,
	countersign.StepCancelled: true, countersign.StepAbandoned: true, countersign.StepRecoveryRequired: true,
}

func (d *demo) isNews(r countersign.Run, s countersign.StepRun) bool {
	return settled[s.Status] && d.shown[r.ID+"."+s.ID] != s.Status
}

func (d *demo) hasNews(r countersign.Run) bool {
	for _, s := range r.Steps {
		if d.isNews(r, s) {
			return true
		}
	}
	return false
}

// showSteps prints each step that has ended since the last call.
func (d *demo) showSteps(r countersign.Run) {
	for _, s := range r.Steps {
		if d.isNews(r, s) {
			d.shown[r.ID+"."+s.ID] = s.Status
			d.print.step(s.ID, s.Status, "%s", d.named(outcomeOf(s)))
			if s.AgentID != "" {
				d.print.row("", "by the %s", d.agents.name(s.AgentID))
			}
			if s.Status == countersign.StepSimulated && !s.Request.Body.IsNull() {
				d.print.block(s.Request.Body)
			}
		}
	}
}

// outcomeOf describes how a step ended: what a rehearsal would have sent, or the answer's
// status and the verification, which are independent.
func outcomeOf(s countersign.StepRun) string {
	switch {
	case s.Status == countersign.StepSimulated:
		return s.Request.Method + " " + s.Request.URL
	case s.Status == countersign.StepRecoveryRequired:
		return s.Error.Message
	case s.Verification == nil && s.Error != nil:
		return string(s.Error.Code) + ": " + s.Error.Message
	case s.Verification == nil:
		return ""
	case s.SettledBy != nil:
		return "settled; " + verified(*s.Verification)
	case s.Reconciliation != nil && s.Response == nil:
		return "confirmed; " + verified(*s.Verification)
	case s.Response != nil:
		return fmt.Sprintf("%d in %s; %s", s.Response.StatusCode, took(s.Response.DurationMs), verified(*s.Verification))
	default:
		return verified(*s.Verification)
	}
}

func took(ms int64) string {
	if ms == 0 {
		return "under 1 ms"
	}
	return fmt.Sprintf("%d ms", ms)
}

func verified(v countersign.Verification) string {
	if v.Status == countersign.VerificationNotRequested {
		return "nothing was asked of the answer"
	}
	actual := "missing"
	if !v.Actual.IsZero() {
		actual = v.Actual.Raw()
	}
	return fmt.Sprintf("%s: expected %s, actual %s", v.Field, v.Expected.Raw(), actual)
}
