package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// private is a project with sensitive fields card and iban in requests and answers.
func private(origin string) doc {
	hide := []string{"card", "iban"}
	in := doc{"card": harness.Input("string", true), "text": harness.Input("string", false)}
	return harness.With(harness.Project(origin), "capabilities", []any{
		harness.Capability("body", "POST", "/body", doc{"sensitive": hide, "approval": "ALWAYS", "inputSchema": in}),
		harness.Capability("query", "GET", "/query", doc{"sensitive": hide, "inputSchema": in}),
		harness.Capability("path", "GET", "/cards/{card}/info", doc{"sensitive": hide, "inputSchema": in}),
		harness.Capability("output", "POST", "/output", doc{"sensitive": hide, "approval": "NONE", "outputField": "iban", "inputSchema": in}),
		harness.Capability("nested", "POST", "/nested", doc{"sensitive": hide, "approval": "NONE", "outputField": "card", "inputSchema": in}),
		harness.Capability("plain", "POST", "/plain", doc{"approval": "NONE", "probe": "query", "inputSchema": doc{"text": harness.Input("string", true), "card": harness.Input("string", false)}}),
		harness.Capability("lost", "POST", "/lost", doc{"sensitive": hide, "approval": "NONE", "inputSchema": in, "probe": "path"}),
	})
}

const secretCard, secretIBAN = "4711-hidden-1", "DE-hidden-2"

// sees checks what a VIEWER sees of a run, its plan and its approvals.
func (w *world) sees(t *testing.T, runID string) {
	t.Helper()
	plan := w.operator.Get("/runs/" + runID).OK(t).At("planId").Text()
	for _, path := range []string{"/runs/" + runID, "/runs", "/approvals", "/plans", "/plans/" + plan} {
		if a := w.viewer.Get(path); strings.Contains(a.Raw, "hidden") {
			t.Errorf("a viewer sees it: %s", a)
		}
	}
	for _, ap := range w.viewer.Get("/approvals").OK(t).At("items").Items() {
		if a := w.viewer.Get("/approvals/" + ap.At("id").Text()); strings.Contains(a.Raw, "hidden") {
			t.Errorf("a viewer sees it: %s", a)
		}
	}
	if first, _ := w.viewer.Events(t, "/runs/"+runID+"/events").Next(t); strings.Contains(first.Data.String(), "hidden") {
		t.Errorf("a viewer sees it: %s", first.Data)
	}
}

func TestSensitiveFieldsAreMaskedForAViewerAndNobodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, "default-private", private(w.shop.Origin()))
	w.shop.On("POST", "/body", harness.Answering(200, `{"iban":"`+secretIBAN+`","ok":true}`))
	s := harness.With(step("s", "body", doc{"card": secretCard, "text": "shown"}), "projectId", "default-private")
	id := w.run(t, expecting(s, "iban", secretIBAN))
	w.approver.Get("/approvals/"+w.approval(t, id).At("id").Text()).OK(t).Is(t, "inputSnapshot.card", secretCard) // reviewers see the values that they approve
	w.approve(t, id)
	w.reaches(t, id, "COMPLETED")
	for _, who := range []*harness.Client{w.operator, w.approver, w.tenantAdmin, w.principal(t, "VIEWER", "OPERATOR")} {
		who.Get("/runs/"+id).OK(t).Is(t, "steps.0.input.card", secretCard).Is(t, "steps.0.output.iban", secretIBAN).Is(t, "steps.0.verification.actual", secretIBAN)
	}
	w.sees(t, id)
	w.viewer.Get("/runs/"+id).OK(t).Is(t, "steps.0.input.text", "shown").Is(t, "steps.0.output.ok", true).Is(t, "steps.0.verification.status", "PASSED")
}

