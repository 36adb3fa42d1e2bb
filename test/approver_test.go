package test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// titled is a project whose capability `pay` has a title, and a sensitive input.
func titled(origin string) doc {
	in := doc{"to": harness.Input("object", true), "amount": harness.Input("number", true), "memo": harness.Input("string", false), "card": harness.Input("string", false)}
	return harness.With(harness.Project(origin), "capabilities", []any{
		harness.Capability("pay", "POST", "/pay", doc{"inputSchema": in, "sensitive": []string{"card"}, "title": "Pay {amount} to {to.name}{memo} by {card}"}),
		harness.Capability("say", "POST", "/say", nil),
	})
}

func payment(id, name, amount string) doc {
	return harness.With(step(id, "pay", doc{"to": doc{"name": name}, "amount": number(amount), "card": "card-7"}), "projectId", "default-titled")
}

// telling is a step that sends a given body after an approval.
func telling(id string, body doc) doc {
	return harness.With(step(id, "say", body), "projectId", "default-titled")
}

// newTitledWorld is a world with that project.
func newTitledWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.register(t, "default-titled", titled(w.shop.Origin()))
	return w
}

// TestAnApproverSeesEveryPartOfALongBodyBeforeTheDecision: the form is on the page of the last part, and the service accepts
// it from no earlier page.
func TestAnApproverSeesEveryPartOfALongBodyBeforeTheDecision(t *testing.T) {
	t.Parallel()
	w := newTitledWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	filler := strings.Repeat("0123456789abcdef", 5<<10) // 80 KiB
	approval, run := w.decidable(t, telling("r", doc{"text": "BEGIN" + filler + "END-OF-IT"}))
	path := "/approvals/" + approval
	first := mara.Open(path)
	mustSay(t, first, 200, "BEGIN", "in 2 parts", "Part 2")
	mustNotHold(t, first, "END-OF-IT", "/decision", `value="APPROVED"`)
	if again := submitted(t, mara, first, path+"/decision", url.Values{"decision": {"APPROVED"}, "reason": {"unread"}}); again.Status != 409 {
		t.Errorf("an unread body was decided: %d", again.Status)
	}
	w.viewer.Get(path).OK(t).Is(t, "status", "PENDING")
	other, _ := w.decidable(t, telling("s", doc{"text": "BEGIN" + filler + "END-OF-IT"}))
	submitted(t, mara, first, "/approvals/"+other+"/decision", url.Values{"decision": {"REJECTED"}, "reason": {"its beginning is wrong"}})
	w.viewer.Get("/approvals/"+other).OK(t).Is(t, "status", "REJECTED")
	link := regexp.MustCompile(`href="/console(/approvals/[^"]*part=2)[^"]*"`).FindStringSubmatch(first.Text)
	if link == nil {
		t.Fatal("no link leads to part 2")
	}
	last := mara.Open(link[1])
	mustSay(t, last, 200, "END-OF-IT", "Approve and send")
	seen := regexp.MustCompile(`name="seen" value="([0-9a-f]+)"`).FindStringSubmatch(last.Text)
	if seen == nil {
		t.Fatal("the last part has no form")
	}
	blank := submitted(t, mara, last, path+"/decision", url.Values{"decision": {"APPROVED"}, "seen": {seen[1]}})
	mustSay(t, blank, 400, "Say why.", "END-OF-IT", "Approve and send")
	submitted(t, mara, last, path+"/decision", url.Values{"decision": {"APPROVED"}, "reason": {"read"}, "seen": {seen[1]}})
	w.viewer.Get(path).OK(t).Is(t, "status", "APPROVED")
	w.reaches(t, run, "COMPLETED")
}

// TestABodyOfManyFieldsStandsUnfoldedOnOnePage: earlier, some kilobytes were cut.
func TestABodyOfManyFieldsStandsUnfoldedOnOnePage(t *testing.T) {
	t.Parallel()
	w := newTitledWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	approval, _ := w.decidable(t, telling("r", doc{"text": strings.Repeat("0123456789abcdef", 3<<10) + "THE-END"}))
	p := mara.Open("/approvals/" + approval)
	mustSay(t, p, 200, "THE-END", "Approve and send")
	mustNotHold(t, p, "<details>", "the API shows")
}

