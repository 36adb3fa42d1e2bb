package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// Who may no longer decide doesn't count for what is undecided, whether groups are named or not: the approval needs another one.

// pair is a world where two must approve, of whom no group is named, and an approval that waits for them.
func pair(t *testing.T, settings ...harness.Setting) (w *world, id, run string) {
	t.Helper()
	w = newWorld(t, settings...)
	w.shop.On("POST", "/pay", harness.Answering(200, `{}`))
	w.register(t, ruled, payRules(w.shop.Origin(), "NONE", several(2)))
	a := w.approval(t, w.run(t, pay("p", "5", nil)))
	return w, a.At("id").Text(), a.At("runId").Text()
}

func TestWhoMayNoLongerDecideDoesNotCountForWhatIsUndecided(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(t *testing.T, w *world){
		"removed": func(t *testing.T, w *world) { w.Admin.Delete("/users/ann@example.com").OK(t) },
		"without the role": func(t *testing.T, w *world) {
			w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
		},
		"without the project": func(t *testing.T, w *world) {
			w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"APPROVER"}, "projectIds": []string{shop}}).OK(t)
		},
		"removed and added again": func(t *testing.T, w *world) {
			w.Admin.Delete("/users/ann@example.com").OK(t)
			w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"APPROVER"}}).OK(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, id, run := pair(t)
			ann, ben, eve := w.person(t, "ann@example.com", "APPROVER"), w.person(t, "ben@example.com", "APPROVER"), w.person(t, "eve@example.com", "APPROVER")
			w.decision(t, ann, id, approved).OK(t).Is(t, "status", "PENDING")
			lose(t, w)
			w.viewer.Get("/approvals/"+id).OK(t).Is(t, "decisions.0.left", true)
			w.decision(t, ben, id, approved).OK(t).Is(t, "status", "PENDING").Is(t, "decisions.0.left", true).Is(t, "decisions.1.left", harness.Absent)
			w.decision(t, eve, id, approved).OK(t).Is(t, "status", "APPROVED")
			w.reaches(t, run, "COMPLETED")
			w.Admin.Delete("/users/ben@example.com").OK(t)
			w.viewer.Get("/approvals/"+id).OK(t).Is(t, "status", "APPROVED").Is(t, "decisions.1.left", harness.Absent) // what was decided stays
		})
	}
}

// TestWhoHasTheRoleAgainCountsAgain: rights are those of the moment, in both directions.
func TestWhoHasTheRoleAgainCountsAgain(t *testing.T) {
	t.Parallel()
	w, id, _ := pair(t)
	ann, ben := w.person(t, "ann@example.com", "APPROVER"), w.person(t, "ben@example.com", "APPROVER")
	w.decision(t, ann, id, approved).OK(t)
	w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	w.viewer.Get("/approvals/"+id).OK(t).Is(t, "decisions.0.left", true)
	w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"APPROVER"}}).OK(t)
	w.decision(t, ben, id, approved).OK(t).Is(t, "status", "APPROVED").Is(t, "decisions.0.left", harness.Absent)
}

func TestARevokedTokenDoesNotCountForWhatIsUndecided(t *testing.T) {
	t.Parallel()
	w, id, run := pair(t)
	first, made := w.token(t, doc{"roles": []string{"APPROVER"}})
	second, _ := w.token(t, doc{"roles": []string{"APPROVER"}})
	first.Post("/approvals/"+id+"/decision", approved).OK(t)
	w.Admin.Delete("/tokens/" + made.At("id").Text()).OK(t)
	second.Post("/approvals/"+id+"/decision", approved).OK(t).Is(t, "status", "PENDING").Is(t, "decisions.0.left", true)
	w.approver.Post("/approvals/"+id+"/decision", approved).OK(t).Is(t, "status", "APPROVED")
	w.reaches(t, run, "COMPLETED")
}

// TestUnderPeopleATokenCountsWhileItsUserMayDecide: the token has the role still.
func TestUnderPeopleATokenCountsWhileItsUserMayDecide(t *testing.T) {
	t.Parallel()
	w, id, _ := pair(t, harness.Set("FOUR_EYES", "people"))
	mara, ben := w.person(t, "mara@example.com", "APPROVER", "ADMIN"), w.person(t, "ben@example.com", "APPROVER")
	token, made := w.token(t, doc{"roles": []string{"APPROVER"}, "userEmail": "mara@example.com"})
	w.confirms(t, mara, made)
	token.Post("/approvals/"+id+"/decision", approved).OK(t)
	w.Admin.Put("/users/mara@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	w.decision(t, ben, id, approved).OK(t).Is(t, "status", "PENDING").Is(t, "decisions.0.left", true)
}

// TestWhoIsAwayLendsNothingOnceTheyMayNotDecide: a decision in their place counts for their group as long as they might give it.
func TestWhoIsAwayLendsNothingOnceTheyMayNotDecide(t *testing.T) {
	t.Parallel()
	w, _, cem := deputies(t, 2, "finance")
	w.Admin.Put("/delegations/ann@example.com", standIn("cem@example.com")).OK(t)
	id := w.approval(t, w.run(t, pay("p", "5", nil))).At("id").Text()
	w.decision(t, cem, id, approved).OK(t).Is(t, "status", "PENDING").Is(t, "decisions.0.left", harness.Absent)
	w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	w.viewer.Get("/approvals/"+id).OK(t).Is(t, "decisions.0.left", true)
}
