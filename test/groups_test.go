package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// decision posts a decision from a person's browser.
func (w *world) decision(t *testing.T, who *harness.Browser, approval string, decision doc) *harness.Answer {
	t.Helper()
	return w.As("").Post("/approvals/"+approval+"/decision", decision, who.Cookie(), w.csrf(t, who))
}

func (w *world) group(t *testing.T, id string, revision int, members ...string) {
	t.Helper()
	w.Admin.Put("/groups/"+id, doc{"name": id, "members": append([]string{}, members...), "expectedRevision": revision}).OK(t).Is(t, "revision", revision+1)
}

// several is a rule that requires several decisions.
func several(approvals int, groups ...string) doc {
	r := rule(is("amount", "gte", number("0")), "ASK")
	if approvals > 0 {
		r["approvals"] = approvals
	}
	if groups != nil {
		r["groups"] = groups
	}
	return r
}

func TestGroupsAreKeptByRevision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, email := range []string{"ann@example.com", "ben@example.com"} {
		w.Admin.Put("/users/"+email, doc{"roles": []string{"APPROVER"}}).OK(t)
	}
	write := doc{"name": "Finance", "members": []string{"Ann@Example.com"}}
	first := w.Admin.Put("/groups/finance", write).OK(t).Is(t, "id", "finance").Is(t, "revision", 1).Is(t, "members", []string{"ann@example.com"})
	w.viewer.Get("/groups/finance").OK(t).Is(t, "members", first.At("members")).Is(t, "name", "Finance")
	w.viewer.Get("/groups").OK(t).Is(t, "total", 1).Is(t, "items.0", first)
	w.Admin.Put("/groups/finance", write).Refused(t, "revision_conflict", "1")
	w.Admin.Put("/groups/finance", harness.With(first.Doc(), "expectedRevision", 2)).Refused(t, "revision_conflict")
	w.Admin.Put("/groups/other", harness.With(write, "expectedRevision", 1)).Refused(t, "revision_conflict")
	if w.weakens(t, "group/finance") {
		t.Error("a first group weakens nothing: no rule names it")
	}
	w.Admin.Put("/groups/finance", harness.With(harness.With(first.Doc(), "members", []string{"ann@example.com", "ben@example.com"}), "expectedRevision", 1)).OK(t).Is(t, "revision", 2)
	if !w.weakens(t, "group/finance") {
		t.Error("a member that is added weakens what the group guards")
	}
	for member, part := range map[string]string{"eve@example.com": "members[0]", "nobody": "members[0]"} {
		w.Admin.Put("/groups/other", doc{"name": "n", "members": []string{member}}).Refused(t, "invalid_request", part)
	}
	w.Admin.Put("/groups/other", doc{"name": "n", "members": []string{"ann@example.com", "ANN@example.com"}}).Refused(t, "invalid_request", "members[1]")
	w.Admin.Put("/groups/other", doc{"name": " ", "members": []string{}}).Refused(t, "invalid_request", "name")
	w.Admin.Put("/groups/other", doc{"name": "n", "members": []string{}, "claim": "finance"}).Refused(t, "invalid_request", "claim")
	w.approver.Put("/groups/other", write).Refused(t, "role_required")

	w.register(t, ruled, payRules(w.shop.Origin(), "NONE", several(0, "finance")))
	w.Admin.Delete("/groups/finance").Refused(t, "state_conflict", ruled)
	w.Admin.Put("/projects/"+ruled, harness.With(payRules(w.shop.Origin(), "NONE"), "expectedRevision", 1)).OK(t)
	if !w.weakens(t, "project/"+ruled) {
		t.Error("a rule that is removed weakens the gate")
	}
	w.Admin.Delete("/groups/finance").OK(t).Is(t, "id", "finance")
	w.viewer.Get("/groups/finance").Refused(t, "not_found")
	w.Admin.Delete("/groups/finance").Refused(t, "not_found")
}

