package runrepo_test

import (
	"errors"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// budgeted stores a plan of two calls of pay, which a budget lets out.
func (h *fixture) budgeted(id string) {
	terms := countersign.Capability{Approval: countersign.ApprovalNone, Budgets: []countersign.Budget{{Count: 9, Window: "1h", Then: countersign.BudgetAsk, Reason: "r"}}}
	h.plans["acme"] = h.registerPay(id, terms, map[string]countersign.Value{"amount": countersign.RawValue("7")}, true)
}

const payments = "spent/capability/shop/pay"

// TestAStepWhoseBudgetsCannotBeReadIsNotSent: what was used isn't known, so nothing is
// committed, and nothing sent.
func TestAStepWhoseBudgetsCannotBeReadIsNotSent(t *testing.T) {
	h := open(t)
	h.budgeted("plan-9")
	ref, err := h.startOf("acme", "plan-9")
	if err != nil {
		t.Fatal(err)
	}
	h.update(func(tx store.Tx) error {
		return tx.Put(store.Meta, "acme", store.Row{ID: payments, Doc: []byte(`{"next":1,"tallies":[]}`)}, 0)
	})
	moved, err := h.apply(ref, run.Resumed{})
	if !errors.Is(err, store.ErrDamaged) || moved.Call != nil {
		t.Errorf("the step is sent: %v, %v", moved.Call, err)
	}
	if s := h.load(ref).Run().Steps[0]; s.Status != countersign.StepPending {
		t.Errorf("the step is %s", s.Status)
	}
}

// TestAStepIsFoundByItsRequestFromItsIntentOn: its outcome leaves that as it is, and a step
// that wasn't sent is found by nothing.
func TestAStepIsFoundByItsRequestFromItsIntentOn(t *testing.T) {
	h := open(t)
	h.budgeted("plan-9")
	ref, err := h.startOf("acme", "plan-9")
	if err != nil {
		t.Fatal(err)
	}
	sent := func() (found []string) {
		h.view(func(tx store.Tx) error {
			for i := range 2 {
				row, err := tx.Get(store.Steps, "acme", records.StepID(ref.RunID, i))
				if err != nil {
					return err
				}
				found = append(found, row.Keys[2].(string))
			}
			return nil
		})
		return found
	}
	if got := sent(); got[0] != "" || got[1] != "" {
		t.Errorf("before it is sent a step is found by %v", got)
	}
	h.must(ref, run.Resumed{})
	digest := h.load(ref).Run().Steps[0].RequestDigest.Text()
	first := records.SentKey(digest, dawn)
	if got := sent(); got[0] != first || got[1] != "" || !records.SentAt(got[0]).Equal(dawn) {
		t.Errorf("the steps are found by %v, want %s and nothing", got, first)
	}
	h.now = h.now.Add(time.Minute)
	h.must(ref, h.answer(ref, fine()))
	if got, second := sent(), records.SentKey(digest, h.now); got[0] != first || got[1] != second {
		t.Errorf("after an outcome the steps are found by %v, want %s and %s", got, first, second)
	}
}
