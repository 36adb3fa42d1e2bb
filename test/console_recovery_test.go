package test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// lost makes a run of a refund and a note whose refund is uncertain.
func (w *world) lost(t *testing.T) (run string) {
	t.Helper()
	w.shop.On("POST", "/refunds", harness.Answering(500, `{}`), harness.Answering(200, `{"status":"refunded","id":"re_1"}`))
	w.shop.On("GET", "/refunds/ord-7", harness.Answering(200, `{"status":"refunded","id":"re_1","amount":129.50}`))
	refund := expecting(step("refund", "refund", doc{"orderId": "ord-7", "amount": number("129.50")}), "status", "refunded")
	run = w.run(t, refund, harness.With(step("note", "note", doc{"text": "done"}), "dependsOn", []string{"refund"}))
	w.approve(t, run)
	w.reaches(t, run, "RECOVERY_REQUIRED")
	return run
}

// foundOut is a reviewer's form for an uncertain step.
func foundOut(resolution, output string) url.Values {
	return url.Values{"resolution": {resolution}, "evidence": {"looked at the ledger"}, "output": {output}}
}

func TestOpeningAnUncertainRunDecidesNothingAndSendsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	run := w.lost(t)
	mustSay(t, mara.Open("/recovery"), 200, "refund", "Recovery required", run)
	p := mara.Open("/recovery/" + run)
	mustSay(t, p, 200, "“refund” may or may not have been done.", "Approved by token", "Sent once", "500", "outcome_unknown", "Probe", "It happened", "It did not happen", "Give up without knowing", "no answer yet")
	mustNotHold(t, p, "required checked")
	for _, link := range pageLinks.FindAllStringSubmatch(p.Text, -1) {
		mara.Open(html.UnescapeString(link[1]))
	}
	mara.Open("/recovery/" + run + "/probe?stepId=refund")
	mara.Open("/recovery/" + run + "/reconcile?resolution=ABANDON&evidence=e")
	w.viewer.Get("/runs/"+run).OK(t).Is(t, "status", "RECOVERY_REQUIRED").Is(t, "steps.0.probes", harness.Absent)
	if n := len(w.shop.Seen("GET", "/refunds/ord-7")); n != 0 {
		t.Errorf("%d probes were sent", n)
	}
}

func TestAProbeIsShownAndFillsTheOutputOfAResolution(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	run := w.lost(t)
	p := submitted(t, mara, mara.Open("/recovery/"+run), "/recovery/"+run+"/probe", url.Values{"stepId": {"refund"}})
	if p.URL.Path != "/console/recovery/"+run {
		t.Errorf("it leads to %s", p.URL)
	}
	mustSay(t, p, 200, "Probe 1 asked, read only", "By mara@example.com", "Probe again", "129.50 as sent", "Taken from probe 1.")
	mustNotHold(t, p, "required checked")
	filled := mara.Open("/recovery/" + run + "?output=probe-1")
	output := `{"status":"refunded","id":"re_1","amount":129.50}`
	mustSay(t, filled, 200, "Taken from probe 1.")
	if !strings.Contains(html.UnescapeString(filled.Text), ">"+output+"</textarea>") {
		t.Errorf("the output isn't filled:\n%s", filled.Text)
	}
	done := submitted(t, mara, filled, "/recovery/"+run+"/reconcile", foundOut("CONFIRMED_COMPLETED", output))
	if done.URL.Path != "/console/runs/"+run {
		t.Errorf("it leads to %s: %d", done.URL, done.Status)
	}
	w.reaches(t, run, "COMPLETED").Is(t, "steps.0.output.amount", number("129.50")).Is(t, "steps.0.reconciliation.by", "user:mara@example.com").Is(t, "steps.0.reconciliation.evidence", "looked at the ledger")
	mustSay(t, mara.Open("/recovery/"+run), 200, "mara@example.com recorded: it happened.", "looked at the ledger")
	mustSay(t, mara.Open("/recovery"), 200, "Nothing is uncertain.")
}

func TestAProbeThatIsNotAsExpectedFillsNothing(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"another status": `{"status":"pending","amount":129.50}`, "another amount than was sent": `{"status":"refunded","amount":12.95}`, "no status": `{"amount":129.50}`,
	} {
		w := newWorld(t)
		mara := w.person(t, "mara@example.com", "APPROVER")
		run := w.lost(t)
		w.shop.On("GET", "/refunds/ord-7", harness.Answering(200, answer))
		p := submitted(t, mara, mara.Open("/recovery/"+run), "/recovery/"+run+"/probe", url.Values{"stepId": {"refund"}})
		mustSay(t, p, 200, "Probe 1 asked, read only")
		if strings.Contains(p.Text, "Taken from") || !strings.Contains(p.Text, `></textarea>`) {
			t.Errorf("%s fills the output", name)
		}
	}
}