func TestWhatHidesInARequestIsWrittenOutWhereverItIsShown(t *testing.T) {
	t.Parallel()
	w := newTitledWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	const evil = "pay\u202e001\u200b p\u0430ypal zu\u0308rich שלום"
	approval, run := w.decidable(t, harness.With(telling("r", doc{"text": evil}), "name", evil))
	for _, path := range []string{"/approvals/" + approval, "/approvals", "/runs/" + run, "/runs", "/"} {
		p := mara.Open(path)
		mustNotHold(t, p, "\u202e", "\u200b")
		if path != "/approvals" && path != "/runs" && !strings.Contains(p.Text, `\u202e001\u200b`) {
			t.Errorf("%s doesn't write it out", path)
		}
	}
	p := mara.Open("/approvals/" + approval)
	if !strings.Contains(p.Text, `<bdi class="s">`) || !strings.Contains(p.Text, `<span class="doubt">mixes scripts: “`+"\u0430"+`” is Cyrillic (U+0430), looks like a, not NFC</span>`) {
		t.Errorf("not isolated, or not marked:\n%s", p.Text)
	}
}

// TestTheFieldsOfAQueryAreReadable: in the address they are encoded.
func TestTheFieldsOfAQueryAreReadable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	approval, _ := w.decidable(t, step("g", "guarded", doc{"q": "p\u0430y\u202e"}))
	p := mara.Open("/approvals/" + approval)
	mustSay(t, p, 200, "Approve and send", `"p`+"\u0430"+`y\u202e" mixes scripts: “`+"\u0430"+`” is Cyrillic (U+0430), looks like a`)
	bare, _ := w.decidable(t, step("g", "guarded", nil))
	mustSay(t, mara.Open("/approvals/"+bare), 200, "no body", "Approve and send")
}

func TestATitleIsFilledFromWhatWillBeSent(t *testing.T) {
	t.Parallel()
	w := newTitledWorld(t)
	approval, run := w.decidable(t, payment("p", "Ada", "129.50"))
	got := w.approver.Get("/approvals/"+approval).OK(t).Is(t, "title", "Pay 129.50 to Ada by card-7")
	if got.At("requestedByName").Text() != "test" || got.At("decidedByName").Text() != "" {
		t.Error(got)
	}
	w.viewer.Get("/approvals/"+approval).OK(t).Is(t, "title", "Pay 129.50 to Ada by •••")
	mara := w.person(t, "mara@example.com", "APPROVER")
	mustSay(t, mara.Open("/approvals/"+approval), 200, "Pay 129.50 to Ada by card-7", "“test”")
	decided := w.approver.Post("/approvals/"+approval+"/decision", approved).OK(t)
	decided.Is(t, "decidedByName", "test").Is(t, "requestedByName", "test")
	w.viewer.Get("/runs/"+run).OK(t).Is(t, "requestedByName", "test")

	long, _ := w.decidable(t, payment("p", strings.Repeat("ü", 300), "1"))
	if n := len([]rune(w.approver.Get("/approvals/" + long).OK(t).At("title").Text())); n != 200 {
		t.Errorf("a title of %d characters", n)
	}
}

func TestAPlaceOfATitleThatNamesNoInputIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, title := range []string{"Pay {amout}", "Pay {to", "Pay {}", "{x.y}", "Pay }"} {
		p := titled(w.shop.Origin())
		list, _ := p["capabilities"].([]any)
		pay, _ := list[0].(doc)
		pay["title"] = title
		w.Admin.Put("/projects/default-titled", p).Refused(t, "invalid_request", "capabilities[0].title")
	}
}

func TestATitleNamesAnyInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	named := doc{"größe": harness.Input("number", true), "to whom": harness.Input("string", true)}
	w.register(t, "default-titled", harness.With(harness.Project(w.shop.Origin()), "capabilities", []any{
		harness.Capability("pay", "POST", "/pay", doc{"inputSchema": named, "title": "{größe} for {to whom}"}),
	}))
	s := harness.With(step("p", "pay", doc{"größe": 38, "to whom": "Ada"}), "projectId", "default-titled")
	w.approval(t, w.run(t, s)).Is(t, "title", "38 for Ada")
}

