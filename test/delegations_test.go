package test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// fromNow is a time around now.
func fromNow(after time.Duration) string { return time.Now().Add(after).UTC().Format(time.RFC3339) }

func standIn(delegate string) doc {
	return doc{"delegate": delegate, "until": fromNow(48 * time.Hour), "reason": "holidays"}
}

// deputies is a world where finance decides: ann is in it, and cem is not.
func deputies(t *testing.T, approvals int, groups ...string) (w *world, ann, cem *harness.Browser) {
	t.Helper()
	w = newWorld(t)
	ann, cem = w.deputies(t, approvals, groups...)
	return w, ann, cem
}

func (w *world) deputies(t *testing.T, approvals int, groups ...string) (ann, cem *harness.Browser) {
	t.Helper()
	w.shop.On("POST", "/pay", harness.Answering(200, `{}`))
	ann, cem = w.person(t, "ann@example.com", "APPROVER", "OPERATOR"), w.person(t, "cem@example.com", "APPROVER", "OPERATOR")
	for _, g := range groups {
		w.group(t, g, 0, "ann@example.com")
	}
	w.register(t, ruled, payRules(w.shop.Origin(), "NONE", several(approvals, groups...)))
	return ann, cem
}

func TestADelegateDecidesAsThemselfInPlaceOfAMember(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	ann, cem := w.deputies(t, 1, "finance")
	a := w.approval(t, w.run(t, pay("p", "5", nil)))
	id := a.At("id").Text()
	w.decision(t, cem, id, approved).Refused(t, "role_required", "finance")
	d := w.As("").Put("/delegations/ann@example.com", standIn("Cem@Example.com"), ann.Cookie(), w.csrf(t, ann)).OK(t)
	d.Is(t, "user", "ann@example.com").Is(t, "delegate", "cem@example.com").Is(t, "createdBy", "user:ann@example.com").Is(t, "reason", "holidays")
	if !w.weakens(t, "delegation/ann@example.com") {
		t.Error("who may decide that could not before weakens the gate")
	}
	w.viewer.Get("/delegations").OK(t).Is(t, "total", 1).Is(t, "items.0", d)
	done := w.decision(t, cem, id, approved).OK(t).Is(t, "status", "APPROVED").Is(t, "decidedBy", "user:cem@example.com")
	done.Is(t, "decisions.0.by", "user:cem@example.com").Is(t, "decisions.0.onBehalfOf", []string{"ann@example.com"}).Is(t, "decisions.0.groups", []string{"finance"})
	w.reaches(t, a.At("runId").Text(), "COMPLETED")
	w.holds(t, w.viewer, a.At("runId").Text())
	w.As("").Do("DELETE", "/delegations/ann@example.com", nil, ann.Cookie(), w.csrf(t, ann)).OK(t)
	w.Admin.Delete("/delegations/ann@example.com").Refused(t, "not_found")
	w.decision(t, cem, w.approval(t, w.run(t, pay("p", "5", nil))).At("id").Text(), approved).Refused(t, "role_required")
}

func TestADelegationLendsOnlyWhatTheMemberHas(t *testing.T) {
	t.Parallel()
	w, ann, cem := deputies(t, 1, "finance")
	w.Admin.Put("/delegations/ann@example.com", standIn("cem@example.com")).OK(t)
	start := func(who *harness.Browser) string {
		run := w.As("").Post("/projects/"+ruled+"/runs", doc{"capability": "pay", "mode": "LIVE", "inputs": doc{"amount": 5}}, key(), who.Cookie(), w.csrf(t, who)).OK(t).At("id").Text()
		return w.approval(t, run).At("id").Text()
	}
	w.decision(t, cem, start(cem), approved).Refused(t, "self_approval") // the delegate asked
	w.decision(t, cem, start(ann), approved).Refused(t, "role_required") // who is away asked, and could not decide it either
	asked := w.approval(t, w.run(t, pay("p", "5", nil))).At("id").Text()
	for _, change := range []doc{{"roles": []string{"OPERATOR"}}, {"roles": []string{"APPROVER"}, "projectIds": []string{shop}}} {
		w.Admin.Put("/users/ann@example.com", change).OK(t)
		w.decision(t, cem, asked, approved).Refused(t, "role_required")
	}
	w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"APPROVER"}}).OK(t)
	w.group(t, "finance", 1)
	w.decision(t, cem, asked, approved).Refused(t, "role_required") // ann has left finance
	w.group(t, "finance", 2, "ann@example.com")
	w.decision(t, cem, asked, approved).OK(t).Is(t, "status", "APPROVED")
}

