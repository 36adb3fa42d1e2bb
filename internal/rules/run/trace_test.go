package run_test

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
)

// trace says all that an event came to: what changed in the run and its steps,
// the effects, and what the audit log says.
func (w *world) trace(was *countersign.Run, res run.Result) []string {
	if res.Unchanged() {
		return []string{"nothing changes"}
	}
	lines := []string{w.traceRun(was, res.Run)}
	for i := range res.Run.Steps {
		lines = append(lines, traceStep(w.t, &was.Steps[i], &res.Run.Steps[i])...)
	}
	if a := res.Ask; a != nil {
		lines = append(lines, fmt.Sprintf("asks %s for %s, attempt %d, until %s: %s digest %s, inputs %s", a.ID, a.StepID, a.Attempt,
			a.ExpiresAt.Format(time.RFC3339), shown(a.Request), brief(a.RequestDigest), encoded(w.t, a.InputSnapshot)))
	}
	if res.Close != "" {
		lines = append(lines, "closes the approval: "+res.Close)
	}
	if c := res.Call; c != nil {
		lines = append(lines, fmt.Sprintf("calls %s, attempt %d, key %s, within %s: %s", c.StepID, c.Attempt, c.IdempotencyKey, c.Timeout, shown(c.Request)))
	}
	for _, n := range res.Notes {
		lines = append(lines, traceNote(res.Run, n))
	}
	return lines
}

func (w *world) traceRun(was, is *countersign.Run) string {
	line := fmt.Sprintf("run %s, revision %d", is.Status, is.Revision)
	if was.Status != is.Status {
		line = fmt.Sprintf("run %s → %s, revision %d", was.Status, is.Status, is.Revision)
	}
	if f := is.WaitingFor; f != nil {
		line += fmt.Sprintf(", waits for %s (step %s)", f.Kind, f.StepID)
		if f.Operation != "" {
			line += fmt.Sprintf(" by %s: %s", f.Role, f.Operation)
		}
		if !f.ExpiresAt.IsZero() {
			line += " until " + f.ExpiresAt.Format(time.RFC3339)
		}
		if !f.NotBefore.IsZero() {
			line += " from " + f.NotBefore.Format(time.RFC3339) + " on"
		}
	}
	if is.CancelRequested && !was.CancelRequested {
		line += ", cancel requested"
	}
	if is.UnverifiedSteps != was.UnverifiedSteps {
		line += fmt.Sprintf(", %d unverified", is.UnverifiedSteps)
	}
	if is.MayHaveHappened {
		line += ", may have happened"
	}
	if is.Error != was.Error {
		line += ", error " + is.Error
	}
	return line
}

func traceStep(t fataler, was, is *countersign.StepRun) []string {
	t.Helper()
	var parts []string
	add := func(name string, before, after any) {
		if b, a := encoded(t, before), encoded(t, after); a != b {
			parts = append(parts, name+" "+a)
		}
	}
	if was.Status != is.Status {
		parts = append(parts, fmt.Sprintf("%s → %s", was.Status, is.Status))
	}
	add("attempt", was.Attempt, is.Attempt)
	add("approvalId", was.ApprovalID, is.ApprovalID)
	add("input", was.Input, is.Input)
	add("output", was.Output, is.Output)
	add("verification", was.Verification, is.Verification)
	add("error", was.Error, is.Error)
	add("reconciliation", was.Reconciliation, is.Reconciliation)
	if is.Late != nil && was.Late == nil {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("late %s %s", encoded(t, is.Late.Output), is.Late.Error)))
	}
	if len(is.Probes) > len(was.Probes) {
		parts = append(parts, "probe "+encoded(t, is.Probes[len(was.Probes)].Output))
	}
	if is.RequestDigest == "" && is.Status == countersign.StepSimulated {
		parts = append(parts, "request "+shown(*is.Request)+" without digest")
	} else if was.RequestDigest == "" && is.RequestDigest != "" {
		parts = append(parts, "request "+shown(*is.Request)+" digest "+brief(is.RequestDigest.Text()))
	}
	if parts == nil {
		return nil
	}
	lines := []string{"step " + is.ID}
	for _, p := range parts {
		lines = append(lines, "  "+p)
	}
	return lines
}

func traceNote(r *countersign.Run, n run.Note) string {
	step := ""
	if n.Step >= 0 {
		step = " " + r.Steps[n.Step].ID
	}
	line := fmt.Sprintf("audit %s%s: %s → %s", n.Action, step, cmp.Or(n.Before, "·"), cmp.Or(n.After, "·"))
	if n.Digest != "" {
		line += " digest " + brief(n.Digest)
	}
	if n.Reason != "" {
		line += ", " + n.Reason
	}
	return line
}

func shown(r countersign.Request) string {
	return r.Method + " " + r.URL + " " + cmp.Or(request.BodyText(r), "without body")
}

func brief(digest string) string { return digest[:8] }