func TestAnApprovalSaysWhatIsExpectedAndWhereInputsComeFrom(t *testing.T) {
	t.Parallel()
	w := newTitledWorld(t)
	for _, id := range []string{"ord-1", "ord-2"} {
		w.shop.On("GET", "/orders/"+id, harness.Answering(200, `{"id":"`+id+`"}`))
	}
	expected := doc{"field": "ok", "equals": true}
	after := harness.With(telling("r", nil), "dependsOn", []string{"a", "b"})
	after = harness.With(after, "inputBindings", doc{"text": doc{"stepId": "a", "field": "id"}, "orderId": doc{"stepId": "b", "field": "id"}})
	after = harness.With(after, "expectation", expected)
	approval, _ := w.decidable(t,
		harness.With(step("a", "lookup", doc{"resourceId": "ord-1"}), "expectation", doc{"field": "id", "equals": "ord-1"}),
		step("b", "lookup", doc{"resourceId": "ord-2"}),
		after)
	got := w.approver.Get("/approvals/" + approval).OK(t)
	got.Is(t, "expectation", expected).Is(t, "sources", []any{
		doc{"input": "orderId", "stepId": "b", "field": "id", "verified": false}, doc{"input": "text", "stepId": "a", "field": "id", "verified": true},
	})
}

func TestOtherRunsWithTheSameRequestAreNamedBeforeTheDecision(t *testing.T) {
	t.Parallel()
	w := newTitledWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	var runs []string
	for range 12 {
		_, run := w.decidable(t, payment("p", "Ada", "10"))
		runs = append(runs, run)
	}
	w.approve(t, runs[11])
	w.reaches(t, runs[11], "COMPLETED")
	other, _ := w.decidable(t, payment("p", "Ada", "10.0"))
	if same := w.approver.Get("/approvals/" + other).OK(t).At("same").Items(); len(same) != 0 {
		t.Errorf("another request is the same: %v", same)
	}
	approval, _ := w.decidable(t, payment("p", "Ada", "10"))
	got := w.approver.Get("/approvals/" + approval).OK(t)
	same := got.At("same").Items()
	if len(same) != 10 {
		t.Fatalf("%d runs: %s", len(same), got)
	}
	for i, s := range same {
		want, status := runs[11-i], "WAITING_APPROVAL"
		if i == 0 {
			status = "COMPLETED"
		}
		s.Is(t, "runId", want).Is(t, "stepId", "p").Is(t, "status", status)
	}
	mustSay(t, mara.Open("/approvals/"+approval), 200, "The same request was made in other runs", runs[11])
	limited, _ := w.token(t, doc{"roles": []string{"APPROVER"}, "projectIds": []string{shop}})
	limited.Get("/approvals/"+approval).Refused(t, "project_scope")
	wider := w.run(t, payment("p", "Ada", "11"), step("n", "note", nil))
	w.approval(t, wider)
	narrow, _ := w.decidable(t, payment("p", "Ada", "11"))
	w.approver.Get("/approvals/"+narrow).OK(t).Is(t, "same.0.runId", wider)
	limited, _ = w.token(t, doc{"roles": []string{"APPROVER"}, "projectIds": []string{"default-titled"}})
	if same := limited.Get("/approvals/" + narrow).OK(t).At("same").Items(); len(same) != 0 {
		t.Errorf("a run beyond its scope is named: %v", same)
	}
	if same := w.viewer.Get("/approvals/" + approval).OK(t).At("same").Items(); len(same) != 0 {
		t.Errorf("a viewer can tell equal cards: %v", same)
	}
}

func TestAnApprovalAndAnOpenRecoveryWithTheSameTitleNameEachOther(t *testing.T) {
	t.Parallel()
	w := newTitledWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	w.shop.On("POST", "/pay", harness.Answering(500, `{}`))
	_, lost := w.decidable(t, payment("p", "Ada", "10"))
	w.approve(t, lost)
	w.reaches(t, lost, "RECOVERY_REQUIRED")
	approval, _ := w.decidable(t, payment("again", "Ada", "10"))
	another, _ := w.decidable(t, payment("again", "Eve", "10"))
	const words = "A call with the same title may already have been made"
	p := mara.Open("/approvals/" + approval)
	mustSay(t, p, 200, words)
	if !strings.Contains(p.Text, `href="/console/recovery/`+lost+`"`) {
		t.Error("it doesn't lead there")
	}
	mustNotHold(t, mara.Open("/approvals/"+another), words)
	r := mara.Open("/recovery/" + lost)
	mustSay(t, r, 200, "A call with the same title is waiting for approval", approval)
	mustNotHold(t, r, another)
}
