package runrepo_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// everything is all rows of a tenant that a run's move may touch, as text.
func (h *fixture) everything(tenant string) string {
	h.t.Helper()
	var b strings.Builder
	h.view(func(tx store.Tx) error {
		for _, table := range []*store.Table{store.Runs, store.Steps, store.Approvals, store.Audit, store.AuditHeads} {
			rows, err := tx.List(table, tenant, store.Query{})
			if err != nil {
				return err
			}
			for _, row := range rows {
				b.WriteString(table.Name + " " + row.ID + " " + string(row.Doc) + "\n")
			}
		}
		rows, err := tx.List(store.Unfinished, store.Realm, store.Query{})
		for _, row := range rows {
			b.WriteString(row.ID + " " + string(row.Doc) + "\n")
		}
		return err
	})
	return b.String()
}

func (h *fixture) approvals(ref runrepo.Ref) (list []records.Approval) {
	h.t.Helper()
	h.view(func(tx store.Tx) (err error) {
		list, err = records.Approvals.List(tx, ref.Tenant, store.Query{Where: []store.Filter{store.Equal("run", ref.RunID)}})
		return err
	})
	return list
}

// TestMoveIsOneCommit: the run, its step, the approval, the work list and the
// audit records, or nothing of it.
func TestMoveIsOneCommit(t *testing.T) {
	h := open(t)
	ref := h.mustStart("acme")
	before := h.everything("acme")
	failure := errors.New("the disk is full")
	err := h.store.Update(context.Background(), func(tx store.Tx) error {
		if _, err := h.repository.Apply(tx, ref, nil, run.Resumed{}, runrepo.System); err != nil {
			return err
		}
		return failure
	})
	if !errors.Is(err, failure) || h.everything("acme") != before {
		t.Fatalf("%v left\n%s", err, cmp.Diff(before, h.everything("acme")))
	}
	h.must(ref, run.Resumed{})
	r := h.load(ref).Run()
	a := h.approvals(ref)
	if r.Status != countersign.RunWaitingApproval || r.Revision != 2 || r.Steps[0].Status != countersign.StepWaitingApproval || len(a) != 1 || a[0].ID != r.Steps[0].ApprovalID {
		t.Errorf("%+v, approvals %+v", r, a)
	}
	if want := (access.Requester{ID: "user:ada@example.com", Email: "ada@example.com"}); !reflect.DeepEqual(a[0].Requester, want) {
		t.Errorf("requester %+v", a[0].Requester)
	}
}

// Who moved it, on which request, and to which step: the audit log says so.
func TestAuditNamesActorRequestAndStep(t *testing.T) {
	h := open(t)
	ref := h.mustStart("acme")
	h.must(ref, run.Resumed{}, decide(countersign.ApprovalApproved))
	var newest []countersign.AuditRecord
	h.view(func(tx store.Tx) error {
		page, err := audit.List(tx, "acme", audit.Filter{Action: "approvals.decide"}, 10, 0)
		newest = page.Items
		return err
	})
	digest := h.load(ref).Run().Steps[0].RequestDigest.Text()
	want := []countersign.AuditRecord{{
		Seq: newest[0].Seq, At: dawn, Actor: bob.ID, Action: "approvals.decide", Subject: "run/" + ref.RunID, Step: "refund", Outcome: countersign.AuditDone,
		Before: "PENDING", After: "APPROVED", Reason: "seen", Digest: digest, RequestID: "req-2", Hash: newest[0].Hash,
	}}
	if diff := cmp.Diff(want, newest); diff != "" {
		t.Error(diff)
	}
}

func TestEventThatChangesNothingWritesNothing(t *testing.T) {
	h := open(t)
	ref := h.mustStart("acme")
	h.must(ref, run.Resumed{})
	before := h.everything("acme")
	h.must(ref, run.Resumed{}, run.Expired{}, run.SlotGranted{}, run.Restarted{})
	if after := h.everything("acme"); after != before {
		t.Error(cmp.Diff(before, after))
	}
}

func TestDecisionOnARunThatWaitsForNoneIsAConflict(t *testing.T) {
	h := open(t)
	ref := h.mustStart("acme")
	for _, reach := range []run.Event{run.Restarted{}, run.CancelAsked{Reason: "r", By: "b"}} {
		h.must(ref, reach)
		if _, err := h.apply(ref, decide(countersign.ApprovalApproved)); countersign.ErrorCode(err) != countersign.CodeStateConflict {
			t.Errorf("%v", err)
		}
	}
}

