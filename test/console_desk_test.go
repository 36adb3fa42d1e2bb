package test

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

var deskFields = regexp.MustCompile(`name="(desk|next)" value="([^"]*)"`)

// decides submits the decision of a page of the desk, with all that its form carries.
func decides(t *testing.T, b *harness.Browser, on *harness.Page, id string, typed url.Values) *harness.Page {
	t.Helper()
	_, form, _ := strings.Cut(on.Text, `id="decide-form"`)
	form, _, _ = strings.Cut(form, "</form>")
	for _, f := range deskFields.FindAllStringSubmatch(form, -1) {
		typed.Add(f[1], html.UnescapeString(f[2]))
	}
	return submitted(t, b, on, "/approvals/"+id+"/decision", typed)
}

func reasons(decision string, more ...string) url.Values {
	out := url.Values{"decision": {decision}, "reason": {"as the list says"}}
	for i := 0; i+1 < len(more); i += 2 {
		out.Set(more[i], more[i+1])
	}
	return out
}

// TestAfterADecisionTheNextOneStandsThere, and what became of the last one is said; what others
// have decided meanwhile is passed over.
func TestAfterADecisionTheNextOneStandsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	mustSay(t, mara.Open("/desk"), 200, "Nothing is waiting for you.")
	first, run := w.decidable(t)
	second, _ := w.decidable(t)
	third, _ := w.decidable(t)
	list := mara.Open("/desk")
	mustHold(t, list, `href="/console/approvals/`+first+`"`, `data-lives="3 0 0"`)
	p := mara.Open("/approvals/" + first)
	w.approver.Post("/approvals/"+second+"/decision", doc{"decision": "REJECTED", "reason": "no"}).OK(t)
	next := decides(t, mara, p, first, reasons("APPROVED"))
	if next.URL.Path != "/console/approvals/"+third || next.URL.Query().Get("last") != "approval/"+first {
		t.Fatalf("it leads to %s", next.URL)
	}
	mustSay(t, next, 200, "Approved by you: refund")
	w.reaches(t, run, "COMPLETED")
	mustSay(t, mara.Open("/desk/last?of=approval/"+first), 200, "Approved by you: refund, answered, nothing to verify")
	end := decides(t, mara, next, third, reasons("REJECTED"))
	if end.URL.Path != "/console/desk" {
		t.Errorf("the last one leads to %s", end.URL)
	}
	mustSay(t, end, 200, "Rejected by you: refund", "Nothing is waiting for you.")
}

// TestAFormLeadsNowhereElse: what it names as the next is looked at as a page is.
func TestAFormLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	for _, next := range []string{"", "https://evil.example", "approval//evil.example", "approval/../settings", "run/x", "approval/apr-none", "change/x"} {
		id, _ := w.decidable(t)
		p := mara.Open("/approvals/" + id)
		to := submitted(t, mara, p, "/approvals/"+id+"/decision", reasons("REJECTED", "desk", "order=amount&project=&evil=1", "next", next))
		if to.URL.Host != p.URL.Host || to.URL.Path != "/console/desk" || to.URL.RawQuery != "last=approval%2F"+id+"&order=amount" {
			t.Errorf("%q leads to %s", next, to.URL)
		}
	}
}

// TestWhatIsTypedOverAnInputGoesAlongWithARejection, exactly that; with it nothing is approved.
func TestWhatIsTypedOverAnInputGoesAlongWithARejection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	approval, _ := w.decidable(t, step("r", "refund", doc{"orderId": "o-1", "amount": number("500.00")}))
	path := "/approvals/" + approval
	p := mara.Open(path)
	mustHold(t, p, `name="input.amount"`, `data-was="500.00"`, ">500.00</textarea>", `name="input.orderId"`)
	same := []string{"input.amount", "500.00", "input.orderId", "o-1"}
	mustSay(t, decides(t, mara, p, approval, reasons("APPROVED", "input.amount", "48.50", "input.orderId", "o-1")), 400,
		"Corrected: amount; reject with the correction, or take it back to approve what was asked for.", "48.50", "as the list says")
	mustSay(t, decides(t, mara, p, approval, reasons("REJECTED", "input.amount", "much")), 400, "Write a number, such as 249.00.", "much")
	mustSay(t, decides(t, mara, p, approval, reasons("REJECTED", "input.amount", "5", "suggested", `{"orderId":"x"}`)), 400, "take one of them back")
	w.viewer.Get(path).OK(t).Is(t, "status", "PENDING")
	mustSay(t, decides(t, mara, p, approval, reasons("REJECTED", "input.amount", "48.50", "input.orderId", "o-1")), 200, "Rejected with a correction by you")
	w.viewer.Get(path).OK(t).Is(t, "suggestedInput.amount", number("48.50")).Is(t, "suggestedInput.orderId", "o-1")

	plain, _ := w.decidable(t, step("r", "refund", doc{"orderId": "o-1", "amount": number("500.00")}))
	decides(t, mara, mara.Open("/approvals/"+plain), plain, reasons("REJECTED", same...))
	w.viewer.Get("/approvals/"+plain).OK(t).Is(t, "status", "REJECTED").Is(t, "suggestedInput", harness.Absent)
}

// TestWhatAFieldWouldHideIsNotTypedOver: a text with a letter that passes for another is shown
// with its mark, and has no field.
func TestWhatAFieldWouldHideIsNotTypedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	approval, _ := w.decidable(t, step("r", "refund", doc{"orderId": "\u0410-48213", "amount": 5}))
	p := mara.Open("/approvals/" + approval)
	mustHold(t, p, `name="input.amount"`)
	mustNotHold(t, p, `name="input.orderId"`)
	mustSay(t, p, 200, "is Cyrillic (U+0410), looks like A")
}

