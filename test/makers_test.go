package test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// asked starts a run that waits for an approval, and returns the approval.
func (w *world) asked(t *testing.T, requester *harness.Client) json {
	t.Helper()
	plan := w.ready(t, planOf(step("r", "refund", doc{"orderId": "o"})))
	return w.approval(t, requester.Post("/runs", doc{"planId": plan}, key()).OK(t).At("id").Text())
}

// self is the principal of a token, as in the audit log.
func self(made json) string { return "token:" + made.At("id").Text() }

func TestAnApprovalNamesTheMakersOfWhoAskedAndWhoDecided(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	admin, made := w.token(t, doc{"roles": []string{"ADMIN", "OPERATOR", "APPROVER"}})
	root := made.At("createdBy").Text()
	asks, decides := w.made(t, admin, doc{"roles": []string{"OPERATOR"}}), w.made(t, admin, doc{"roles": []string{"APPROVER"}})
	a := w.asked(t, asks)
	a.Is(t, "requestedByMakers", []string{self(made), root}).Is(t, "decidedByMakers", harness.Absent).Is(t, "sharedMaker", harness.Absent)
	decided := decides.Post("/approvals/"+a.At("id").Text()+"/decision", approved).OK(t)
	for _, shown := range []json{decided, w.viewer.Get("/approvals/" + a.At("id").Text()).OK(t)} {
		shown.Is(t, "requestedByMakers", []string{self(made), root}).Is(t, "decidedByMakers", []string{self(made), root}).Is(t, "sharedMaker", true)
	}
	w.reaches(t, a.At("runId").Text(), "COMPLETED")
	w.viewer.Get("/runs/"+a.At("runId").Text()+"/receipt").OK(t).Is(t, "sections.approvals.0.sharedMaker", true)
}

func TestPeopleWhoHaveNoMakerInCommonShareNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ines, mara := w.person(t, "ines@example.com", "OPERATOR"), w.person(t, "mara@example.com", "APPROVER", "ADMIN")
	plan := w.ready(t, planOf(step("r", "refund", doc{"orderId": "o"})))
	id := w.As("").Post("/runs", doc{"planId": plan}, key(), ines.Cookie(), w.csrf(t, ines)).OK(t).At("id").Text()
	a := w.approval(t, id)
	decided := w.As("").Post("/approvals/"+a.At("id").Text()+"/decision", approved, mara.Cookie(), w.csrf(t, mara)).OK(t)
	decided.Is(t, "requestedBy", "user:ines@example.com").Is(t, "decidedBy", "user:mara@example.com").
		Is(t, "requestedByMakers", harness.Absent).Is(t, "decidedByMakers", harness.Absent).Is(t, "sharedMaker", harness.Absent)
	hers := w.As("").Post("/tokens", doc{"name": "hers", "roles": []string{"OPERATOR"}}, mara.Cookie(), w.csrf(t, mara)).OK(t)
	w.Keep(hers.At("token").Text())
	second := w.asked(t, w.As(hers.At("token").Text()))
	second.Is(t, "requestedByMakers", []string{"user:mara@example.com"})
	w.As("").Post("/approvals/"+second.At("id").Text()+"/decision", approved, mara.Cookie(), w.csrf(t, mara)).OK(t).
		Is(t, "sharedMaker", true).Is(t, "decidedByMakers", harness.Absent)
	page := mara.Open("/approvals/" + second.At("id").Text()).Text
	for _, want := range []string{"mara@example.com", "Created by", "Both go back to one maker"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page doesn't say %q", want)
		}
	}
}

func TestATokenNamesAUserOfItsTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	write := doc{"name": "n", "roles": []string{"APPROVER"}, "userEmail": "anne@example.com"}
	w.Admin.Post("/tokens", write).Refused(t, "invalid_request", "userEmail")
	w.Admin.Put("/users/anne@example.com", doc{"roles": []string{"VIEWER"}}).OK(t)
	w.Admin.Post("/tokens", harness.With(write, "userEmail", "Anne@Example.com")).OK(t).Is(t, "userEmail", "anne@example.com")
}

// people is a world in which people decide.
func people(t *testing.T) *world {
	t.Helper()
	return ownWorld(t, harness.Set("FOUR_EYES", "people"))
}