func TestSensitiveFieldsAreMaskedWhereverTheyTravel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, "default-private", private(w.shop.Origin()))
	answer := `{"iban":"` + secretIBAN + `","ok":true}`
	for name, c := range map[string]struct {
		method, path string
		reply        harness.Reply
		expectation  doc
		status       string
	}{
		"query":          {"GET", "/query", harness.Answering(200, answer), nil, "COMPLETED"},
		"path":           {"GET", "/cards/" + secretCard + "/info", harness.Answering(200, answer), nil, "COMPLETED"},
		"output":         {"POST", "/output", harness.Answering(200, answer), doc{"field": "$", "equals": secretIBAN}, "COMPLETED"},
		"output is met":  {"POST", "/output", harness.Answering(200, answer), doc{"field": "iban", "equals": secretIBAN}, "COMPLETED"},
		"output differs": {"POST", "/output", harness.Answering(200, answer), doc{"field": "iban", "equals": secretIBAN + "x"}, "FAILED"},
		"nested":         {"POST", "/nested", harness.Answering(200, `{"card":{"number":"`+secretIBAN+`"}}`), doc{"field": "number", "equals": secretIBAN}, "COMPLETED"},
		"nested differs": {"POST", "/nested", harness.Answering(200, `{"card":{"number":"`+secretIBAN+`"}}`), doc{"field": "number", "equals": secretIBAN + "x"}, "FAILED"},
		"deep":           {"GET", "/query", harness.Answering(200, `{"list":[{"iban":"`+secretIBAN+`"}]}`), doc{"field": "list", "equals": []any{doc{"iban": secretIBAN}}}, "COMPLETED"},
		"whole differs":  {"GET", "/query", harness.Answering(200, answer), doc{"field": "$", "equals": doc{"iban": secretIBAN, "ok": false}}, "FAILED"},
	} {
		t.Run(name, func(t *testing.T) {
			w.shop.On(c.method, c.path, c.reply)
			capability := strings.Fields(name)[0]
			if capability == "whole" || capability == "deep" {
				capability = "query"
			}
			s := harness.With(step("s", capability, doc{"card": secretCard}), "projectId", "default-private")
			if c.expectation != nil {
				s["expectation"] = c.expectation
			}
			id := w.run(t, s)
			run := w.reaches(t, id, c.status)
			w.sees(t, id)
			if c.status == "FAILED" {
				run.Has(t, "error", "hidden")
				w.viewer.Get("/runs/"+id).OK(t).Has(t, "error", "expectation_not_met: ").Is(t, "steps.0.error.code", "expectation_not_met")
			}
		})
	}
}

func TestTheAnswersOfProbesAreMaskedToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, "default-private", private(w.shop.Origin()))
	w.shop.On("POST", "/lost", harness.Answering(500, `{}`))
	w.shop.On("GET", "/cards/"+secretCard+"/info", harness.Answering(200, `{"iban":"`+secretIBAN+`","state":"paid"}`))
	id := w.run(t, harness.With(step("s", "lost", doc{"card": secretCard}), "projectId", "default-private"))
	w.reaches(t, id, "RECOVERY_REQUIRED")
	w.approver.Post("/runs/"+id+"/probe", doc{"stepId": "s"}).OK(t).Is(t, "steps.0.probes.0.output.iban", secretIBAN)
	w.sees(t, id)
	w.viewer.Get("/runs/"+id).OK(t).Is(t, "steps.0.probes.0.output.state", "paid").Is(t, "steps.0.probes.0.request.url", w.shop.Origin()+"/cards/{card}/info")
}

// TestAProbesOwnSensitiveFieldsAreMasked, even if the step's capability has none.
func TestAProbesOwnSensitiveFieldsAreMasked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, "default-private", private(w.shop.Origin()))
	w.shop.On("POST", "/plain", harness.Answering(500, `{}`))
	w.shop.On("GET", "/query", harness.Answering(200, `{"data":{"iban":"`+secretIBAN+`"},"state":"paid"}`))
	id := w.run(t, harness.With(step("s", "plain", doc{"text": "x", "card": secretCard}), "projectId", "default-private"))
	w.reaches(t, id, "RECOVERY_REQUIRED")
	w.approver.Post("/runs/"+id+"/probe", doc{"stepId": "s"}).OK(t).Is(t, "steps.0.probes.0.output.data.iban", secretIBAN)
	w.sees(t, id)
	w.viewer.Get("/runs/"+id).OK(t).Is(t, "steps.0.probes.0.output.state", "paid")
}