// TestTheListOfTheDeskHasWhatWaitsForItsReader: what they asked for themselves waits for others.
func TestTheListOfTheDeskHasWhatWaitsForItsReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ines, mara, vera := w.person(t, "ines@example.com", "OPERATOR", "APPROVER"), w.person(t, "mara@example.com", "APPROVER"), w.person(t, "vera@example.com", "VIEWER")
	plan := w.ready(t, planOf(step("r", "refund", doc{"orderId": "o"})))
	run := w.As("").Post("/runs", doc{"planId": plan}, key(), ines.Cookie(), w.csrf(t, ines)).OK(t).At("id").Text()
	own := w.approval(t, run).At("id").Text()
	link := `href="/console/approvals/` + own
	for path, has := range map[string][3]bool{"/desk": {false, true, false}, "/desk?in=others": {true, false, true}} {
		for i, who := range []*harness.Browser{ines, mara, vera} {
			if p := who.Open(path); p.Status != 200 || strings.Contains(p.Text, link) != has[i] {
				t.Errorf("%s of %d: %d, %v", path, i, p.Status, !has[i])
			}
		}
	}
	mustSay(t, ines.Open("/desk?in=others"), 200, "you asked for it")
	mustHold(t, vera.Open("/desk"), `data-lives="0 0 0"`)
}

// TestFiltersOfTheDeskNarrowWhatItLists, and go along from page to page.
func TestFiltersOfTheDeskNarrowWhatItLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	small, _ := w.decidable(t, step("r", "refund", doc{"orderId": "ord-small", "amount": 5}))
	large, _ := w.decidable(t, step("r", "refund", doc{"orderId": "ord-large", "amount": 500}))
	p := mara.Open("/desk?find=ord-large")
	mustHold(t, p, `href="/console/approvals/`+large+`?find=ord-large"`)
	mustNotHold(t, p, small)
	mustSay(t, mara.Open("/desk?find=nothing-like-it"), 200, "Nothing matches.")
	mustSay(t, mara.Open("/desk?project=none"), 200, "Nothing matches.")
	ordered := mara.Open("/desk?order=expires").Text
	if strings.Index(ordered, small) > strings.Index(ordered, large) || !strings.Contains(ordered, large) {
		t.Error("the one that expires first doesn't stand first")
	}
	mustHold(t, mara.Open("/approvals/"+large+"?find=ord"), `name="desk" value="find=ord"`, `href="/console/approvals/`+small+`?find=ord" rel="prev"`)
}

// TestWhatIsPutOffStandsApart, in one browser alone, until it is taken back.
func TestWhatIsPutOffStandsApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara, jonas := w.person(t, "mara@example.com", "APPROVER"), w.person(t, "jonas@example.com", "APPROVER")
	first, _ := w.decidable(t)
	second, _ := w.decidable(t)
	put := func(on *harness.Page, next string) *harness.Page {
		return submitted(t, mara, on, "/desk/later", url.Values{"of": {"approval/" + first}, "desk": {""}, "next": {next}})
	}
	next := put(mara.Open("/approvals/"+first), "approval/"+second)
	if next.URL.Path != "/console/approvals/"+second {
		t.Errorf("it leads to %s", next.URL)
	}
	mustNotHold(t, mara.Open("/desk"), first)
	mustHold(t, mara.Open("/desk?in=later"), first)
	mustHold(t, jonas.Open("/desk"), first)
	mustHold(t, mara.Open("/approvals/"+first), "Back to the list")
	put(mara.Open("/approvals/"+first), "")
	mustHold(t, mara.Open("/desk"), first)
	w.viewer.Get("/approvals/"+first).OK(t).Is(t, "status", "PENDING")
}

// TestEqualCallsOfOneRequesterAreReadTogether: what differs stands in columns, what doesn't once.
func TestEqualCallsOfOneRequesterAreReadTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	var ids []string
	for i := range 3 {
		id, _ := w.decidable(t, step("r", "refund", doc{"orderId": fmt.Sprintf("ord-%d", i), "amount": 7}))
		ids = append(ids, id)
	}
	mustSay(t, mara.Open("/desk"), 200, "3 × refund", "Read them together; each is decided by itself.")
	p := mara.Open("/desk/group/" + ids[0])
	mustSay(t, p, 200, "3 calls of refund", "ord-0", "ord-1", "ord-2", "What is the same in all of them", "amount7")
	for _, id := range ids {
		mustHold(t, p, `href="/console/approvals/`+id+`"`)
	}
	mustSay(t, mara.Open("/desk/group/apr-none"), 200, "This group is none any more", "3 × refund")
}

// TestARowAloneSaysWhatBecameOfIt.
func TestARowAloneSaysWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	id, run := w.decidable(t)
	mustHold(t, mara.Open("/desk/row?of=approval/"+id), `data-of="approval/`+id+`"`)
	w.approver.Post("/approvals/"+id+"/decision", doc{"decision": "REJECTED", "reason": "no"}).OK(t)
	mustSay(t, mara.Open("/desk/row?of=approval/"+id), 200, "Rejected by")
	mustSay(t, mara.Open("/desk/row?of=run/"+run), 404)
	mustSay(t, mara.Open("/desk/row?of=approval/apr-none"), 404)
}