func TestSeveralDifferentDecidersApprove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, ruled, payRules(w.shop.Origin(), "NONE", several(2)))
	w.shop.On("POST", "/pay", harness.Answering(200, `{}`))
	ann, ben := w.person(t, "ann@example.com", "APPROVER", "ADMIN"), w.person(t, "ben@example.com", "APPROVER")
	hers := w.As("").Post("/tokens", doc{"name": "hers", "roles": []string{"APPROVER"}}, ann.Cookie(), w.csrf(t, ann)).OK(t)
	w.Keep(hers.At("token").Text())
	a := w.approval(t, w.run(t, pay("p", "5", nil))).Is(t, "approvalsNeeded", 2).Is(t, "decisions", harness.Absent)
	id := a.At("id").Text()
	first := w.decision(t, ann, id, approved).OK(t).Is(t, "status", "PENDING").Is(t, "decidedBy", "user:ann@example.com")
	first.Is(t, "decisions.0.decision", "APPROVED").Is(t, "decisions.0.by", "user:ann@example.com").Is(t, "decisions.0.reason", approved["reason"]).Is(t, "decisions.1", harness.Absent)
	w.viewer.Get("/runs/"+a.At("runId").Text()).OK(t).Is(t, "status", "WAITING_APPROVAL").Is(t, "waitingFor.kind", "approval")
	w.decision(t, ann, id, approved).Refused(t, "state_conflict", "already")
	w.As(hers.At("token").Text()).Post("/approvals/"+id+"/decision", approved).Refused(t, "self_approval")
	if n := len(w.shop.Seen("POST", "/pay")); n != 0 {
		t.Errorf("%d requests were sent after one of two approvals", n)
	}
	w.decision(t, ben, id, approved).OK(t).Is(t, "status", "APPROVED").Is(t, "decidedBy", "user:ben@example.com").Is(t, "decisions.1.by", "user:ben@example.com")
	w.reaches(t, a.At("runId").Text(), "COMPLETED")
	w.decision(t, ben, id, approved).Refused(t, "state_conflict")
}

func TestOneRejectionDecides(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, ruled, payRules(w.shop.Origin(), "NONE", several(3)))
	ann, ben := w.person(t, "ann@example.com", "APPROVER"), w.person(t, "ben@example.com", "APPROVER")
	a := w.approval(t, w.run(t, pay("p", "5", nil)))
	w.decision(t, ann, a.At("id").Text(), approved).OK(t)
	w.decision(t, ben, a.At("id").Text(), doc{"decision": "REJECTED", "reason": "wrong account"}).OK(t).Is(t, "status", "REJECTED").Is(t, "decisions.1.decision", "REJECTED")
	w.reaches(t, a.At("runId").Text(), "FAILED").Has(t, "error", "wrong account")
}

func TestWhoCancelsEndsAHalfApprovedApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.register(t, ruled, payRules(w.shop.Origin(), "NONE", several(2)))
	a := w.approval(t, w.run(t, pay("p", "5", nil)))
	w.approver.Post("/approvals/"+a.At("id").Text()+"/decision", approved).OK(t)
	w.operator.Post("/runs/"+a.At("runId").Text()+"/cancel", doc{"reason": "r"}).OK(t)
	w.viewer.Get("/approvals/"+a.At("id").Text()).OK(t).Is(t, "status", "REJECTED").Is(t, "decidedBy", "system").Is(t, "decisions.0.decision", "APPROVED").Is(t, "decisions.1.by", "system")
	w.viewer.Get("/runs/" + a.At("runId").Text() + "/receipt").OK(t)
}

func TestEachGroupDecidesAndNobodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.On("POST", "/pay", harness.Answering(200, `{}`))
	ann, ben, eve := w.person(t, "ann@example.com", "APPROVER"), w.person(t, "ben@example.com", "APPROVER"), w.person(t, "eve@example.com", "APPROVER")
	w.group(t, "finance", 0, "ann@example.com", "eve@example.com")
	w.group(t, "legal", 0, "ben@example.com")
	w.register(t, ruled, payRules(w.shop.Origin(), "NONE", several(0, "finance"), several(0, "legal")))
	a := w.approval(t, w.run(t, pay("p", "5", nil))).Is(t, "groups", []string{"finance", "legal"}).Is(t, "approvalsNeeded", 1)
	id := a.At("id").Text()
	w.approver.Post("/approvals/"+id+"/decision", approved).Refused(t, "role_required", "finance")
	w.approver.Post("/approvals/"+id+"/decision", doc{"decision": "REJECTED", "reason": "r"}).Refused(t, "role_required", "legal")
	zoe := w.person(t, "zoe@example.com", "APPROVER")
	w.decision(t, zoe, id, approved).Refused(t, "role_required")
	w.decision(t, ann, id, approved).OK(t).Is(t, "status", "PENDING").Is(t, "decisions.0.groups", []string{"finance"})
	w.decision(t, eve, id, approved).OK(t).Is(t, "status", "PENDING") // legal has not decided
	w.decision(t, ben, id, approved).OK(t).Is(t, "status", "APPROVED")
	w.reaches(t, a.At("runId").Text(), "COMPLETED")
}

