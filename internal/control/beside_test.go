package control_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// breaks makes a record's document one that can't be read. Its columns stay.
func (f *fixture) breaks(table *store.Table, id string) {
	f.t.Helper()
	f.must(f.store.Update(background, func(tx store.Tx) error {
		row, err := tx.Get(table, "acme", id)
		if err != nil {
			return err
		}
		version := row.Version
		row.Doc = []byte(`{"id":`)
		return tx.Put(table, "acme", row, version)
	}))
}

// runOf is the run of an approval.
func (f *fixture) runOf(approval string) (run string) {
	f.t.Helper()
	f.must(f.store.View(background, func(tx store.Tx) error {
		ap, _, err := records.Approvals.Get(tx, "acme", approval)
		if err == nil {
			run = ap.RunID
		}
		return err
	}))
	return run
}

// TestARecordThatCantBeReadStopsNothingBesideIt: what is looked up beside another approval lacks
// it, lists count it and show the others, and a decision on another run is made and answered so.
func TestARecordThatCantBeReadStopsNothingBesideIt(t *testing.T) {
	for _, broken := range []string{"run", "step", "approval", "plan"} {
		t.Run(broken, func(t *testing.T) {
			h := open(t)
			var log bytes.Buffer
			h.cfg.Unreadable = unreadable.New(slog.New(slog.NewTextHandler(&log, nil)))
			h.service = h.on(h.store)
			before, uncertain, approval, healthy := h.oneWaits(), h.oneIsUncertain(), h.oneWaits(), h.oneWaits()
			reader, decision := approver("ben@acme.example"), countersign.Decision{Decision: countersign.ApprovalApproved, Reason: "r"}
			_, err := h.service.Decide(background, reader, before, decision)
			h.must(err)
			runs, plans := 4, 1
			switch broken {
			case "run":
				h.breaks(store.Runs, h.runOf(approval))
				h.breaks(store.Runs, h.runOf(before))
				runs = 2
			case "step":
				h.breaks(store.Steps, records.StepID(h.runOf(approval), 0))
				h.breaks(store.Steps, records.StepID(h.runOf(before), 0))
				runs = 3 // the one that was decided is in memory
			case "approval":
				h.breaks(store.Approvals, before)
				h.breaks(store.Approvals, approval)
			case "plan":
				other, err := h.service.CreatePlan(background, as("acme"), countersign.PlanWrite{Name: "p", ModelID: "m1", ModelRevision: 1, Steps: []countersign.Step{{ID: "s", ProjectID: "acme-one", Capability: "note", Input: map[string]countersign.Value{"text": countersign.String("x")}}}})
				h.must(err)
				h.breaks(store.Plans, other.ID)
			}
			list := control.List{Limit: 200}
			found, err := h.service.Runs(background, reader, list, control.RunFilter{})
			if err != nil || len(found.Items) != runs || found.Total != 4 || found.NextOffset != nil {
				t.Errorf("runs: %d of %d, %v", len(found.Items), found.Total, err)
			}
			first, err := h.service.Runs(background, reader, control.List{Limit: 1, Offset: 1}, control.RunFilter{})
			if err != nil || first.NextOffset == nil || *first.NextOffset != 2 {
				t.Errorf("a page of runs: %+v, %v", first, err)
			}
			approvals, err := h.service.Approvals(background, reader, list, control.ApprovalFilter{})
			want := 4
			if broken == "approval" {
				want = 2
			}
			if err != nil || len(approvals.Items) != want || approvals.Total != 4 {
				t.Errorf("approvals: %d of %d, %v", len(approvals.Items), approvals.Total, err)
			}
			listed, err := h.service.Plans(background, reader, list, control.PlanFilter{})
			if err != nil || len(listed.Items) < plans || broken == "plan" && listed.Total != len(listed.Items)+1 {
				t.Errorf("plans: %d of %d, %v", len(listed.Items), listed.Total, err)
			}
			if waiting, _, err := h.service.Waiting(background, reader, 10); err != nil || len(waiting) < 2 {
				t.Errorf("%d wait, %v", len(waiting), err)
			}
			if _, err := h.service.Approval(background, reader, healthy); err != nil {
				t.Errorf("another approval: %v", err)
			}
			if _, err := h.service.ApprovedBefore(background, reader, healthy); err != nil {
				t.Errorf("what was approved before: %v", err)
			}
			if _, err := h.service.RecoveriesLike(background, reader, healthy); err != nil {
				t.Errorf("uncertain runs like it: %v", err)
			}
			if _, err := h.service.ApprovalsLike(background, reader, uncertain); err != nil {
				t.Errorf("approvals like a run: %v", err)
			}
			decided, err := h.service.Decide(background, reader, healthy, decision)
			if err != nil || decided.Status != countersign.ApprovalApproved {
				t.Errorf("the decision: %s, %v", decided.Status, err)
			}
			if _, err := h.service.Runs(background, reader, list, control.RunFilter{}); err != nil {
				t.Error(err)
			}
			if said := strings.Count(log.String(), "a record can't be read"); said < 1 || said > 3 {
				t.Errorf("it is named %d times:\n%s", said, log.String())
			}
		})
	}
}