func TestUnderPeopleOnlyPersonsDecide(t *testing.T) {
	t.Parallel()
	w := people(t)
	a := w.asked(t, w.operator)
	id, run := a.At("id").Text(), a.At("runId").Text()
	w.approver.Post("/approvals/"+id+"/decision", approved).Refused(t, "role_required", "user")

	mara := w.person(t, "mara@example.com", "APPROVER")
	token, made := w.token(t, doc{"roles": []string{"APPROVER"}, "userEmail": "mara@example.com"})
	token.Post("/approvals/"+id+"/decision", approved).Refused(t, "role_required", "confirm")
	confirm := "/tokens/" + made.At("id").Text() + "/confirm"
	token.Post(confirm, nil).Refused(t, "role_required")
	w.Admin.Post(confirm, nil).Refused(t, "role_required")
	eve := w.person(t, "eve@example.com", "ADMIN")
	w.As("").Post(confirm, nil, eve.Cookie(), w.csrf(t, eve)).Refused(t, "role_required", "mara@example.com")
	w.As("").Post(confirm, nil, mara.Cookie()).Refused(t, "csrf")
	w.As("").Post("/tokens/none/confirm", nil, mara.Cookie(), w.csrf(t, mara)).Refused(t, "not_found")
	confirmed := w.As("").Post(confirm, nil, mara.Cookie(), w.csrf(t, mara)).OK(t).Is(t, "id", made.At("id"))
	if !confirmed.At("confirmedAt").Exists() || confirmed.At("token").Exists() {
		t.Error(confirmed)
	}
	w.As("").Post(confirm, nil, mara.Cookie(), w.csrf(t, mara)).OK(t).Is(t, "confirmedAt", confirmed.At("confirmedAt"))
	token.Post("/approvals/"+id+"/decision", approved).OK(t).Is(t, "decidedBy", self(made))
	w.reaches(t, run, "COMPLETED")
}

func TestUnderPeopleTheMakerOfARequesterDoesNotDecide(t *testing.T) {
	t.Parallel()
	w := people(t)
	mara, ben := w.person(t, "mara@example.com", "APPROVER", "ADMIN"), w.person(t, "ben@example.com", "APPROVER")
	made := w.As("").Post("/tokens", doc{"name": "hers", "roles": []string{"OPERATOR"}}, mara.Cookie(), w.csrf(t, mara)).OK(t)
	w.Keep(made.At("token").Text())
	w.shop.On("POST", "/refunds", harness.Answering(500, `{}`))
	a := w.asked(t, w.As(made.At("token").Text()))
	decide := "/approvals/" + a.At("id").Text() + "/decision"
	w.As("").Post(decide, approved, mara.Cookie(), w.csrf(t, mara)).Refused(t, "self_approval")
	w.As("").Post(decide, approved, ben.Cookie(), w.csrf(t, ben)).OK(t).Is(t, "sharedMaker", harness.Absent)
	run := "/runs/" + a.At("runId").Text()
	w.reaches(t, a.At("runId").Text(), "RECOVERY_REQUIRED")
	w.approver.Post(run+"/probe", doc{"stepId": "r"}).Refused(t, "role_required")
	w.As("").Post(run+"/reconcile", reconcile("ABANDON", nil), mara.Cookie(), w.csrf(t, mara)).Refused(t, "self_approval")
	w.As("").Post(run+"/reconcile", reconcile("ABANDON", nil), ben.Cookie(), w.csrf(t, ben)).OK(t)
}

func TestATokenThatItsUserMadeNeedsNoConfirmation(t *testing.T) {
	t.Parallel()
	w := people(t)
	mara := w.person(t, "mara@example.com", "APPROVER", "ADMIN")
	made := w.As("").Post("/tokens", doc{"name": "mine", "roles": []string{"APPROVER"}, "userEmail": "mara@example.com"}, mara.Cookie(), w.csrf(t, mara)).OK(t)
	w.Keep(made.At("token").Text())
	a := w.asked(t, w.operator)
	w.As(made.At("token").Text()).Post("/approvals/"+a.At("id").Text()+"/decision", approved).OK(t)
}

func TestAConfirmedTokenStandsForNobodyOnceItsUserIsGone(t *testing.T) {
	t.Parallel()
	w := people(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	token, made := w.token(t, doc{"roles": []string{"APPROVER"}, "userEmail": "mara@example.com"})
	w.As("").Post("/tokens/"+made.At("id").Text()+"/confirm", nil, mara.Cookie(), w.csrf(t, mara)).OK(t)
	w.Admin.Delete("/users/mara@example.com").OK(t)
	token.Post("/approvals/"+w.asked(t, w.operator).At("id").Text()+"/decision", approved).Refused(t, "role_required")
}

func TestAUserConfirmsATokenInTheConsole(t *testing.T) {
	t.Parallel()
	w := people(t)
	mara := w.person(t, "mara@example.com", "APPROVER")
	token, made := w.token(t, doc{"roles": []string{"APPROVER"}, "userEmail": "mara@example.com", "name": "night shift"})
	if page := mara.Open("/settings").Text; !strings.Contains(page, "night shift") || !strings.Contains(page, "/console/settings/tokens/"+made.At("id").Text()+"/confirm") {
		t.Error("the settings don't ask to confirm the token")
	}
	form := url.Values{"csrf": {strings.TrimPrefix(string(w.csrf(t, mara)), "X-CSRF-Token: ")}}
	mara.Submit("/settings/tokens/"+made.At("id").Text()+"/confirm", form)
	token.Post("/approvals/"+w.asked(t, w.operator).At("id").Text()+"/decision", approved).OK(t)
	actions := []string{}
	for _, r := range w.Admin.Get("/audit?action=tokens.confirm").OK(t).At("items").Items() {
		actions = append(actions, r.At("actor").Text()+" "+r.At("subject").Text())
	}
	if !slices.Equal(actions, []string{"user:mara@example.com token/" + made.At("id").Text()}) {
		t.Errorf("the log says %v", actions)
	}
}
