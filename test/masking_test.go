package test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// open is a capability without sensitive fields.
func open(name string) doc {
	return harness.Capability(name, "POST", "/"+name, doc{"approval": "NONE", "inputSchema": doc{"text": harness.Input("string", false), "data": harness.Input("object", false)}})
}

// secretive registers private with two more capabilities that have no sensitive field.
func (w *world) secretive(t *testing.T) {
	t.Helper()
	p := private(w.shop.Origin())
	p["capabilities"] = append(p["capabilities"].([]any), open("open"), open("further"), open("nested-in"), open("other"))
	w.register(t, "default-private", p)
}

func within(project string, s doc) doc { return harness.With(s, "projectId", project) }

// TestAViewerGetsNothingThatAMaskedValueCouldBeFoundOutBy: a VIEWER gets neither digest nor size of anything that contains the value.
// A principal that may see the value gets them.
func TestAViewerGetsNothingThatAMaskedValueCouldBeFoundOutBy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.secretive(t)
	answer := `{"iban":"` + secretIBAN + `","ok":true}`
	w.shop.On("POST", "/body", harness.Answering(200, answer))
	s := within("default-private", step("s", "body", doc{"card": secretCard, "text": "shown"}))
	rehearsed := w.start(t, w.ready(t, harness.With(planOf(s), "mode", "DRY_RUN")))
	w.reaches(t, rehearsed, "COMPLETED")
	id := w.run(t, s)
	followed := w.viewer.Events(t, "/runs/"+id+"/events")
	w.approve(t, id)
	all := w.reaches(t, id, "COMPLETED").Is(t, "steps.0.response.bytes", len(answer))
	hash := sha256.Sum256([]byte(answer))
	body := hex.EncodeToString(hash[:])
	all.Is(t, "steps.0.response.bodySha256", body)
	request, plan, planID := all.At("steps.0.requestDigest").Text(), all.At("planDigest").Text(), all.At("planId").Text()
	approval := all.At("steps.0.approvalId").Text()
	if len(request) != 64 || len(plan) != 64 {
		t.Fatalf("the operator sees %s and %s", request, plan)
	}
	w.approver.Get("/approvals/"+approval).OK(t).Is(t, "requestDigest", request)
	for _, path := range []string{
		"/runs", "/runs/" + id, "/runs/" + rehearsed, "/runs/" + id + "/rehearsal", "/runs/" + id + "/receipt",
		"/approvals", "/approvals/" + approval, "/plans", "/plans/" + planID,
	} {
		noneOf(t, w.viewer.Get(path).OK(t).String(), request, plan, body)
	}
	for _, e := range followed.Rest(t) {
		noneOf(t, e.Data.String(), request, plan, body)
	}
	vera := w.person(t, "vera@example.com", "VIEWER")
	for _, path := range []string{"/runs/" + id, "/runs/" + rehearsed, "/approvals/" + approval, "/plans/" + planID} {
		noneOf(t, vera.Open(path).Text, request, plan, body)
	}
	seen := w.viewer.Get("/runs/" + id).OK(t)
	for _, path := range []string{"planDigest", "planSnapshot.planDigest", "steps.0.requestDigest", "steps.0.response.bytes", "steps.0.response.bodySha256"} {
		seen.Is(t, path, harness.Absent)
	}
	seen.Is(t, "steps.0.response.statusCode", 200).Is(t, "steps.0.input.text", "shown")
	w.viewer.Get("/runs/"+rehearsed).OK(t).Is(t, "steps.0.requestDigest", harness.Absent)
	w.viewer.Get("/plans/"+planID).OK(t).Is(t, "planDigest", harness.Absent)
	w.viewer.Get("/approvals/"+approval).OK(t).Is(t, "requestDigest", harness.Absent)
	w.viewer.Get("/runs/"+id+"/rehearsal").OK(t).Is(t, "verdict", "SAME").Is(t, "planDigest", harness.Absent).
		Is(t, "steps.0.sentDigest", harness.Absent).Is(t, "steps.0.rehearsedDigest", harness.Absent)
	w.approver.Get("/runs/"+id+"/rehearsal").OK(t).Is(t, "planDigest", plan).Is(t, "steps.0.sentDigest", request).Is(t, "steps.0.rehearsedDigest", request)
}

