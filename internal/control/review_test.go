package control_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// reviewed is a fixture with approvals that were stored as they are.
type reviewed struct {
	*fixture
	begun time.Time
}

func (r *reviewed) approval(id string, minute int, status countersign.ApprovalStatus, project, capability string) {
	r.t.Helper()
	at := r.begun.Add(time.Duration(minute) * time.Minute)
	a := &records.Approval{
		Approval: countersign.Approval{
			ID: id, RunID: "run-" + id, StepID: "s", Status: status, ProjectID: project, Capability: capability,
			RequestedBy: "user:ada@acme", RequestedAt: at, ExpiresAt: r.begun.Add(24 * time.Hour), DecidedBy: "user:eve@acme",
		},
		Requester: access.Requester{ID: "user:ada@acme", Email: "ada@acme"},
	}
	r.must(r.store.Update(background, func(tx store.Tx) error {
		_, err := records.Approvals.Put(tx, "acme", id, a, 0)
		return err
	}))
}

func judge(email string, roles ...countersign.Role) control.Actor {
	return control.Actor{Principal: access.Principal{ID: "user:" + email, Email: email, Tenant: "acme", Roles: roles}, RequestID: "req-1"}
}

func TestMayDecideSaysWhatTheDecisionWouldSay(t *testing.T) {
	h := &reviewed{fixture: open(t), begun: time.Now()}
	h.approval("waits", 0, countersign.ApprovalPending, "acme-one", "note")
	h.approval("done", 0, countersign.ApprovalApproved, "acme-one", "note")
	h.approval("expired", -3000, countersign.ApprovalPending, "acme-one", "note")
	approver := countersign.RoleApprover
	elsewhere := judge("eve@acme", approver)
	elsewhere.Projects = []string{"acme-two"}
	for _, c := range []struct {
		name, id string
		who      control.Actor
		want     countersign.Code
	}{
		{"another approver", "waits", judge("eve@acme", approver), ""},
		{"who asked", "waits", judge("ada@acme", approver), countersign.CodeSelfApproval},
		{"without the role", "waits", judge("eve@acme", countersign.RoleViewer), countersign.CodeRoleRequired},
		{"without the project", "waits", elsewhere, countersign.CodeProjectScope},
		{"decided", "done", judge("eve@acme", approver), countersign.CodeStateConflict},
		{"not there", "nothing", judge("eve@acme", approver), countersign.CodeNotFound},
	} {
		before := len(h.log("acme", 0))
		if got := countersign.ErrorCode(h.service.MayDecide(background, c.who, c.id)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if len(h.log("acme", 0)) != before {
			t.Errorf("%s: asking is recorded", c.name)
		}
	}
	h.clock.Store(int64(25 * time.Hour))
	if got := countersign.ErrorCode(h.service.MayDecide(background, judge("eve@acme", approver), "expired")); got != countersign.CodeApprovalExpired {
		t.Errorf("expired: %q", got)
	}
}

func TestApprovedBeforeFindsTheLatestOfTheSameCapability(t *testing.T) {
	h := &reviewed{fixture: open(t), begun: time.Now()}
	h.approval("oldest", 0, countersign.ApprovalApproved, "acme-one", "note")
	h.approval("older", 1, countersign.ApprovalApproved, "acme-one", "note")
	for i := range 30 { // more than are looked at at once
		h.approval(fmt.Sprintf("other-%02d", i), 2, countersign.ApprovalApproved, "acme-one", "ping")
	}
	h.approval("elsewhere", 3, countersign.ApprovalApproved, "acme-two", "note")
	h.approval("rejected", 4, countersign.ApprovalRejected, "acme-one", "note")
	h.approval("this", 5, countersign.ApprovalApproved, "acme-one", "note")
	h.approval("later", 6, countersign.ApprovalApproved, "acme-one", "note")
	viewer := judge("vera@acme", countersign.RoleViewer)
	for id, want := range map[string]string{"this": "older", "older": "oldest", "oldest": "", "elsewhere": "", "rejected": "older"} {
		found, err := h.service.ApprovedBefore(background, viewer, id)
		h.must(err)
		got := ""
		if found != nil {
			got = found.ID
		}
		if got != want {
			t.Errorf("before %s: %q, want %q", id, got, want)
		}
	}
}

func TestTheQueueGivesNeighboursInTheOrderOfAsking(t *testing.T) {
	h := &reviewed{fixture: open(t), begun: time.Now()}
	h.approval("b", 1, countersign.ApprovalPending, "acme-one", "note")
	h.approval("c", 1, countersign.ApprovalPending, "acme-two", "note") // in the same microsecond
	h.approval("a", 2, countersign.ApprovalPending, "acme-one", "note")
	h.approval("done", 3, countersign.ApprovalApproved, "acme-one", "note")
	h.approval("d", 4, countersign.ApprovalPending, "acme-one", "note")
	limited := judge("eve@acme", countersign.RoleApprover)
	limited.Projects = []string{"acme-one"}
	whole := judge("eve@acme", countersign.RoleApprover)
	for _, c := range []struct {
		who  control.Actor
		id   string
		want control.Queue
	}{
		{whole, "b", control.Queue{After: "c", At: 2, Total: 4}},
		{whole, "c", control.Queue{Before: "b", After: "a", At: 2, Total: 4}},
		{whole, "a", control.Queue{Before: "c", After: "d", At: 3, Total: 4}},
		{whole, "done", control.Queue{Before: "a", After: "d", Total: 4}},
		{whole, "d", control.Queue{Before: "a", At: 4, Total: 4}},
		{limited, "b", control.Queue{After: "a", At: 1, Total: 3}},
		{limited, "a", control.Queue{Before: "b", After: "d", At: 2, Total: 3}},
	} {
		if got, err := h.service.ApprovalQueue(background, c.who, c.id); err != nil || got != c.want {
			t.Errorf("%s: %+v (%v), want %+v", c.id, got, err, c.want)
		}
	}
	page, err := h.service.Approvals(background, whole, control.List{Limit: 10}, control.ApprovalFilter{Status: "PENDING", OldestFirst: true})
	h.must(err)
	order := ""
	for _, a := range page.Items {
		order += a.ID
	}
	if order != "bcad" {
		t.Errorf("the order is %s", order)
	}
}

func TestFoundSelectsAsAStepWould(t *testing.T) {
	answer := countersign.RawValue(`{"result":{"n":1.0},"n":2}`)
	for _, c := range []struct {
		answer             countersign.Value
		outputField, field string
		want               string
	}{
		{answer, "", "n", "2"},
		{answer, "result", "n", "1.0"},
		{answer, "", "result.n", "1.0"},
		{answer, "none", "n", "2"},
		{answer, "", "missing", ""},
		{countersign.Int(5), "", "$", "5"},
	} {
		if got, _ := control.Found(c.answer, c.outputField, c.field); got.Raw() != c.want {
			t.Errorf("%s of %s: %q, want %q", c.field, c.outputField, got.Raw(), c.want)
		}
	}
}
