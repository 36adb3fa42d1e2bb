package runs

import (
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Show is the command `runs show`.
type Show struct {
	ID string `arg:"" help:"The run's id."`
	service.Asking
}

// Run shows the run with its approvals.
func (s *Show) Run(t *terminal.Terminal) error {
	var approvals []countersign.Approval
	return service.ShowRecord(t, s.Asking, func(c *client.Client) (*countersign.Run, error) {
		r, err := c.Run(t.Context, s.ID)
		if err != nil || r.ApprovalID == "" || s.Format == "json" {
			return r, err
		}
		for a, err := range c.AllApprovals(t.Context, client.ApprovalFilter{RunID: s.ID}) {
			if countersign.ErrorCode(err) == countersign.CodeRoleRequired {
				break // an agent token may read its runs but no approvals
			}
			if err != nil {
				return nil, err
			}
			approvals = append(approvals, a)
		}
		return r, nil
	}, func(w io.Writer, r *countersign.Run) { printRun(w, r, approvals) })
}

func printRun(w io.Writer, r *countersign.Run, approvals []countersign.Approval) {
	facts := [][2]string{{"run", r.ID}, {"status", string(r.Status)}, {"", waits(r)}, {"error", words.EndedBecause(r)}, {"", r.HappenedWords()}, {"RESTORED", countersign.RestoredWords(r.RestoredAt)}, {"mode", r.Mode},
		{"plan", r.PlanID}, {"plan digest", r.PlanDigest}, {"agent", r.AgentID}, {"team", r.TeamID},
		{"asked for by", words.Called(r.RequestedBy, r.RequestedByName)}, {"reason", r.Reason}, {"key", r.IdempotencyKey}, {"cancel requested", words.Yes(r.CancelRequested)},
		{"unverified steps", words.Number(r.UnverifiedSteps)}, {"created", words.Moment(r.CreatedAt)}, {"ended", words.Moment(r.CompletedAt)}}
	behalf := ""
	if r.OnBehalfOf != nil {
		behalf = r.OnBehalfOf.Shown()
	}
	facts = append(facts, BehindFacts(r.Identity, behalf)...)
	terminal.Facts(w, append(facts, MemberFacts(request.Unlisted(r, runListed...))...)...)
	for i := range r.Steps {
		fmt.Fprintf(w, "\nstep %d of %d: %s\n", i+1, len(r.Steps), words.Plain(r.Steps[i].Name))
		printStep(w, &r.Steps[i], approvals)
	}
}

// runListed and stepListed are the members that printRun and printStep have words for.
var runListed = []string{
	"id", "status", "waitingFor", "error", "mayHaveHappened", "restoredAt", "mode", "planId", "planDigest", "agentId", "teamId", "requestedBy", "requestedByName", "identity", "onBehalfOf", "reason", "idempotencyKey",
	"cancelRequested", "unverifiedSteps", "createdAt", "updatedAt", "completedAt", "steps", "revision",
	"approvalId",   // its step has it
	"planSnapshot", // 'plans show' shows the plan
}

var stepListed = []string{
	"id", "name", "status", "error", "mayHaveHappened", "projectId", "capability", "agentId", "sideEffect", "approvalRequired", "wouldBe", "input", "request", "requestDigest", "idempotencyKey", "attempt",
	"response", "output", "verification", "startedAt", "completedAt", "late", "probes", "reconciliation",
}

// printStep prints a step and its approvals.
func printStep(w io.Writer, s *countersign.StepRun, approvals []countersign.Approval) {
	cells := [][2]string{{"step", s.ID}, {"status", string(s.Status)}, {"error", errorText(s.Error)}, {"", s.HappenedWords()}, {"capability", s.ProjectID + " " + s.Capability}, {"agent", s.AgentID},
		{"effect", effectText(s)}, {"input", inputOf(s)}}
	cells = append(cells, RequestFacts(s.Request, s.RequestDigest.Text())...)
	for i := len(approvals) - 1; i >= 0; i-- { // they are sorted newest first
		if a := &approvals[i]; a.StepID == s.ID {
			cells = append(cells, [2]string{"approval", a.ID + " " + words.Decided(string(a.Status), words.Called(a.DecidedBy, a.DecidedByName), a.DecidedAt, words.DecidedBecause(a.DecidedBy, a.DecisionReason))})
		}
	}
	cells = append(cells, [][2]string{{"key", s.IdempotencyKey}, {"attempts", words.Number(s.Attempt)}, {"answer", responseText(s.Response)}, {"", saidText(w, s.Response)}, {"output", outputText(w, s.Output)},
		{"verification", words.Verdict(s.Verification)}}...)
	cells = append(cells, checkFacts(s.Verification)...)
	cells = append(cells, [][2]string{{"started", words.Moment(s.StartedAt)}, {"ended", words.Moment(s.CompletedAt)}}...)
	if l := s.Late; l != nil {
		cells = append(cells, [2]string{"late answer", fmt.Sprintf("at %s: %s", words.Moment(l.At), words.JoinedBy(", ", l.Error, responseText(l.Response)))}, [2]string{"", saidText(w, l.Response)}, [2]string{"", outputText(w, l.Output)})
	}
	for i := range s.Probes {
		cells = append(cells, probeFacts(w, &s.Probes[i])...)
	}
	if r := s.Reconciliation; r != nil {
		cells = append(cells, [2]string{"reconciled", words.Decided(r.Resolution, words.Called(r.By, r.ByName), r.At, r.Evidence)})
		cells = append(cells, MemberFacts(request.Unlisted(r, "resolution", "evidence", "by", "byName", "at"))...)
	}
	terminal.Facts(w, append(cells, MemberFacts(request.Unlisted(s.WithoutProofs(), stepListed...))...)...)
}

// checkFacts are the judgements by each of several expectations.
func checkFacts(v *countersign.Verification) (facts [][2]string) {
	if v == nil {
		return nil
	}
	for _, c := range v.Checks {
		facts = append(facts, [2]string{"", words.Verdict(&countersign.Verification{Status: c.Status, Field: c.Field, Expected: c.Expected, Actual: c.Actual})})
	}
	return facts
}

// probeFacts are a probe's request and its answer.
func probeFacts(w io.Writer, p *countersign.ProbeRecord) [][2]string {
	facts := [][2]string{{fmt.Sprintf("probe %d", p.N), fmt.Sprintf("%s by %s at %s", p.Capability, words.Called(p.By, p.ByName), words.Moment(p.At))}}
	facts = append(facts, RequestFacts(p.Request, "")...)
	return append(facts, [2]string{"", words.JoinedBy(", ", p.Error, responseText(p.Response))}, [2]string{"", saidText(w, p.Response)}, [2]string{"", outputText(w, p.Output)})
}

// RequestFacts are a request as it is sent, never cut.
func RequestFacts(r *countersign.Request, digest string) [][2]string {
	if r == nil {
		return nil
	}
	d := request.Describe(*r)
	facts := [][2]string{{"request", d.Method + " " + d.URL}}
	facts = append(facts, MemberFacts(d.Others)...)
	if !d.Body.IsZero() {
		facts = append(facts, [2]string{"body", words.Doubted(words.Value(d.Body))})
	}
	return append(facts, [2]string{"digest", digest})
}

// MemberFacts are members that have no words of their own.
func MemberFacts(all []request.Member) (facts [][2]string) {
	for _, m := range all {
		facts = append(facts, m.Lines()...)
	}
	return facts
}

func effectText(s *countersign.StepRun) string {
	text := "read"
	if s.SideEffect {
		text = "side effect"
	}
	if s.ApprovalRequired {
		text += ", asks for approval"
	}
	if s.WouldBe == countersign.WouldBeDenied {
		text += ", would be denied by a rule"
	}
	return text
}

func inputOf(s *countersign.StepRun) string { return words.Value(countersign.ObjectValue(s.Input)) }

func errorText(e *countersign.StepError) string {
	if e == nil {
		return ""
	}
	return string(e.Code) + ": " + e.Message
}

func responseText(r *countersign.Response) string {
	if r == nil {
		return ""
	}
	text := fmt.Sprintf("status %d in %s", r.StatusCode, words.Milliseconds(r.DurationMs))
	if r.Bytes != 0 || r.BodySHA256 != "" { // else there was no body, or the reader may not see it
		text = fmt.Sprintf("status %d, %d bytes in %s, SHA-256 %s", r.StatusCode, r.Bytes, words.Milliseconds(r.DurationMs), r.BodySHA256)
	}
	if r.RetryAfter != "" {
		text += ", Retry-After " + r.RetryAfter
	}
	return text
}

// saidText is the beginning of a body that gives no output, which is evidence; on a terminal it is cut.
func saidText(w io.Writer, r *countersign.Response) string {
	if r == nil || r.Body == "" {
		return ""
	}
	return terminal.Cut(words.Value(countersign.String(r.Body)), max(terminal.WidthOf(w)-len("verification")-4, 0))
}

// outputText is a step's output, which may have a megabyte; on a terminal it is cut.
func outputText(w io.Writer, v countersign.Value) string {
	const heading = 16 // width of the column of names
	if v.IsZero() {
		return ""
	}
	return terminal.Cut(words.Value(v), max(terminal.WidthOf(w)-heading, 0))
}