func noneOf(t *testing.T, text string, secrets ...string) {
	t.Helper()
	for _, s := range secrets {
		if strings.Contains(text, s) {
			t.Errorf("a viewer sees %s in %s", s, text)
		}
	}
}

// TestAKeyThatIsMadeOfMaskedInputsIsMasked: the key of a call over MCP is a digest of its inputs. A VIEWER neither reads it nor
// finds the run by it.
func TestAKeyThatIsMadeOfMaskedInputsIsMasked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.secretive(t)
	item := agentItem("keyed", "body", "refund")
	item["capabilities"] = []any{"body", "open"}
	agent := syncTo(w.operator, "default-private", item).OK(t).At("items.0.id").Text()
	w.tenantAdmin.Post("/agents/"+agent+"/admit", doc{"reason": "r"}).OK(t)
	door := w.rehearses(t, w.operator, agent)
	answer := door.runs("body", doc{"card": secretCard, "text": "shown"})
	id, key := answer.At("runId").Text(), answer.At("idempotencyKey").Text()
	if !strings.HasPrefix(key, "mcp ") {
		t.Fatalf("the agent is told the key %q", key)
	}
	w.reaches(t, id, "COMPLETED")
	for _, path := range []string{"/runs", "/runs/" + id, "/runs/" + id + "/receipt", "/search?q=" + url.QueryEscape(key), "/runs?q=" + url.QueryEscape(key)} {
		noneOf(t, w.viewer.Get(path).OK(t).String(), key)
	}
	w.operator.Get("/search?q="+url.QueryEscape(key)).OK(t).Is(t, "items.0.id", id)
	w.viewer.Get("/search?q="+url.QueryEscape(key)).OK(t).Is(t, "items", []any{})
	shown := door.runs("open", doc{"text": "x"})
	w.viewer.Get("/runs/"+shown.At("runId").Text()).OK(t).Is(t, "idempotencyKey", shown.At("idempotencyKey").Text())
	w.viewer.Get("/search?q="+url.QueryEscape(shown.At("idempotencyKey").Text())).OK(t).Is(t, "items.0.id", shown.At("runId").Text())
}

// TestARunThatWasNeverRehearsedGivesAViewerNoPlanDigest if its plan is masked.
func TestARunThatWasNeverRehearsedGivesAViewerNoPlanDigest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.secretive(t)
	id := w.run(t, within("default-private", step("s", "body", doc{"card": secretCard})))
	w.viewer.Get("/runs/"+id+"/rehearsal").OK(t).Is(t, "verdict", "NONE").Is(t, "planDigest", harness.Absent)
}

// TestSizesAndHashesOfEveryAnswerAreLeftOut, also those of probes and refusals.
func TestSizesAndHashesOfEveryAnswerAreLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.secretive(t)
	w.shop.On("POST", "/lost", harness.Answering(500, `{"card":"`+secretCard+`"}`))
	w.shop.On("GET", "/cards/"+secretCard+"/info", harness.Answering(200, `{"iban":"`+secretIBAN+`"}`))
	id := w.run(t, within("default-private", step("s", "lost", doc{"card": secretCard})))
	w.reaches(t, id, "RECOVERY_REQUIRED")
	w.approver.Post("/runs/"+id+"/probe", doc{"stepId": "s"}).OK(t)
	for _, answer := range []string{"steps.0.response", "steps.0.probes.0.response"} {
		w.viewer.Get("/runs/"+id).OK(t).Is(t, answer+".bytes", harness.Absent).Is(t, answer+".bodySha256", harness.Absent)
		if all := w.approver.Get("/runs/" + id).OK(t); len(all.At(answer+".bodySha256").Text()) != 64 || all.At(answer+".bytes").Int() == 0 {
			t.Errorf("a reviewer sees %s", all.At(answer))
		}
	}
}