// TestAnAgentThatCantBeReadIsLeftOutOfTheLists of agents, its head or the revision that it is of.
func TestAnAgentThatCantBeReadIsLeftOutOfTheLists(t *testing.T) {
	for _, table := range []*store.Table{store.Agents, store.AgentRevisions} {
		h, ids := crewed(t)
		h.breaks(table, firstOf(h, table))
		list := control.List{Limit: 200}
		if page, err := h.service.Agents(background, as("acme"), list, control.AgentFilter{}); err != nil || len(page.Items) != len(ids)-1 || page.Total != len(ids) {
			t.Errorf("%s: %d of %d agents, %v", table.Name, len(page.Items), page.Total, err)
		}
		if heard, err := h.service.HeardAgents(background, as("acme"), list, ""); err != nil || len(heard.Page.Items) != len(ids)-1 {
			t.Errorf("%s: %d agents by what is heard of them, %v", table.Name, len(heard.Page.Items), err)
		}
	}
}

func firstOf(h *fixture, table *store.Table) (id string) {
	h.must(h.store.View(background, func(tx store.Tx) error {
		rows, err := tx.List(table, "acme", store.Query{Limit: 1})
		if err == nil {
			id = rows[0].ID
		}
		return err
	}))
	return id
}

// TestAChangeThatIsMadeIsAnsweredAlsoWhereWhatIsBesideItCantBeRead, such as its plan: whoever is
// told of a failure does it again.
func TestAChangeThatIsMadeIsAnsweredAlsoWhereWhatIsBesideItCantBeRead(t *testing.T) {
	h := open(t)
	approval, cancelled, uncertain := h.oneWaits(), h.started(as("acme")), h.oneIsUncertain()
	service := h.on(&damaged{Store: h.store})
	decided, err := service.Decide(background, approver("ben@acme.example"), approval, countersign.Decision{Decision: countersign.ApprovalApproved, Reason: "r"})
	if err != nil || decided.Status != countersign.ApprovalApproved {
		t.Errorf("a decision: %s, %v", decided.Status, err)
	}
	service = h.on(&damaged{Store: h.store})
	if r, err := service.CancelRun(background, as("acme"), cancelled, "enough"); err != nil || r.Status != countersign.RunCancelled {
		t.Errorf("a cancellation: %s, %v", r.Status, err)
	}
	service = h.on(&damaged{Store: h.store})
	if r, err := service.ReconcileRun(background, approver("ben@acme.example"), uncertain, countersign.Reconcile{Resolution: countersign.Abandon, Evidence: "seen"}); err != nil || r.Status != countersign.RunCancelled {
		t.Errorf("a reconciliation: %s, %v", r.Status, err)
	}
}

// damaged is a store of which nothing can be read as what it should be once it was written.
type damaged struct {
	store.Store
	written atomic.Bool
}

func (d *damaged) Update(ctx context.Context, fn func(store.Tx) error) error {
	defer d.written.Store(true)
	return d.Store.Update(ctx, fn)
}

func (d *damaged) View(ctx context.Context, fn func(store.Tx) error) error {
	if d.written.Load() {
		return fmt.Errorf("%w: for a test", store.ErrDamaged)
	}
	return d.Store.View(ctx, fn)
}
