package control_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestTheOldestOpenRecoveryOfTheSameTitleIsNamed, and the oldest approval that waits,
// however many others there are since.
func TestTheOldestOpenRecoveryOfTheSameTitleIsNamed(t *testing.T) {
	h := open(t)
	h.titled()
	ben, now := approver("ben@acme.example"), time.Now()
	lost := h.pays(t, "10", now.Add(-2*time.Hour), countersign.StepRecoveryRequired)
	asked := h.pays(t, "10", now.Add(-time.Hour), countersign.StepWaitingApproval)
	h.others(h.pays(t, "11", now, countersign.StepRecoveryRequired), 210)
	h.others(h.pays(t, "11", now, countersign.StepWaitingApproval), 210)
	runs, err := h.service.RecoveriesLike(background, ben, "apr-"+asked)
	h.must(err)
	if !slices.Equal(runs, []string{lost}) {
		t.Errorf("recoveries of the same title: %v, want %s", runs, lost)
	}
	var approvals []string
	got := h.reading(func() {
		approvals, err = h.service.ApprovalsLike(background, ben, lost)
		h.must(err)
	})
	if !slices.Equal(approvals, []string{"apr-" + asked}) || got.rows > 40 {
		t.Errorf("approvals of the same title: %v, want apr-%s; %d rows were read", approvals, asked, got.rows)
	}
}

// TestNobodyIsToldOfEqualTitlesThatAreMaskedToThem, nor of different ones that look
// equal once they are masked.
func TestNobodyIsToldOfEqualTitlesThatAreMaskedToThem(t *testing.T) {
	h := open(t)
	h.titled()
	viewer := approver("vera@acme.example")
	viewer.Roles = []countersign.Role{countersign.RoleViewer}
	lost := h.pays(t, "10", time.Now(), countersign.StepRecoveryRequired)
	same := h.pays(t, "10", time.Now(), countersign.StepWaitingApproval)
	other := h.pays(t, "11", time.Now(), countersign.StepWaitingApproval)
	for _, id := range []string{same, other} {
		runs, err := h.service.RecoveriesLike(background, viewer, "apr-"+id)
		h.must(err)
		if len(runs) > 0 {
			t.Errorf("a viewer is told of %v", runs)
		}
	}
	approvals, err := h.service.ApprovalsLike(background, viewer, lost)
	h.must(err)
	if len(approvals) > 0 {
		t.Errorf("a viewer is told of %v", approvals)
	}
}

// titled makes a project whose capability has a title with a sensitive input.
func (f *fixture) titled() {
	f.t.Helper()
	_, err := f.service.PutProject(background, as("acme"), "acme-pay", countersign.ProjectWrite{Name: "pay", Adapter: countersign.AdapterLocalEcho, Capabilities: []countersign.Capability{{
		Name: "pay", Method: "POST", Path: "/pay", Title: "Pay {amount} to Ada", Sensitive: []string{"amount"},
		InputSchema: map[string]countersign.InputField{"amount": {Type: "string", Required: true}},
	}}})
	f.must(err)
	_, err = f.service.CheckHealth(background, as("acme"), "acme-pay")
	f.must(err)
	_, err = f.service.EnableProject(background, as("acme"), "acme-pay", countersign.Toggle{ExpectedRevision: 1})
	f.must(err)
}

// pays stores a run whose step pays and stands so, with its approval.
func (f *fixture) pays(t *testing.T, amount string, at time.Time, status countersign.StepStatus) string {
	t.Helper()
	input := map[string]countersign.Value{"amount": countersign.String(amount)}
	p, err := f.service.CreatePlan(background, as("acme"), countersign.PlanWrite{
		Name: "Pay", ModelID: "m1", ModelRevision: 1, Mode: countersign.ModeLive,
		Steps: []countersign.Step{{ID: "s", ProjectID: "acme-pay", Capability: "pay", Input: input}},
	})
	f.must(err)
	started, err := f.service.StartRun(background, as("acme"), countersign.RunStart{PlanID: p.ID}, f.newID("key"))
	f.must(err)
	f.poses(started.Run.ID, started.Run.ID, at, status)
	return started.Run.ID
}

// poses stores a run like another one.
func (f *fixture) poses(of, id string, at time.Time, status countersign.StepStatus) {
	f.t.Helper()
	f.must(f.store.Update(background, func(tx store.Tx) error {
		r, version, err := records.Runs.Get(tx, "acme", of)
		if err != nil {
			return err
		}
		s, stepVersion, err := records.Steps(of, 0, "").Get(tx, "acme", records.StepID(of, 0))
		if err != nil {
			return err
		}
		if of != id {
			version, stepVersion = 0, 0
		}
		r.ID, r.CreatedAt, s.Status = id, at, status
		r.Status = countersign.RunRecoveryRequired
		if status == countersign.StepWaitingApproval {
			r.Status = countersign.RunWaitingApproval
			ap := &records.Approval{Requester: r.Requester}
			ap.ID, ap.RunID, ap.StepID, ap.PlanID, ap.ProjectID, ap.Capability = "apr-"+id, id, "s", r.PlanID, "acme-pay", "pay"
			ap.Status, ap.RequestedAt, ap.ExpiresAt, ap.InputSnapshot = countersign.ApprovalPending, at, at.Add(time.Hour), s.Input
			ap.Title = "Pay " + s.Input["amount"].Text() + " to Ada"
			if _, err := records.Approvals.Put(tx, "acme", ap.ID, ap, 0); err != nil {
				return err
			}
		}
		if _, err := records.Steps(id, 0, "").Put(tx, "acme", records.StepID(id, 0), s, stepVersion); err != nil {
			return err
		}
		_, err = records.Runs.Put(tx, "acme", id, r, version)
		return err
	}))
}

// others stores more runs like one.
func (f *fixture) others(of string, n int) {
	f.t.Helper()
	r, err := f.service.Run(background, control.Actor{Principal: as("acme").Principal}, of)
	f.must(err)
	for i := range n {
		f.poses(of, fmt.Sprintf("%s-%03d", of, i), time.Now(), r.Steps[0].Status)
	}
}