// TestAPlanWithASensitiveFixedInputHasNoDigest for a viewer, even if no step uses that capability: the plan's digest includes its agents.
func TestAPlanWithASensitiveFixedInputHasNoDigest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.secretive(t)
	w.shop.On("POST", "/open", harness.Answering(200, `{"ok":true}`))
	item := fixing(agentItem("fixed", "body", "refund"), doc{"body": doc{"card": secretCard}})
	item["capabilities"] = []any{"body", "open"}
	agent := syncTo(w.operator, "default-private", item).OK(t).At("items.0.id").Text()
	w.tenantAdmin.Post("/agents/"+agent+"/admit", doc{"reason": "r"}).OK(t)
	id := w.asks(agent, agentRun("LIVE", "open", doc{"text": "x"})).OK(t).At("id").Text()
	w.reaches(t, id, "COMPLETED")
	w.sees(t, id)
	w.viewer.Get("/runs/"+id).OK(t).Is(t, "planDigest", harness.Absent).Is(t, "planSnapshot.planDigest", harness.Absent)
}

// TestWhatHidesNothingKeepsItsDigests, also for a viewer.
func TestWhatHidesNothingKeepsItsDigests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.secretive(t)
	w.shop.On("POST", "/open", harness.Answering(200, `{"ok":true}`))
	id := w.run(t, within("default-private", step("s", "open", doc{"text": "x"})))
	all := w.reaches(t, id, "COMPLETED")
	w.viewer.Get("/runs/"+id).OK(t).Is(t, "steps", all.At("steps")).Is(t, "planDigest", all.At("planDigest")).Is(t, "planSnapshot", all.At("planSnapshot"))
	waiting := w.run(t, step("later", "refund", doc{"orderId": "o", "amount": 1}), bound("note", "note", "text", "later", "status"))
	w.approval(t, waiting)
	if seen := w.viewer.Get("/runs/" + waiting).OK(t).At("steps.1.requestDigest"); seen.String() != "null" {
		t.Errorf("a request that isn't made has the digest %s, expected null", seen)
	}
}

// TestAValueBoundFromASensitiveFieldIsSensitiveWhereItArrives, under any name and through any number of bindings.
func TestAValueBoundFromASensitiveFieldIsSensitiveWhereItArrives(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.secretive(t)
	w.shop.On("POST", "/output", harness.Answering(200, `{"iban":"`+secretIBAN+`"}`))
	w.shop.On("POST", "/body", harness.Answering(200, `{"iban":"`+secretIBAN+`","ref":"ref-1","holder":{"iban":"`+secretIBAN+`","name":"Mara"}}`))
	for _, path := range []string{"/open", "/further"} {
		w.shop.On("POST", path, harness.Answering(200, `{"text":"`+secretIBAN+`","state":"noted"}`))
	}
	w.shop.On("POST", "/nested-in", harness.Answering(200, `{"data":{"iban":"`+secretIBAN+`"},"state":"noted"}`))
	w.shop.On("POST", "/other", harness.Answering(200, `{"state":"noted"}`))
	taken := func(id, capability, input, from, field string) doc {
		return within("default-private", bound(id, capability, input, from, field))
	}
	source := within("default-private", step("source", "body", doc{"card": secretCard}))
	id := w.run(t,
		taken("on", "further", "text", "by-name", "text"), // before the step that it takes from
		taken("by-name", "open", "text", "source", "iban"),
		source,
		taken("inside", "nested-in", "data", "source", "holder"),
		taken("beside", "other", "text", "source", "ref"),
		within("default-private", step("selecting", "output", doc{"card": secretCard})),
		taken("inside-again", "nested-in", "data", "inside", "data"),
		harness.With(taken("selected", "further", "text", "selecting", "$"), "dependsOn", []any{"selecting"}),
	)
	w.approve(t, id)
	all := w.reaches(t, id, "COMPLETED")
	w.sees(t, id)
	seen := w.viewer.Get("/runs/" + id).OK(t)
	for at, name := range map[string]string{"0": "text", "1": "text", "7": "text"} {
		seen.Is(t, "steps."+at+".input."+name, "•••").Is(t, "steps."+at+".request.body."+name, "•••").
			Is(t, "steps."+at+".requestDigest", harness.Absent).Is(t, "steps."+at+".response.bytes", harness.Absent)
		all.Is(t, "steps."+at+".input."+name, secretIBAN)
	}
	seen.Is(t, "steps.1.output.state", "noted")
	seen.Is(t, "steps.3.input.data", doc{"iban": "•••", "name": "Mara"}).Is(t, "steps.3.requestDigest", harness.Absent)
	seen.Is(t, "steps.6.input.data", doc{"iban": "•••"}).Is(t, "steps.6.output.data", doc{"iban": "•••"}).Is(t, "steps.6.requestDigest", harness.Absent)
	seen.Is(t, "steps.4.input.text", "ref-1").Is(t, "steps.4.requestDigest", all.At("steps.4.requestDigest"))
	w.holds(t, w.viewer, id)
	w.holds(t, w.operator, id).Is(t, "masked", false)
}

