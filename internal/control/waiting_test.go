package control_test

import (
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// stands stores a run by hand that stands still since a time: nothing drives the
// runs of a fixture.
func (f *fixture) stands(t *testing.T, a control.Actor, at time.Time, status countersign.RunStatus, kind string) string {
	t.Helper()
	id := f.startOne(t, a)
	f.must(f.store.Update(background, func(tx store.Tx) error {
		r, version, err := records.Runs.Get(tx, a.Tenant, id)
		if err != nil {
			return err
		}
		r.Status, r.CreatedAt = status, at
		r.WaitingFor = &countersign.WaitingFor{Kind: kind, Since: at}
		if kind == countersign.WaitApproval {
			ap := &records.Approval{Requester: r.Requester}
			ap.ID, ap.RunID, ap.PlanID, ap.ProjectID, ap.Capability = "apr-"+id, id, r.PlanID, "acme-one", "ping"
			ap.Status, ap.RequestedAt, ap.ExpiresAt = countersign.ApprovalPending, at, at.Add(time.Hour)
			if _, err := records.Approvals.Put(tx, a.Tenant, ap.ID, ap, 0); err != nil {
				return err
			}
		}
		_, err = records.Runs.Put(tx, a.Tenant, id, r, version)
		return err
	}))
	return id
}

func (f *fixture) startOne(t *testing.T, a control.Actor) string {
	t.Helper()
	return f.started(a)
}

// started is a run of one step that asks for an approval.
func (f *fixture) started(a control.Actor) string {
	f.t.Helper()
	p, err := f.service.CreatePlan(background, a, countersign.PlanWrite{
		Name: "Refund", ModelID: "m1", ModelRevision: 1, Mode: countersign.ModeLive,
		Steps: []countersign.Step{{ID: "s", ProjectID: "acme-one", Capability: "ping"}},
	})
	f.must(err)
	started, err := f.service.StartRun(background, a, countersign.RunStart{PlanID: p.ID}, f.newID("key"))
	f.must(err)
	return started.Run.ID
}

func approver(email string) control.Actor {
	a := as("acme")
	a.ID, a.Email, a.Roles = "user:"+email, email, []countersign.Role{countersign.RoleApprover}
	return a
}

func TestWaitingIsUncertainFirstThenWhatLapsesSoonest(t *testing.T) {
	h := open(t)
	now := time.Now()
	young := h.stands(t, as("acme"), now.Add(-time.Minute), countersign.RunWaitingApproval, countersign.WaitApproval)
	old := h.stands(t, as("acme"), now.Add(-time.Hour), countersign.RunWaitingApproval, countersign.WaitApproval)
	lost := h.stands(t, as("acme"), now, countersign.RunRecoveryRequired, countersign.WaitReconcile)
	h.stands(t, as("acme"), now, countersign.RunRecoveryRequired, countersign.WaitSlot) // reconciled: it waits for nobody
	list, more, err := h.service.Waiting(background, approver("ben@acme.example"), 10)
	h.must(err)
	var ids []string
	for _, w := range list {
		ids = append(ids, w.Run.ID)
		if w.Barred != nil || (w.Approval == nil) != (w.Run.ID == lost) || len(w.Run.Steps) != 1 {
			t.Errorf("%s: barred %v, approval %v, %d steps", w.Run.ID, w.Barred, w.Approval, len(w.Run.Steps))
		}
	}
	if more || !slices.Equal(ids, []string{lost, old, young}) {
		t.Errorf("more %v: %v", more, ids)
	}
	if list, more, err = h.service.Waiting(background, approver("ben@acme.example"), 1); err != nil || !more || len(list) != 2 {
		t.Errorf("one of each kind: %d, more %v, %v", len(list), more, err)
	}
	outside := approver("ben@acme.example")
	outside.Projects = []string{"acme-two"}
	if list, _, err = h.service.Waiting(background, outside, 10); err != nil || len(list) != 0 {
		t.Errorf("%d out of scope, %v", len(list), err)
	}
}

func TestWhoIsBarredFromDecidingAndWhy(t *testing.T) {
	h := open(t)
	id := h.stands(t, as("acme"), time.Now(), countersign.RunWaitingApproval, countersign.WaitApproval)
	both := as("acme")
	both.Roles = append(both.Roles, countersign.RoleApprover)
	for name, c := range map[string]struct {
		actor control.Actor
		want  countersign.Code
	}{
		"another": {approver("ben@acme.example"), ""}, "no approver": {as("acme"), countersign.CodeRoleRequired}, "who asked": {both, countersign.CodeSelfApproval},
	} {
		why, err := h.service.Barred(background, c.actor, access.DecideApproval, id)
		h.must(err)
		if got := countersign.ErrorCode(why); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	_, err := h.service.Barred(background, as("beta"), access.DecideApproval, id)
	wantCode(t, err, countersign.CodeNotFound)
}

func TestTalliesCountRunsByTheirStart(t *testing.T) {
	h := open(t)
	from := time.Now().Truncate(time.Hour).Add(-2 * time.Hour)
	edge := h.stands(t, as("acme"), from.Add(time.Hour), countersign.RunRecoveryRequired, countersign.WaitReconcile)
	h.stands(t, as("acme"), from.Add(time.Hour-time.Microsecond), countersign.RunWaitingApproval, countersign.WaitApproval)
	h.stands(t, as("acme"), from.Add(-time.Microsecond), countersign.RunWaitingApproval, countersign.WaitApproval)
	counts, err := h.service.RunCountsOver(background, as("acme"), from, time.Hour, 2)
	h.must(err)
	if counts[0].Runs[countersign.RunWaitingApproval] != 1 || counts[0].Runs[countersign.RunRecoveryRequired] != 0 || counts[1].Runs[countersign.RunRecoveryRequired] != 1 {
		t.Errorf("%v", counts)
	}
	page, err := h.service.Runs(background, as("acme"), control.List{Limit: 10}, control.RunFilter{Since: from.Add(time.Hour)})
	h.must(err)
	if page.Total != 1 || page.Items[0].ID != edge {
		t.Errorf("since: %d runs", page.Total)
	}
	names, err := h.service.PlanNames(background, as("acme"), page.Items)
	h.must(err)
	if names[page.Items[0].PlanID] != "Refund" {
		t.Errorf("%v", names)
	}
	outside := as("acme")
	outside.Projects = []string{"acme-two"}
	if names, err = h.service.PlanNames(background, outside, page.Items); err != nil || len(names) != 0 {
		t.Errorf("out of scope: %v %v", names, err)
	}
}