// TestWhatContradictsTheRequestTakesATick: the comparison stands above the button, and a tick
// holds for these differences alone.
func TestWhatContradictsTheRequestTakesATick(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	run := w.lost(t)
	w.shop.On("GET", "/refunds/ord-7", harness.Answering(200, `{"status":"refunded","amount":12.95,"orderId":"ord-7"}`))
	page := submitted(t, mara, mara.Open("/recovery/"+run), "/recovery/"+run+"/probe", url.Values{"stepId": {"refund"}})
	mustSay(t, page, 200, "probe 1, where amount differs from what was sent")
	filled := mara.Open("/recovery/" + run + "?output=probe-1")
	mustSay(t, filled, 200, "1 of 2 differs from what was sent: amount 12.95, sent 129.50.", "I know that amount differs")
	form := foundOut("CONFIRMED_COMPLETED", `{"status":"refunded","amount":12.95,"orderId":"ord-7"}`)
	refused := submitted(t, mara, filled, "/recovery/"+run+"/reconcile", form)
	mustSay(t, refused, 400, "1 of 2 differs from what was sent", "Not recorded: what you state differs from what was sent.", "looked at the ledger")
	form.Set("differs", tickOf(t, refused))
	form.Set("output", `{"status":"refunded","amount":1295,"orderId":"ord-7"}`)
	mustSay(t, submitted(t, mara, refused, "/recovery/"+run+"/reconcile", form), 400, "amount 1295, sent 129.50", "Not recorded")
	w.viewer.Get("/runs/"+run).OK(t).Is(t, "status", "RECOVERY_REQUIRED")
	form.Set("output", `{"status":"refunded","amount":12.95,"orderId":"ord-7"}`)
	submitted(t, mara, refused, "/recovery/"+run+"/reconcile", form)
	w.reaches(t, run, "COMPLETED").Is(t, "steps.0.output.amount", number("12.95"))
}

// TestTheAPITakesWhatContradictsTheRequest: an integrator asks their own questions.
func TestTheAPITakesWhatContradictsTheRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.lost(t)
	w.approver.Post("/runs/"+run+"/reconcile", doc{"resolution": "CONFIRMED_COMPLETED", "evidence": "the ledger", "output": doc{"status": "refunded", "amount": 1}}).OK(t)
	w.reaches(t, run, "COMPLETED")
}

var tickValue = regexp.MustCompile(`name="differs" value="([^"]+)"`)

func tickOf(t *testing.T, p *harness.Page) string {
	t.Helper()
	found := tickValue.FindStringSubmatch(p.Text)
	if found == nil {
		t.Fatalf("there is nothing to tick:\n%s", pageWords(p))
	}
	return found[1]
}

// TestProbingAndFillingKeepWhatWasTyped: the page's own way leads through both.
func TestProbingAndFillingKeepWhatWasTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	run := w.lost(t)
	typed := url.Values{"stepId": {"refund"}, "resolution": {"CONFIRMED_COMPLETED"}, "evidence": {"the ledger says so"}, "output": {""}}
	page := submitted(t, mara, mara.Open("/recovery/"+run), "/recovery/"+run+"/probe", typed)
	kept := []string{`value="CONFIRMED_COMPLETED" required checked`, ">the ledger says so</textarea>"}
	mustSay(t, page, 200, "Probe 1 asked, read only")
	mustHold(t, page, kept...)
	typed.Set("fill", "probe-1")
	page = submitted(t, mara, page, "/recovery/"+run+"/fill", typed)
	mustSay(t, page, 200, "Taken from probe 1.")
	mustHold(t, page, kept...)
	w.viewer.Get("/runs/"+run).OK(t).Is(t, "status", "RECOVERY_REQUIRED")
}

func TestWhatDidNotHappenIsAskedForAndSentAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	run := w.lost(t)
	w.shop.MayRepeat(run + ".refund")
	p := mara.Open("/recovery/" + run)
	mustSay(t, p, 200, "The step asks for approval again, then sends the same request under the same key.")
	submitted(t, mara, p, "/recovery/"+run+"/reconcile", foundOut("CONFIRMED_NOT_EXECUTED", "{not looked at"))
	w.approve(t, run)
	w.reaches(t, run, "COMPLETED").Is(t, "steps.0.attempt", 2)
}

func TestGivingUpCancelsTheRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	run := w.lost(t)
	submitted(t, mara, mara.Open("/recovery/"+run), "/recovery/"+run+"/reconcile", foundOut("ABANDON", ""))
	w.reaches(t, run, "CANCELLED").Is(t, "steps.0.status", "ABANDONED")
	late := submitted(t, mara, mara.Open("/recovery/"+run), "/recovery/"+run+"/reconcile", foundOut("ABANDON", ""))
	mustSay(t, late, 409, "mara@example.com recorded this", "Nothing was sent twice.", "looked at the ledger")
}