// TestAMemberAndTheirDelegateAreOneOfSeveral: a delegation makes nobody two.
func TestAMemberAndTheirDelegateAreOneOfSeveral(t *testing.T) {
	t.Parallel()
	w, ann, cem := deputies(t, 2, "finance")
	dan := w.person(t, "dan@example.com", "APPROVER")
	w.Admin.Put("/delegations/ann@example.com", standIn("cem@example.com")).OK(t)
	first, second := w.approval(t, w.run(t, pay("p", "5", nil))).At("id").Text(), w.approval(t, w.run(t, pay("q", "6", nil))).At("id").Text()
	w.decision(t, cem, first, approved).OK(t).Is(t, "status", "PENDING")
	w.decision(t, ann, first, approved).Refused(t, "state_conflict", "cem@example.com", "in your place")
	w.Admin.Put("/delegations/ann@example.com", standIn("dan@example.com")).OK(t)
	w.decision(t, dan, first, approved).Refused(t, "role_required")
	w.decision(t, ann, second, approved).OK(t).Is(t, "status", "PENDING")
	w.decision(t, dan, second, approved).Refused(t, "role_required")
	// The end of the delegation undoes nothing; that ann leaves finance does.
	w.viewer.Get("/approvals/"+first).OK(t).Is(t, "decisions.0.left", harness.Absent)
	w.group(t, "finance", 1, "dan@example.com")
	w.viewer.Get("/approvals/"+first).OK(t).Is(t, "decisions.0.left", true)
	w.decision(t, dan, first, approved).OK(t).Is(t, "status", "PENDING").Is(t, "decisions.1.onBehalfOf", harness.Absent)
}

func TestADelegationIsBoundedInTimeAndMadeByWhomItConcerns(t *testing.T) {
	t.Parallel()
	w, ann, cem := deputies(t, 1, "finance")
	put := func(who *harness.Browser, email string, d doc) *harness.Answer {
		return w.As("").Put("/delegations/"+email, d, who.Cookie(), w.csrf(t, who))
	}
	for name, c := range map[string]struct {
		write doc
		part  string
	}{
		"no end":             {harness.Without(standIn("cem@example.com"), "until"), "until"},
		"over already":       {harness.With(standIn("cem@example.com"), "until", fromNow(-time.Hour)), "until"},
		"ends as it begins":  {harness.With(harness.With(standIn("cem@example.com"), "from", fromNow(2*time.Hour)), "until", fromNow(time.Hour)), "until"},
		"more than 90 days":  {harness.With(standIn("cem@example.com"), "until", fromNow(91*24*time.Hour)), "until"},
		"no reason":          {harness.With(standIn("cem@example.com"), "reason", " "), "reason"},
		"to oneself":         {standIn("ann@example.com"), "delegate"},
		"to no user":         {standIn("eve@example.com"), "delegate"},
		"to who may not":     {standIn("viewer@example.com"), "delegate"},
		"to no address":      {standIn("cem"), "delegate"},
		"without a delegate": {harness.Without(standIn("x"), "delegate"), "delegate"},
	} {
		if name == "to who may not" {
			w.person(t, "viewer@example.com", "VIEWER")
		}
		put(ann, "ann@example.com", c.write).Refused(t, "invalid_request", c.part)
	}
	put(cem, "ann@example.com", standIn("cem@example.com")).Refused(t, "role_required")
	w.approver.Put("/delegations/ann@example.com", standIn("cem@example.com")).Refused(t, "role_required")
	w.Admin.Put("/delegations/eve@example.com", standIn("cem@example.com")).Refused(t, "not_found")
	w.As("").Do("DELETE", "/delegations/ann@example.com", nil, cem.Cookie(), w.csrf(t, cem)).Refused(t, "role_required")

	asked := w.approval(t, w.run(t, pay("p", "5", nil))).At("id").Text()
	put(ann, "ann@example.com", harness.With(standIn("cem@example.com"), "from", fromNow(time.Hour))).OK(t)
	w.decision(t, cem, asked, approved).Refused(t, "role_required") // not yet
	put(ann, "ann@example.com", standIn("cem@example.com")).OK(t)
	w.Admin.Delete("/users/cem@example.com").OK(t)
	w.Admin.Put("/users/cem@example.com", doc{"roles": []string{"APPROVER"}}).OK(t)
	w.viewer.Get("/delegations").OK(t).Is(t, "total", 0) // it doesn't come back with its delegate
}