// TestATokenDecidesForTheGroupOfItsUser: at once, and under four eyes of people after its
// user has confirmed it.
func TestATokenDecidesForTheGroupOfItsUser(t *testing.T) {
	t.Parallel()
	for _, eyes := range []string{"principals", "people"} {
		w := newWorld(t, harness.Set("FOUR_EYES", eyes))
		w.shop.On("POST", "/pay", harness.Answering(200, `{}`))
		ben := w.person(t, "ben@example.com", "APPROVER")
		w.group(t, "legal", 0, "ben@example.com")
		w.register(t, ruled, payRules(w.shop.Origin(), "NONE", several(0, "legal")))
		a := w.approval(t, w.run(t, pay("p", "5", nil)))
		his, made := w.token(t, doc{"roles": []string{"APPROVER"}, "userEmail": "ben@example.com"})
		if eyes == "people" {
			his.Post("/approvals/"+a.At("id").Text()+"/decision", approved).Refused(t, "role_required", "confirm")
			w.As("").Post("/tokens/"+made.At("id").Text()+"/confirm", nil, ben.Cookie(), w.csrf(t, ben)).OK(t)
		}
		his.Post("/approvals/"+a.At("id").Text()+"/decision", approved).OK(t).Is(t, "status", "APPROVED").Is(t, "decisions.0.groups", []string{"legal"})
		w.reaches(t, a.At("runId").Text(), "COMPLETED")
	}
}

func TestWhoLeavesAGroupNoLongerCountsForWhatIsUndecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shop.On("POST", "/pay", harness.Answering(200, `{}`))
	ann, ben, eve := w.person(t, "ann@example.com", "APPROVER"), w.person(t, "ben@example.com", "APPROVER"), w.person(t, "eve@example.com", "APPROVER")
	w.group(t, "finance", 0, "ann@example.com", "ben@example.com", "eve@example.com")
	w.register(t, ruled, payRules(w.shop.Origin(), "NONE", several(2, "finance")))
	a := w.approval(t, w.run(t, pay("p", "5", nil)))
	id := a.At("id").Text()
	w.decision(t, ann, id, approved).OK(t)
	w.group(t, "finance", 1, "ben@example.com", "eve@example.com")
	w.viewer.Get("/approvals/"+id).OK(t).Is(t, "decisions.0.left", true)
	w.decision(t, ben, id, approved).OK(t).Is(t, "status", "PENDING").Is(t, "decisions.0.left", true).Is(t, "decisions.1.left", harness.Absent)
	w.decision(t, eve, id, approved).OK(t).Is(t, "status", "APPROVED")
	w.reaches(t, a.At("runId").Text(), "COMPLETED")
	w.group(t, "finance", 2, "ben@example.com")
	w.viewer.Get("/approvals/"+id).OK(t).Is(t, "status", "APPROVED").Is(t, "decisions.2.left", harness.Absent) // decisions stay
}

func TestWhoIsRemovedFromTheTenantLeavesItsGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, ben := w.person(t, "ann@example.com", "APPROVER"), w.person(t, "ben@example.com", "APPROVER")
	w.group(t, "finance", 0, "ann@example.com", "ben@example.com")
	w.register(t, ruled, payRules(w.shop.Origin(), "NONE", several(2, "finance")))
	id := w.approval(t, w.run(t, pay("p", "5", nil))).At("id").Text()
	w.decision(t, ann, id, approved).OK(t)
	w.Admin.Delete("/users/ann@example.com").OK(t)
	w.viewer.Get("/groups/finance").OK(t).Is(t, "members", []string{"ben@example.com"}).Is(t, "revision", 2)
	w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"APPROVER"}}).OK(t)
	w.decision(t, ben, id, approved).OK(t).Is(t, "status", "PENDING").Is(t, "decisions.0.left", true)
}

func TestAClaimOfTheIdentityProviderFillsAGroup(t *testing.T) {
	t.Parallel()
	issuer, w := elsewhere(t)
	w.Admin.Put("/users/ada@example.com", doc{"roles": []string{"APPROVER"}}).OK(t)
	w.Admin.Put("/groups/finance", doc{"name": "Finance", "members": []string{}, "claim": "groups=finance"}).OK(t).Is(t, "claim", "groups=finance")
	w.register(t, ruled, payRules(w.shop.Origin(), "NONE", several(0, "finance")))
	id := w.approval(t, w.run(t, pay("p", "5", nil))).At("id").Text()
	signedIn := func(claims map[string]any) *harness.Browser {
		issuer.Claims = claims
		b := w.NewBrowser()
		b.Open(atIssuer(t, w, b, "/settings"))
		return b
	}
	outside := signedIn(map[string]any{"groups": []string{"sales"}})
	w.decision(t, outside, id, approved).Refused(t, "role_required", "finance")
	signedIn(map[string]any{"groups": []string{"sales", "finance"}})
	signedIn(nil) // the provider says so no longer
	w.decision(t, outside, id, approved).Refused(t, "role_required", "finance")
	inside := signedIn(map[string]any{"groups": []string{"finance"}})
	w.decision(t, inside, id, approved).OK(t).Is(t, "status", "APPROVED").Is(t, "decisions.0.groups", []string{"finance"})
}