func TestARefusedResolutionKeepsWhatIsTypedAndChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	run := w.lost(t)
	p := mara.Open("/recovery/" + run)
	for name, c := range map[string]struct {
		typed  url.Values
		status int
		words  []string
		marked string
	}{
		"no choice":       {url.Values{"evidence": {"saw it"}, "output": {`{"a":1}`}}, 400, []string{"Choose what happened.", "saw it", `{"a":1}`}, `name="resolution" value="CONFIRMED_COMPLETED" required aria-invalid="true"`},
		"unknown choice":  {url.Values{"resolution": {"DONE"}, "evidence": {"saw it"}}, 400, []string{"Choose what happened.", "saw it"}, "res-e"},
		"blank evidence":  {url.Values{"resolution": {"ABANDON"}, "evidence": {" \n"}, "output": {"{}"}}, 400, []string{"Every resolution needs evidence."}, `id="ev" name="evidence" rows="1" required maxlength="10000" placeholder="What you checked, and where" aria-invalid="true"`},
		"no JSON":         {url.Values{"resolution": {"CONFIRMED_COMPLETED"}, "evidence": {"saw it"}, "output": {"{status: refunded"}}, 400, []string{"Not a JSON object:", "saw it", "{status: refunded"}, `aria-describedby="out-e out-h"`},
		"no object":       {url.Values{"resolution": {"CONFIRMED_COMPLETED"}, "evidence": {"saw it"}, "output": {`["refunded"]`}}, 400, []string{"Not a JSON object:", "saw it"}, `aria-describedby="out-e out-h"`},
		"twice the key":   {url.Values{"resolution": {"CONFIRMED_COMPLETED"}, "evidence": {"saw it"}, "output": {`{"status":"refunded","status":"x"}`}}, 400, []string{"Not a JSON object:"}, "out-e"},
		"not as expected": {url.Values{"resolution": {"CONFIRMED_COMPLETED"}, "evidence": {"saw it"}, "output": {`{"status":"pending"}`}}, 409, []string{`status is "pending", expected "refunded"`, "Nothing was changed.", "saw it", `{"status":"pending"}`}, `aria-describedby="out-e out-h"`},
		"nothing given":   {url.Values{"resolution": {"CONFIRMED_COMPLETED"}, "evidence": {"saw it"}}, 409, []string{"the output has no field status", "saw it"}, "out-e"},
	} {
		t.Run(name, func(t *testing.T) {
			again := submitted(t, mara, p, "/recovery/"+run+"/reconcile", c.typed)
			mustSay(t, again, c.status, c.words...)
			if !strings.Contains(again.Text, c.marked) {
				t.Errorf("%q isn't there", c.marked)
			}
			if chosen := c.typed.Get("resolution"); chosen != "" && chosen != "DONE" && !strings.Contains(again.Text, `value="`+chosen+`" required checked`) {
				t.Errorf("the choice of %s is lost", chosen)
			}
		})
	}
	w.viewer.Get("/runs/"+run).OK(t).Is(t, "status", "RECOVERY_REQUIRED").Is(t, "steps.0.reconciliation", harness.Absent)
}

func TestWhoAskedForARunNeitherProbesNorResolvesIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ines, vera := w.person(t, "ines@example.com", "OPERATOR", "APPROVER"), w.person(t, "vera@example.com", "VIEWER")
	w.shop.On("POST", "/refunds", harness.Answering(500, `{}`))
	plan := w.ready(t, planOf(step("refund", "refund", doc{"orderId": "ord-7"})))
	run := w.As("").Post("/runs", doc{"planId": plan}, key(), ines.Cookie(), w.csrf(t, ines)).OK(t).At("id").Text()
	w.approve(t, run)
	w.reaches(t, run, "RECOVERY_REQUIRED")
	for _, c := range []struct {
		who  *harness.Browser
		says string
		code string
	}{
		{ines, "You requested this run, so someone else must decide.", "self_approval"},
		{vera, "This needs the role APPROVER; you have VIEWER.", "role_required"},
	} {
		p := c.who.Open("/recovery/" + run)
		mustSay(t, p, 200, c.says)
		mustNotHold(t, p, "/reconcile", "/probe", `type="radio"`)
		mustSay(t, submitted(t, c.who, p, "/recovery/"+run+"/probe", url.Values{"stepId": {"refund"}}), 403, c.code)
		mustSay(t, submitted(t, c.who, p, "/recovery/"+run+"/reconcile", foundOut("ABANDON", "")), 403, c.code, "looked at the ledger")
	}
	w.viewer.Get("/runs/"+run).OK(t).Is(t, "status", "RECOVERY_REQUIRED").Is(t, "steps.0.probes", harness.Absent)
}

