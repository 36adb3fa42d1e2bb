package console

import (
	"bytes"
	"html"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/approvals"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/recovery"
	"github.com/countersign/countersign/internal/server/console/runs"
	"github.com/countersign/countersign/internal/server/console/web"
	"github.com/countersign/countersign/internal/testing/marked"
)

// drawnPage is a page's main part.
func drawnPage(t *testing.T, p *web.Page, now time.Time) string { return drawnBlock(t, p, "main", now) }

// drawnBlock is a part of a page as a visitor of these roles sees it, without any service.
func drawnBlock(t *testing.T, p *web.Page, block string, now time.Time) string {
	t.Helper()
	all, err := web.ParsePages(templates, functions)
	if err != nil {
		t.Fatal(err)
	}
	v := &web.Request{Site: &web.Site{Pages: all}, Now: now, Actor: control.Actor{Principal: boss.Principal}}
	var b bytes.Buffer
	if err := all.Execute(&b, p.Name, block, web.Frame{Page: p, Request: v, Actor: v.Actor}); err != nil {
		t.Fatal(err)
	}
	return html.UnescapeString(b.String())
}

// TestNothingOfAnApprovalIsUnseen: its page shows every text of the record, one of a field
// that is added tomorrow too, before and after the decision.
func TestNothingOfAnApprovalIsUnseen(t *testing.T) {
	for _, status := range []countersign.ApprovalStatus{countersign.ApprovalPending, countersign.ApprovalRejected} {
		var a countersign.Approval
		texts := marked.Fill(&a)
		a.Status, a.Request.Query = status, countersign.ObjectValue(map[string]countersign.Value{"q": a.Request.Query})
		a.Expectation = countersign.RawValue(`{"field":"f","equals":` + a.Expectation.Raw() + `}`)
		d := approvals.DataOf(a)
		d.Sent.Part, d.Sent.Query = drawn.BodyPartOf(a.Request.Body, 1, ""), drawn.DrawnWhole(a.Request.Query)
		d.WordDecision()
		excused := map[string]string{
			"inputSnapshot": "all of it is in the request", "decisions.assertion": "a proof for verifiers", "id": "the way above the page has it",
			"state.request.query": "the URL has it",
		}
		if !d.Waiting {
			excused["escalations"] = "nobody decides any more"
		}
		if d.Waiting {
			for _, name := range []string{"decisionReason", "decidedBy", "decidedByName", "suggestedInput"} {
				excused[name] = "not decided yet"
			}
		}
		text := drawnPage(t, d.Page(), a.RequestedAt)
		for _, path := range marked.Missing(texts, text, excused) {
			t.Errorf("%s: the page leaves out %s", status, path)
		}
	}
}

// TestNothingOfAStepIsUnseen: neither where its run is shown nor where a person says what
// became of it.
func TestNothingOfAStepIsUnseen(t *testing.T) {
	for _, late := range []bool{true, false} {
		var s countersign.StepRun
		texts := marked.Fill(&s)
		s.Status, s.Error.Code = countersign.StepRecoveryRequired, countersign.CodeOutcomeUnknown
		s.Probes[0].Output = countersign.RawValue(`{"o":` + s.Probes[0].Output.Raw() + `}`)
		const proof = "for verifiers: answeredBy, or the statement itself, says whose word it is"
		excused := map[string]string{
			"wouldCheck.when": "a condition is written as one kind of two; the record has it whole", "wouldCheck.request.query": "the URL has it",
			"input": "all of it is in the request", "request.query": "the URL has it", "probes.request.query": "the URL has it",
			"response.signed": proof, "late.response.signed": proof, "probes.response.signed": proof, "settlements.signed": proof,
			"error.code": "one of few words", "id": "the list of steps has it", "dependsOn": "the graph has it",
			"verification.field": "its checks have it", "verification.expected": "its checks have it", "verification.actual": "its checks have it",
		}
		if !late {
			s.Late, excused["late"] = nil, "none came"
		}
		r := countersign.Run{
			ID: "run-1", PlanID: "plan", Mode: countersign.ModeLive, Status: countersign.RunRecoveryRequired, Steps: []countersign.StepRun{s},
			WaitingFor: &countersign.WaitingFor{Kind: countersign.WaitReconcile, StepID: s.ID, Since: s.StartedAt},
		}
		chosen := &web.Page{Name: "run", Data: map[string]any{"Chosen": runs.ChosenStepOf(&r, &countersign.Plan{}, 0)}}
		for _, path := range marked.Missing(texts, drawnBlock(t, chosen, "step", s.StartedAt), excused) {
			t.Errorf("with a late answer %v: the run's page leaves out %s", late, path)
		}
		for _, name := range []string{"actionId", "agentId", "approvalId", "verification"} {
			excused[name] = "the run's page has it"
		}
		excused["probes.request.body"] = "a probe is a GET, which has none"
		if late {
			for _, name := range []string{"response", "output"} {
				excused[name] = "the late answer is in its place"
			}
		}
		for _, path := range marked.Missing(texts, drawnPage(t, recovery.DataOf(r, 0, nil).Page(), s.StartedAt), excused) {
			t.Errorf("with a late answer %v: the recovery's page leaves out %s", late, path)
		}
	}
}
