package console

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/server/console/web"
)

var keyInForm = regexp.MustCompile(`name="key" value="([^"]+)"`)
var reviewedInForm = regexp.MustCompile(`name="reviewed" value="([^"]+)"`)

func inPage(t *testing.T, what *regexp.Regexp, page string) string {
	t.Helper()
	m := what.FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no %s in %s", what, plainText(page))
	}
	return m[1]
}

// rejected is a run whose approval was rejected.
func (w *runWorld) rejected(suggested map[string]countersign.Value) countersign.Run {
	w.t.Helper()
	w.answer(200, `{"ok":true}`)
	id := w.start(clerk, call("a", "look"), call("b", "note", "a"))
	r := w.reaches(id, countersign.RunWaitingApproval)
	_, err := w.service.Decide(nowhere, somebody("judge@example.com", countersign.RoleApprover), r.ApprovalID, countersign.Decision{Decision: countersign.ApprovalRejected, Reason: "not so", SuggestedInput: suggested})
	w.must(err)
	return w.reaches(id, countersign.RunFailed)
}

// TestAFailedRunIsChangedAndRunAgain: the form has its inputs, the changes are shown
// before anything starts, and the new run has a key and a plan of its own.
func TestAFailedRunIsChangedAndRunAgain(t *testing.T) {
	w := openRunWorld(t)
	r := w.rejected(nil)
	g := w.guest("op@example.com", countersign.RoleOperator)
	g.shows("/runs/"+r.ID, "Change and run again")
	at := "/runs/" + r.ID + "/again"
	form := g.shows(at, "secret of a", "secret of b", "Why again")
	typed := url.Values{"key": {inPage(t, keyInForm, form)}, "do": {"review"}, "steps[0].input.text": {"secret of a"}, "steps[1].input.text": {"better"}}

	status, page := g.submit(at, typed)
	if status != http.StatusBadRequest {
		t.Errorf("without a reason: %d", status)
	}
	says(t, "without a reason", page, "Say why", "better")

	typed.Set("reason", "the note was wrong")
	_, page = g.submit(at, typed)
	says(t, "the review", page, "What changes", "b.text", "secret of b", "better", "Start the live run")
	if strings.Contains(plainText(page), "a.text") {
		t.Error("the review shows what didn't change")
	}
	typed.Set("reviewed", inPage(t, reviewedInForm, page))

	typed.Set("do", "start")
	typed.Set("steps[1].input.text", "other")
	_, page = g.submit(at, typed)
	says(t, "changed after the review", page, "What changes", "other")
	typed.Set("reviewed", inPage(t, reviewedInForm, page))

	var started string
	w.answer(200, `{"ok":true}`)
	for range 2 { // sent twice, it starts one run
		res, err := g.do(nowhere, http.MethodPost, at, withCSRF(g, typed))
		w.must(err)
		w.must(res.Body.Close())
		to := res.Header.Get("Location")
		if res.StatusCode != http.StatusSeeOther || to == web.Prefix+"/runs/"+r.ID || started != "" && to != started {
			t.Fatalf("%d to %s, before %s", res.StatusCode, to, started)
		}
		started = to
	}
	again := w.reaches(strings.TrimPrefix(started, web.Prefix+"/runs/"), countersign.RunWaitingApproval)
	if again.IdempotencyKey == r.IdempotencyKey || again.PlanID == r.PlanID || again.Reason != "the note was wrong" || again.Steps[1].Input["text"].Text() != "other" {
		t.Errorf("got %+v", again)
	}
	g.shows("/runs/"+r.ID, "Failed") // the earlier run stays
}

// TestARunOfACapabilityThatIsGoneIsNotRunAgain.
func TestARunOfACapabilityThatIsGoneIsNotRunAgain(t *testing.T) {
	w := openRunWorld(t)
	r := w.rejected(nil)
	p, err := w.service.Project(nowhere, boss, "default-shop")
	w.must(err)
	kept := countersign.ProjectWrite{Name: p.Name, Adapter: p.Adapter, Capabilities: p.Capabilities[:1], ExpectedRevision: p.Revision}
	_, err = w.service.PutProject(nowhere, boss, p.ID, kept)
	w.must(err)
	const want = "project default-shop no longer has the capability note"
	status, text := w.guest("op@example.com", countersign.RoleOperator).open("/runs/" + r.ID + "/again")
	if status != http.StatusConflict || !strings.Contains(strings.ToLower(plainText(text)), want) {
		t.Errorf("%d %s\nwant %s", status, plainText(text), want)
	}
}

// TestWhatAnApproverSuggestedStandsInTheForm.
func TestWhatAnApproverSuggestedStandsInTheForm(t *testing.T) {
	w := openRunWorld(t)
	r := w.rejected(map[string]countersign.Value{"text": countersign.String("what I would approve")})
	g := w.guest("op@example.com", countersign.RoleOperator)
	g.shows("/runs/"+r.ID+"/again", "what I would approve", "approver would approve instead", "secret of a")
}

// TestOnlyWhoMayStartIsOfferedToRunAgain.
func TestOnlyWhoMayStartIsOfferedToRunAgain(t *testing.T) {
	w := openRunWorld(t)
	r := w.rejected(nil)
	g := w.guest("reader@example.com", countersign.RoleViewer)
	if strings.Contains(g.shows("/runs/"+r.ID, "Failed"), "run again") {
		t.Error("a viewer is offered to start a run")
	}
	if status, _ := g.open("/runs/" + r.ID + "/again"); status != http.StatusForbidden {
		t.Errorf("a viewer gets the form: %d", status)
	}
}

// TestDoingAgainWhatIsDoneTakesAReason: a completed LIVE plan isn't started by one click,
// but a form that was sent twice finds its run.
func TestDoingAgainWhatIsDoneTakesAReason(t *testing.T) {
	w := openRunWorld(t)
	p, err := w.service.CreatePlan(nowhere, clerk, countersign.PlanWrite{Name: "Pay", ModelID: "m", ModelRevision: 1, Mode: countersign.ModeLive, Steps: []countersign.Step{call("a", "pay")}})
	w.must(err)
	w.answer(200, `{"ok":true}`)
	g := w.guest("op@example.com", countersign.RoleOperator)
	at := "/plans/" + p.ID
	first := url.Values{"key": {inPage(t, keyInForm, g.shows(at, "Start the live run"))}}
	res, err := g.do(nowhere, http.MethodPost, at+"/runs", withCSRF(g, first))
	w.must(err)
	w.must(res.Body.Close())
	run := res.Header.Get("Location")
	w.reaches(strings.TrimPrefix(run, web.Prefix+"/runs/"), countersign.RunCompleted)
	if status, _ := g.submit(at+"/runs", first); status != http.StatusSeeOther {
		t.Errorf("the same form twice: %d", status)
	}
	page := g.shows(at, "Completed", "run again?", "Why again")
	if strings.Contains(page, "Start the live run") {
		t.Error("one click does it again")
	}
	second := url.Values{"key": {inPage(t, keyInForm, page)}}
	status, page := g.submit(at+"/runs", second)
	if status != http.StatusBadRequest {
		t.Errorf("without a reason: %d", status)
	}
	says(t, "without a reason", page, "Say why")
	second.Set("reason", "the customer paid twice")
	if status, _ := g.submit(at+"/runs", second); status != http.StatusSeeOther {
		t.Errorf("with a reason: %d", status)
	}
}

func withCSRF(g *guest, form url.Values) url.Values {
	form.Set("csrf", access.CSRFToken(g.cookie.Value))
	return form
}