func TestAViewerSeesTheEvidenceMasked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, "default-private", private(w.shop.Origin()))
	vera, mara := w.person(t, "vera@example.com", "VIEWER"), w.person(t, "mara@example.com", "APPROVER")
	w.shop.On("POST", "/lost", harness.Answering(500, `{}`))
	w.shop.On("GET", "/cards/"+secretCard+"/info", harness.Answering(200, `{"iban":"`+secretIBAN+`","state":"paid"}`))
	run := w.run(t, expecting(harness.With(step("s", "lost", doc{"card": secretCard}), "projectId", "default-private"), "iban", secretIBAN))
	w.reaches(t, run, "RECOVERY_REQUIRED")
	w.approver.Post("/runs/"+run+"/probe", doc{"stepId": "s"}).OK(t)
	mustSay(t, mara.Open("/recovery/"+run), 200, secretIBAN, secretCard)
	for _, path := range []string{"/recovery/" + run, "/recovery/" + run + "?output=probe-1", "/recovery"} {
		mustNotHold(t, vera.Open(path), "hidden-", "textarea", "as expected")
	}
	mustSay(t, vera.Open("/recovery/"+run), 200, `"paid"`, "•••")
}

func TestACancelledRunSaysThatEveryResolutionEndsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	gate := make(chan struct{})
	w.shop.On("POST", "/effect", harness.After(gate, harness.Answering(200, `{"id":"r-1"}`)))
	run := w.run(t, step("effect", "effect", nil), step("note", "note", nil))
	w.shop.Await(t, "POST", "/effect", 1)
	w.operator.Post("/runs/"+run+"/cancel", doc{"reason": "wrong order"}).OK(t)
	w.reaches(t, run, "RECOVERY_REQUIRED")
	mustSay(t, mara.Open("/recovery/"+run), 200, "Cancelled, but “effect” was already in progress.", "Either way, the run ends cancelled", "The answer may still arrive")
	mustNotHold(t, mara.Open("/recovery/"+run), "/reconcile", `type="radio"`)
	close(gate)
	harness.Until(t, "the late answer", func() bool { return w.viewer.Get("/runs/"+run).OK(t).At("steps.0.late.at").Text() != "" })
	late := mara.Open("/recovery/" + run + "?output=late")
	mustSay(t, late, 200, "The step and the run end cancelled. Nothing is sent.", "A late answer arrived", "It decides nothing by itself.", "Taken from the late answer.")
	submitted(t, mara, late, "/recovery/"+run+"/reconcile", foundOut("CONFIRMED_COMPLETED", `{"id":"r-1"}`))
	w.reaches(t, run, "CANCELLED").Is(t, "steps.0.status", "COMPLETED")
}

func TestAResolutionFromAnotherPageIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	run := w.lost(t)
	mustSay(t, mara.Submit("/recovery/"+run+"/reconcile", foundOut("ABANDON", "")), 403, "Nothing was changed.")
	mustSay(t, mara.Submit("/recovery/"+run+"/probe", url.Values{"stepId": {"refund"}}), 403, "Nothing was changed.")
	w.viewer.Get("/runs/"+run).OK(t).Is(t, "status", "RECOVERY_REQUIRED").Is(t, "steps.0.probes", harness.Absent)
}

func TestARunThatWasNeverUncertainHasNothingToResolve(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	mustSay(t, mara.Open("/recovery/"+w.run(t, step("n", "note", nil))), 404, "Page not found")
	mustSay(t, mara.Open("/recovery/none"), 404)
}

func TestPagesOfALongRunStaySmall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	w.shop.On("POST", "/refunds", harness.Answering(500, `{}`))
	steps := []doc{step("s-0", "refund", doc{"orderId": "ord-7"})}
	for i := range 99 {
		steps = append(steps, step("s-"+strings.Repeat("x", 90)+"-"+string(rune('a'+i/26))+string(rune('a'+i%26)), "note", doc{"text": strings.Repeat("y", 500)}))
	}
	approval, run := w.decidable(t, steps...)
	for _, path := range []string{"/approvals/" + approval, "/recovery/" + run} {
		if path == "/recovery/"+run {
			w.approve(t, run)
			w.reaches(t, run, "RECOVERY_REQUIRED")
		}
		p := mara.Open(path)
		mustSay(t, p, 200, "of 100")
		if len(p.Text) > 150<<10 {
			t.Errorf("%s has %d bytes", path, len(p.Text))
		}
	}
}