func TestRefusedDecisionLeavesTheApprovalPending(t *testing.T) {
	h := open(t)
	ref := h.mustStart("acme")
	h.must(ref, run.Resumed{})
	h.now = h.now.Add(ttl)
	before := h.everything("acme")
	if _, err := h.apply(ref, decide(countersign.ApprovalApproved)); countersign.ErrorCode(err) != countersign.CodeApprovalExpired {
		t.Errorf("%v", err)
	}
	if after := h.everything("acme"); after != before {
		t.Error(cmp.Diff(before, after))
	}
}

func TestExpiryIsTheSystemsRejection(t *testing.T) {
	h := open(t)
	ref := h.mustStart("acme")
	h.must(ref, run.Resumed{})
	h.now = h.now.Add(ttl)
	h.must(ref, run.Expired{})
	a := h.approvals(ref)[0]
	if a.Status != countersign.ApprovalRejected || a.DecidedBy != countersign.SystemPrincipal || !a.DecidedAt.Equal(h.now) || !strings.HasPrefix(a.DecisionReason, "approval_expired: ") {
		t.Errorf("%+v", a)
	}
}

// TestStaleRunIsLoadedAnew: whoever holds a run that moved on meanwhile applies
// its event to the present one.
func TestStaleRunIsLoadedAnew(t *testing.T) {
	h := open(t)
	ref := h.mustStart("acme")
	stale := h.load(ref)
	h.must(ref, run.Resumed{}, run.CancelAsked{Reason: "r", By: bob.ID})
	h.update(func(tx store.Tx) error {
		moved, err := h.repository.Apply(tx, ref, stale, run.Resumed{}, runrepo.System)
		if moved.Run.Run().Status != countersign.RunCancelled || moved.Call != nil {
			t.Errorf("%+v", moved.Run.Run())
		}
		return err
	})
	if stale.Run().Status != countersign.RunReady {
		t.Error("the run that was held changed")
	}
}

func TestUnknownRunIsNotFound(t *testing.T) {
	h := open(t)
	ref := h.mustStart("acme")
	for _, unknown := range []runrepo.Ref{{Tenant: "acme", RunID: "run-none"}, {Tenant: "beta", RunID: ref.RunID}} {
		if _, err := h.apply(unknown, run.Resumed{}); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%v", err)
		}
	}
}

// Steps and the plan have records of their own: what a step costs does not grow
// with either.
func TestRunIsStoredWithoutStepsAndPlan(t *testing.T) {
	h := open(t)
	ref := h.mustStart("acme")
	h.must(ref, run.Resumed{})
	h.view(func(tx store.Tx) error {
		rec, _, err := records.Runs.Get(tx, "acme", ref.RunID)
		if err != nil {
			return err
		}
		if rec.Steps != nil || rec.PlanSnapshot != nil || !cmp.Equal(rec.Projects, []string{"shop"}) {
			t.Errorf("%+v", rec)
		}
		whole, err := runrepo.New(runrepo.Config{}).Read(tx, ref)
		if err != nil {
			return err
		}
		if steps := whole.Steps; len(steps) != 2 || steps[0].ID != "refund" || steps[1].ID != "pay" {
			t.Errorf("%+v", steps)
		}
		return nil
	})
}

func TestOnlyChangedStepsAreWritten(t *testing.T) {
	h := open(t)
	ref := h.mustStart("acme")
	h.must(ref, run.Resumed{})
	versions := func() (v []int64) {
		h.view(func(tx store.Tx) error {
			rows, err := tx.List(store.Steps, "acme", store.Query{Order: []store.Order{{Column: "idx"}}})
			for _, row := range rows {
				v = append(v, row.Version)
			}
			return err
		})
		return v
	}
	if diff := cmp.Diff([]int64{2, 1}, versions()); diff != "" {
		t.Error(diff)
	}
	h.must(ref, decide(countersign.ApprovalApproved), run.Resumed{})
	if diff := cmp.Diff([]int64{3, 1}, versions()); diff != "" {
		t.Error(diff)
	}
}

func TestStoppedLedgerTakesOutcomesInAndBeginsNothing(t *testing.T) {
	h := open(t)
	ref := h.mustStart("acme")
	h.must(ref, run.Resumed{}, decide(countersign.ApprovalApproved), run.Resumed{})
	h.repository.StopSteps()
	if moved := h.must(ref, h.answer(ref, fine())); moved.Call != nil {
		t.Errorf("called %+v", moved.Call)
	}
	r := h.load(ref).Run()
	if r.Status != countersign.RunRunning || r.Steps[0].Status != countersign.StepCompleted || r.Steps[1].Status != countersign.StepPending {
		t.Errorf("%+v", r)
	}
}
