package test

import (
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

var pageToken = regexp.MustCompile(`name="csrf" value="([0-9a-f]+)"`)

// submitted submits a form of a page as a browser would: with the page's CSRF token and the typed fields.
func submitted(t *testing.T, b *harness.Browser, on *harness.Page, path string, typed url.Values) *harness.Page {
	t.Helper()
	token := pageToken.FindStringSubmatch(on.Text)
	if token == nil {
		t.Fatalf("%s has no form: %d\n%s", on.URL, on.Status, on.Text)
	}
	form := url.Values{"csrf": {token[1]}}
	for name, values := range typed {
		form[name] = values
	}
	return b.Submit(path, form)
}

// mustSay checks a page's status, and words in its text without tags.
func mustSay(t *testing.T, p *harness.Page, status int, words ...string) {
	t.Helper()
	text := pageWords(p)
	if p.Status != status {
		t.Fatalf("%s is %d, expected %d:\n%s", p.URL, p.Status, status, text)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s doesn't say %q:\n%s", p.URL, w, text)
		}
	}
}

// mustHold checks that a page's source contains all of the words.
func mustHold(t *testing.T, p *harness.Page, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(p.Text, w) {
			t.Errorf("%s doesn't hold %q", p.URL, w)
		}
	}
}

// mustNotHold checks that a page's source contains none of the words.
func mustNotHold(t *testing.T, p *harness.Page, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(p.Text, w) {
			t.Errorf("%s holds %q", p.URL, w)
		}
	}
}

var pageTags = regexp.MustCompile(`<[^>]*>`)

// pageWords is the visible text of a page.
func pageWords(p *harness.Page) string {
	text := html.UnescapeString(pageTags.ReplaceAllString(p.Text, ""))
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\u00a0", " ")), " ")
}

var pageLinks = regexp.MustCompile(`href="/console(/[^"]*)"`)

// decidable starts a run that waits for an approval, and returns both ids.
func (w *world) decidable(t *testing.T, steps ...doc) (approval, run string) {
	t.Helper()
	if len(steps) == 0 {
		steps = []doc{step("r", "refund", doc{"orderId": "ord-7", "amount": number("249.00")}), step("n", "note", nil)}
	}
	run = w.run(t, steps...)
	return w.approval(t, run).At("id").Text(), run
}

func TestOpeningAnApprovalAndFollowingItsLinksDecidesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER", "ADMIN")
	approval, run := w.decidable(t)
	p := mara.Open("/approvals/" + approval)
	mustSay(t, p, 200, "Waiting for your decision.", "What will be sent", "249.00", "sha256:", "Approve and send")
	for _, path := range []string{"/approvals", "/approvals?status=all", "/approvals/" + approval + "?decision=APPROVED&reason=r", "/approvals/" + approval + "/decision?decision=APPROVED&reason=r"} {
		mara.Open(path)
	}
	for _, link := range pageLinks.FindAllStringSubmatch(p.Text, -1) {
		mara.Open(html.UnescapeString(link[1]))
	}
	w.viewer.Get("/approvals/"+approval).OK(t).Is(t, "status", "PENDING")
	w.viewer.Get("/runs/"+run).OK(t).Is(t, "status", "WAITING_APPROVAL")
}

func TestTheInboxListsWhatWaitsAndTheFilterTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	mustSay(t, mara.Open("/approvals"), 200, "Nothing is waiting for you.", "Approvals appear here when a plan is about to change something.")
	decided, _ := w.decidable(t)
	w.approver.Post("/approvals/"+decided+"/decision", doc{"decision": "REJECTED", "reason": "no"}).OK(t)
	waiting, _ := w.decidable(t)
	for path, shown := range map[string][]bool{"/approvals": {true, false}, "/approvals?status=REJECTED": {false, true}, "/approvals?status=all": {true, true}, "/approvals?status=nonsense": {true, false}} {
		p := mara.Open(path)
		for i, id := range []string{waiting, decided} {
			if got := strings.Contains(p.Text, "/console/approvals/"+id+`"`); p.Status != 200 || got != shown[i] {
				t.Errorf("%s shows %s: %v", path, id, got)
			}
		}
	}
	mustSay(t, mara.Open("/approvals?status=APPROVED"), 200, "Nothing matches.")
}

