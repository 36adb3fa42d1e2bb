package test

import (
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// Who may no longer decide doesn't count for what is undecided, whether groups are named or not: the approval needs another one.

// pair is a world where two must approve, of whom no group is named, and an approval that waits for them.
func pair(t *testing.T, settings ...harness.Setting) (w *world, id, run string) {
	t.Helper()
	w = ownWorld(t, settings...)
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

// TestATokenCountsAsTheUserWhomItNamesStands: whoever's four eyes are asked for, and be it that the user made it. A user who was removed
// and added again isn't known to be the same.
func TestATokenCountsAsTheUserWhomItNamesStands(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(t *testing.T, w *world){
		"without the role": func(t *testing.T, w *world) {
			w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
		},
		"without the project": func(t *testing.T, w *world) {
			w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"APPROVER"}, "projectIds": []string{shop}}).OK(t)
		},
		"removed": func(t *testing.T, w *world) { w.Admin.Delete("/users/ann@example.com").OK(t) },
		"removed and added again": func(t *testing.T, w *world) {
			w.Admin.Delete("/users/ann@example.com").OK(t)
			w.person(t, "ann@example.com", "APPROVER")
		},
	} {
		for _, own := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w, id, _ := pair(t)
				other := w.approval(t, w.run(t, pay("p", "5", nil))).At("id").Text()
				ann, ben := w.person(t, "ann@example.com", "APPROVER", "ADMIN"), w.person(t, "ben@example.com", "APPROVER")
				var token *harness.Client
				if own {
					token = w.selfMade(t, ann, "ann@example.com")
				} else {
					token, _ = w.token(t, doc{"roles": []string{"APPROVER"}, "userEmail": "ann@example.com"})
				}
				token.Post("/approvals/"+id+"/decision", approved).OK(t).Is(t, "status", "PENDING")
				lose(t, w)
				w.viewer.Get("/approvals/"+id).OK(t).Is(t, "decisions.0.left", true)
				w.decision(t, ben, id, approved).OK(t).Is(t, "status", "PENDING").Is(t, "decisions.0.left", true)
				token.Post("/approvals/"+other+"/decision", approved).Refused(t, "role_required", "ann@example.com") // it would not count
			})
		}
	}
}

// TestADecisionThatCountsNoMoreBarsNobody: neither who gave it, once they were added again, nor who made them or whom they made.
func TestADecisionThatCountsNoMoreBarsNobody(t *testing.T) {
	t.Parallel()
	w, id, run := pair(t)
	ann, ben := w.person(t, "ann@example.com", "APPROVER"), w.person(t, "ben@example.com", "APPROVER")
	w.decision(t, ann, id, approved).OK(t)
	w.decision(t, ann, id, approved).Refused(t, "state_conflict", "already")
	w.Admin.Delete("/users/ann@example.com").OK(t)
	ann = w.person(t, "ann@example.com", "APPROVER")
	w.decision(t, ann, id, approved).OK(t).Is(t, "status", "PENDING").Is(t, "decisions.0.left", true).Is(t, "decisions.1.left", harness.Absent)
	w.decision(t, ann, id, approved).Refused(t, "state_conflict", "already")
	w.decision(t, ben, id, approved).OK(t).Is(t, "status", "APPROVED")
	w.reaches(t, run, "COMPLETED")
	w.holds(t, w.operator, run)
}

// TestWhoCountsAgainDoesNotCountBesideWhoCameInTheirPlace: of two who may be one person, the one who decided while the other did not count.
func TestWhoCountsAgainDoesNotCountBesideWhoCameInTheirPlace(t *testing.T) {
	t.Parallel()
	w, id, _ := pair(t)
	ann, ben := w.person(t, "ann@example.com", "APPROVER", "ADMIN"), w.person(t, "ben@example.com", "APPROVER")
	answer := w.As("").Post("/tokens", doc{"name": "n", "roles": []string{"APPROVER"}}, ann.Cookie(), w.csrf(t, ann)).OK(t)
	made := w.As(answer.At("token").Text())
	w.decision(t, ann, id, approved).OK(t)
	made.Post("/approvals/"+id+"/decision", approved).Refused(t, "self_approval")
	w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	made.Post("/approvals/"+id+"/decision", approved).OK(t).Is(t, "status", "PENDING")
	w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"APPROVER"}}).OK(t)
	w.viewer.Get("/approvals/"+id).OK(t).Is(t, "decisions.0.left", true).Is(t, "decisions.1.left", harness.Absent)
	w.decision(t, ben, id, approved).OK(t).Is(t, "status", "APPROVED").Is(t, "decisions.0.left", true)
}

// TestOnceEnoughCountAgainADecisionAnewDecides: though nobody else is there to decide.
func TestOnceEnoughCountAgainADecisionAnewDecides(t *testing.T) {
	t.Parallel()
	w, id, run := pair(t)
	ann, ben := w.person(t, "ann@example.com", "APPROVER"), w.person(t, "ben@example.com", "APPROVER")
	w.decision(t, ann, id, approved).OK(t)
	w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	w.decision(t, ben, id, approved).OK(t).Is(t, "status", "PENDING")
	w.decision(t, ben, id, approved).Refused(t, "state_conflict", "already")
	w.Admin.Put("/users/ann@example.com", doc{"roles": []string{"APPROVER"}}).OK(t)
	w.decision(t, ben, id, approved).OK(t).Is(t, "status", "APPROVED").Is(t, "decisions.0.left", harness.Absent).Is(t, "decisions.1.left", true)
	w.reaches(t, run, "COMPLETED")
	w.holds(t, w.operator, run)
}