// TestAnApprovalMasksWhatWasBoundFromASensitiveField, even if its own capability has no sensitive field.
func TestAnApprovalMasksWhatWasBoundFromASensitiveField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := private(w.shop.Origin())
	asks := open("asks")
	asks["approval"] = "ALWAYS"
	p["capabilities"] = append(p["capabilities"].([]any), asks)
	w.register(t, "default-private", p)
	w.shop.On("POST", "/output", harness.Answering(200, `{"iban":"`+secretIBAN+`"}`))
	source := within("default-private", step("source", "output", doc{"card": secretCard}))
	id := w.run(t, source, within("default-private", bound("asks", "asks", "text", "source", "$")))
	approval := w.approval(t, id).At("id").Text()
	w.sees(t, id)
	w.viewer.Get("/approvals/"+approval).OK(t).Is(t, "inputSnapshot.text", "•••").Is(t, "request.body.text", "•••").Is(t, "requestDigest", harness.Absent)
	w.approver.Get("/approvals/"+approval).OK(t).Is(t, "inputSnapshot.text", secretIBAN)
	page := w.person(t, "vera@example.com", "VIEWER").Open("/approvals/" + approval).Text
	noneOf(t, page, secretIBAN, w.approver.Get("/approvals/"+approval).OK(t).At("requestDigest").Text())
}

// TestPlanningInputsThatFeedASensitiveFieldAreLeftOut: the other planning inputs of a compiled plan are shown. In a plan that was written
// by hand it is not known which ones feed a field.
func TestPlanningInputsThatFeedASensitiveFieldAreLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, "default-private", private(w.shop.Origin()))
	asked := harness.With(bindings(), "actionBindings.pay", doc{"projectId": "default-private", "capability": "body", "input": doc{"text": "t"}, "inputVariables": doc{"card": "orderId"}})
	asked = harness.With(asked, "actionBindings.check", doc{"projectId": shop, "capability": "note"})
	asked = harness.With(asked, "inputs", doc{"orderId": secretCard, "amount": 1})
	compiled := w.operator.Post(compile, asked).OK(t).Is(t, "status", "READY").Is(t, "planningInputs.orderId", secretCard)
	id := compiled.At("id").Text()
	w.viewer.Get("/plans/"+id).OK(t).Is(t, "planningInputs", doc{"amount": 1}).Is(t, "planDigest", harness.Absent).Is(t, "steps.1.input.card", "•••")
	w.operator.Get("/plans/"+id).OK(t).Is(t, "planningInputs", doc{"orderId": secretCard, "amount": 1})
	run := w.start(t, id)
	w.sees(t, run)
	w.viewer.Get("/runs/"+run).OK(t).Is(t, "planSnapshot.planningInputs", doc{"amount": 1})

	written := planOf(within("default-private", step("s", "body", doc{"card": secretCard})))
	byHand := w.ready(t, harness.With(written, "planningInputs", doc{"orderId": secretCard, "amount": 1}))
	w.viewer.Get("/plans/"+byHand).OK(t).Is(t, "planningInputs", harness.Absent)
	w.operator.Get("/plans/"+byHand).OK(t).Is(t, "planningInputs.orderId", secretCard)
	plain := w.ready(t, harness.With(planOf(step("n", "note", doc{"text": "x"})), "planningInputs", doc{"amount": 1}))
	w.viewer.Get("/plans/"+plain).OK(t).Is(t, "planningInputs", doc{"amount": 1})
}