func TestADecisionNeedsAReasonAndKeepsWhatIsTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	approval, run := w.decidable(t)
	p := mara.Open("/approvals/" + approval)
	_, form, _ := strings.Cut(p.Text, `/decision`)
	form, _, _ = strings.Cut(form, "</form>")
	if strings.Count(form, "<input") != strings.Count(form, `<input type="hidden"`) || strings.Contains(form, "checked") {
		t.Errorf("the form has a field that Enter sends, or a preset choice:\n%s", form)
	}
	for _, reason := range []string{"", " \r\n\t"} {
		again := submitted(t, mara, p, "/approvals/"+approval+"/decision", url.Values{"decision": {"APPROVED"}, "reason": {reason}})
		mustSay(t, again, 400, "Say why. Both decisions need a reason.")
		if !strings.Contains(again.Text, `aria-invalid="true" aria-describedby="why-e why-h"`) {
			t.Error("the field isn't marked")
		}
	}
	for _, decision := range []string{"", "PENDING", "approved"} {
		again := submitted(t, mara, p, "/approvals/"+approval+"/decision", url.Values{"decision": {decision}, "reason": {"it is <right>"}})
		mustSay(t, again, 400, "Press Approve or Reject.", "it is <right>")
	}
	w.viewer.Get("/approvals/"+approval).OK(t).Is(t, "status", "PENDING")
	done := submitted(t, mara, p, "/approvals/"+approval+"/decision", url.Values{"decision": {"REJECTED"}, "reason": {"too much"}})
	if done.URL.Path != "/console/runs/"+run {
		t.Errorf("it leads to %s", done.URL)
	}
	w.reaches(t, run, "FAILED").Has(t, "error", "too much")
	mustSay(t, mara.Open("/approvals/"+approval), 200, "mara@example.com rejected it.", "too much", "sha256:")
}

func TestTheSecondOfTwoWhoDecideSeesWhoDecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara, jonas := w.person(t, "mara@example.com", "APPROVER"), w.person(t, "jonas@example.com", "APPROVER")
	approval, run := w.decidable(t)
	hers, his := mara.Open("/approvals/"+approval), jonas.Open("/approvals/"+approval)
	submitted(t, mara, hers, "/approvals/"+approval+"/decision", url.Values{"decision": {"APPROVED"}, "reason": {"returned goods"}})
	late := submitted(t, jonas, his, "/approvals/"+approval+"/decision", url.Values{"decision": {"REJECTED"}, "reason": {"I doubt it"}})
	mustSay(t, late, 409, "mara@example.com decided this", ": approved. Nothing was sent twice.", "state_conflict", "I doubt it", "returned goods")
	mustNotHold(t, late, `value="APPROVED"`)
	w.reaches(t, run, "COMPLETED")
	if n := len(w.shop.Seen("POST", "/refunds")); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
	twice := submitted(t, mara, hers, "/approvals/"+approval+"/decision", url.Values{"decision": {"APPROVED"}, "reason": {"again"}}) // her second tab
	mustSay(t, twice, 409, "Nothing was sent twice.", "again")
}

func TestWhoAskedForARunOrOnlyViewsSeesNoButtons(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ines, vera := w.person(t, "ines@example.com", "OPERATOR", "APPROVER"), w.person(t, "vera@example.com", "VIEWER")
	plan := w.ready(t, planOf(step("r", "refund", doc{"orderId": "o"})))
	run := w.As("").Post("/runs", doc{"planId": plan}, key(), ines.Cookie(), w.csrf(t, ines)).OK(t).At("id").Text()
	approval := w.approval(t, run).At("id").Text()
	for _, c := range []struct {
		who            *harness.Browser
		words, refused string
	}{
		{ines, "You requested this run, so someone else must decide.", "self_approval"},
		{vera, "Your role can’t decide.", "role_required"},
	} {
		p := c.who.Open("/approvals/" + approval)
		mustSay(t, p, 200, "Waiting for an approver’s decision.", c.words)
		mustNotHold(t, p, `value="APPROVED"`, `value="REJECTED"`, "/decision")
		forged := submitted(t, c.who, p, "/approvals/"+approval+"/decision", url.Values{"decision": {"APPROVED"}, "reason": {"mine"}})
		mustSay(t, forged, 403, c.refused, "mine")
	}
	w.viewer.Get("/approvals/"+approval).OK(t).Is(t, "status", "PENDING")
	refused := w.tenantAdmin.Get("/audit?action=approvals.decide").OK(t).At("items").Items()
	if len(refused) != 2 {
		t.Errorf("%d refusals are recorded", len(refused))
	}
}

func TestADecisionAfterItsTimeSaysThatNothingWasSent(t *testing.T) {
	t.Parallel()
	for _, ttl := range []string{"1s", "10s", "1m"} {
		if decidesLate(t, ttl) {
			return
		}
		t.Logf("an approval could not be looked at in %s; once more with longer", ttl)
	}
	t.Fatal("no approval was looked at in time")
}