func TestDelegationsAreNoChains(t *testing.T) {
	t.Parallel()
	w, _, cem := deputies(t, 1, "finance")
	dan := w.person(t, "dan@example.com", "APPROVER")
	w.Admin.Put("/delegations/ann@example.com", standIn("cem@example.com")).OK(t)
	w.Admin.Put("/delegations/cem@example.com", standIn("dan@example.com")).OK(t)
	asked := w.approval(t, w.run(t, pay("p", "5", nil))).At("id").Text()
	w.decision(t, dan, asked, approved).Refused(t, "role_required")
	w.decision(t, cem, asked, doc{"decision": "REJECTED", "reason": "no"}).OK(t).Is(t, "decisions.0.onBehalfOf", []string{"ann@example.com"})
}

func TestTheApprovalsPageNamesDelegatesAndEscalations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, cem := w.person(t, "ann@example.com", "APPROVER"), w.person(t, "cem@example.com", "APPROVER")
	w.group(t, "finance", 0, "ann@example.com")
	w.group(t, "board", 0)
	w.register(t, ruled, payRules(w.shop.Origin(), "NONE", harness.With(escalating("4h", "board"), "approvals", 2)))
	id := w.approval(t, w.run(t, pay("p", "5", nil))).At("id").Text()
	path := "/approvals/" + id
	mustSay(t, ann.Open(path), 200, "Can still decide: ann@example.com.", "after 4h members of board may decide, too", "members of board then may decide for finance, too")
	w.Admin.Put("/delegations/ann@example.com", standIn("cem@example.com")).OK(t)
	mustSay(t, ann.Open(path), 200, "cem@example.com (in place of ann@example.com)")
	w.decision(t, cem, id, approved).OK(t)
	mustSay(t, ann.Open(path), 200, "in place of ann@example.com", "No user can decide it now")
}

func TestTheCommandLineKeepsDelegations(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	for _, email := range []string{"ann@example.com", "cem@example.com"} {
		s.Admin.Put("/users/"+email, doc{"roles": []string{"APPROVER"}}).OK(t)
	}
	put := []string{"delegations", "put", "ann@example.com", "--to", "cem@example.com", "--until", fromNow(48 * time.Hour), "--reason", "holidays", "--profile", "admin"}
	prints(t, s.command(t, 0, put...).Out, "cem@example.com decides in place of ann@example.com until ")
	s.asked(t, "delegations", "list").Is(t, "items.0.delegate", "cem@example.com").Is(t, "items.0.reason", "holidays")
	prints(t, s.command(t, 0, "delegations", "list").Out, "ann@example.com", "cem@example.com")
	prints(t, s.command(t, 0, "delegations", "end", "ann@example.com", "--profile", "admin").Out, "cem@example.com decides no longer in place of ann@example.com")
	s.command(t, 3, "delegations", "end", "ann@example.com", "--profile", "admin")
}

// TestARefusedDelegationIsRecordedOfTheSameSubject: whatever case the address is written in.
func TestARefusedDelegationIsRecordedOfTheSameSubject(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.person(t, "dora@example.com", "APPROVER")
	w.person(t, "cem@example.com", "APPROVER")
	for _, act := range []func(*harness.Client) *harness.Answer{
		func(c *harness.Client) *harness.Answer {
			return c.Put("/delegations/Dora@Example.com", standIn("cem@example.com"))
		},
		func(c *harness.Client) *harness.Answer { return c.Delete("/delegations/Dora@Example.com") },
	} {
		act(w.viewer).Refused(t, "role_required")
		act(w.Admin).OK(t)
	}
	w.Admin.Get("/audit?subject=delegation/dora@example.com").OK(t).Is(t, "total", 4)
}