// decidesLate submits the decision of a page that was opened in time. It returns false if the machine was too slow to open the page
// before the approval expired.
func decidesLate(t *testing.T, ttl string) bool {
	t.Helper()
	w := newWorld(t, harness.Set("APPROVAL_TTL", ttl))
	mara := w.person(t, "mara@example.com", "APPROVER")
	run := w.run(t, step("r", "refund", doc{"orderId": "ord-7", "amount": number("249.00")}))
	approval := w.asksOnce(t, run, "")
	p := mara.Open("/approvals/" + approval)
	if w.viewer.Get("/approvals/"+approval).OK(t).At("status").Text() != "PENDING" {
		return false
	}
	w.reaches(t, run, "FAILED")
	late := submitted(t, mara, p, "/approvals/"+approval+"/decision", url.Values{"decision": {"APPROVED"}, "reason": {"was away"}})
	mustSay(t, late, 409, "The time for this decision is over. Nothing was sent.", "approval_expired", "Nobody decided in time, so the system rejected it.", "was away")
	if n := len(w.shop.Seen("POST", "/refunds")); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
	return true
}

func TestAViewerSeesSensitiveFieldsMaskedOnAnApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, "default-private", private(w.shop.Origin()))
	vera, mara := w.person(t, "vera@example.com", "VIEWER"), w.person(t, "mara@example.com", "APPROVER")
	of := func(card string) doc {
		return harness.With(step("s", "body", doc{"card": card, "text": "shown"}), "projectId", "default-private")
	}
	_, earlier := w.decidable(t, of("4710-hidden-0"))
	w.approve(t, earlier)
	approval, _ := w.decidable(t, of(secretCard))
	mustSay(t, mara.Open("/approvals/"+approval), 200, secretCard, "4710-hidden-0")
	for _, path := range []string{"/approvals/" + approval, "/approvals?status=all"} {
		p := vera.Open(path)
		mustSay(t, p, 200)
		mustNotHold(t, p, "hidden-")
	}
	mustSay(t, vera.Open("/approvals/"+approval), 200, "Not shown to you: card", "Unchanged: destination, text")
}

func TestAnApprovalShowsWhatChangedSinceTheLastApprovedOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	first, run := w.decidable(t, step("r", "refund", doc{"orderId": "ord-1", "amount": number("89.90")}))
	mustSay(t, mara.Open("/approvals/"+first), 200, "there is nothing to compare with")
	w.approve(t, run)
	rejected, _ := w.decidable(t, step("r", "refund", doc{"orderId": "ord-2", "amount": 1}))
	w.approver.Post("/approvals/"+rejected+"/decision", doc{"decision": "REJECTED", "reason": "no"}).OK(t)
	now, _ := w.decidable(t, step("l", "lookup", doc{"resourceId": "ord-1"}), harness.With(step("r", "refund", doc{"orderId": "ord-1", "amount": number("249.00")}), "dependsOn", []string{"l"}))
	p := mara.Open("/approvals/" + now)
	mustSay(t, p, 200, "Compared with "+first+" of run "+run, "amount89.90249.00", "Unchanged: destination, orderId", "What led here", "1. l", "2. r")
	if !slices.ContainsFunc(pageLinks.FindAllStringSubmatch(p.Text, -1), func(l []string) bool { return l[1] == "/approvals/"+first }) {
		t.Error("it doesn't lead to the one that it is compared with")
	}
}

func TestApprovalsLeadToTheirNeighboursInTheInbox(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	a, _ := w.decidable(t)
	b, _ := w.decidable(t)
	c, _ := w.decidable(t)
	mustSay(t, mara.Open("/approvals/"+b), 200, "2 of 3")
	for id, want := range map[string][]bool{a: {false, true}, b: {true, true}, c: {true, false}} {
		text := mara.Open("/approvals/" + id).Text
		if strings.Contains(text, " data-prev") != want[0] || strings.Contains(text, " data-next") != want[1] {
			t.Errorf("%s: %v", id, want)
		}
	}
	if text := mara.Open("/approvals/" + b).Text; !strings.Contains(text, `href="/console/approvals/`+a+`" rel="prev"`) || !strings.Contains(text, `href="/console/approvals/`+c+`" rel="next"`) {
		t.Error("the neighbours are others")
	}
}

func TestADecisionFromAnotherPageIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara, jonas := w.person(t, "mara@example.com", "APPROVER"), w.person(t, "jonas@example.com", "APPROVER")
	approval, run := w.decidable(t)
	his := jonas.Open("/approvals/" + approval)
	typed := url.Values{"decision": {"APPROVED"}, "reason": {"planted"}}
	mustSay(t, mara.Submit("/approvals/"+approval+"/decision", typed), 403, "This form could not be accepted. Nothing was changed.")
	mustSay(t, submitted(t, mara, his, "/approvals/"+approval+"/decision", typed), 403, "This form could not be accepted.", "planted")
	w.viewer.Get("/runs/"+run).OK(t).Is(t, "status", "WAITING_APPROVAL")
}
