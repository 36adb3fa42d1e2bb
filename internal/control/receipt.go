package control

import (
	"cmp"
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/access"
	"github.com/countersign/countersign/internal/audit"
	"github.com/countersign/countersign/internal/receipt"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/store"
)

// Receipt makes the receipt of an ended run: canonical JSON with all that is known of
// it, signed. Everything in it is of one snapshot of the store.
func (s *Service) Receipt(ctx context.Context, a Actor, id string) (doc []byte, err error) {
	var facts receipt.Facts
	busy := s.think(ctx, func() { // the first proof after a start reads the whole log
		err = s.view(ctx, a, access.ReadReceipt, func(tx store.Tx) error {
			facts, err = s.receiptFacts(tx, a, id)
			return err
		})
	})
	if err = cmp.Or(busy, err); err != nil {
		return nil, err
	}
	key, err := s.signingKey(ctx)
	if err != nil {
		return nil, public(err)
	}
	return receipt.Build(facts, key)
}

func (s *Service) receiptFacts(tx store.Tx, a Actor, id string) (f receipt.Facts, err error) {
	f = receipt.Facts{Tenant: a.Tenant, Version: s.cfg.Version, IssuedAt: s.cfg.Now()}
	if f.Run, err = s.wholeRun(tx, a, id); err != nil {
		return f, err
	}
	if !f.Run.Status.IsTerminal() {
		return f, countersign.Errorf(countersign.CodeStateConflict, "run %s is %s; it has a receipt when it has ended", id, f.Run.Status)
	}
	if f.Masked, err = s.leavesOut(tx, a, &f.Run); err != nil {
		return f, err
	}
	if f.Approvals, err = s.approvalsOf(tx, a, id); err != nil {
		return f, err
	}
	f.Log, err = s.logOfRun(tx, a, f)
	return f, err
}

// leavesOut reports that the actor must not see everything of the run's plan.
func (s *Service) leavesOut(tx store.Tx, a Actor, r *countersign.Run) (bool, error) {
	if !masks(a) {
		return false, nil
	}
	p, err := s.ledger.Plan(tx, a.Tenant, r.PlanID, r.PlanDigest)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(p.Steps, func(st countersign.Step) bool { return hiddenFor(p, st.ProjectID, st.Capability) != nil }), nil
}

// approvalsOf reads all approvals of a run in the actor's scope, the oldest first.
func (s *Service) approvalsOf(tx store.Tx, a Actor, runID string) ([]countersign.Approval, error) {
	found, err := records.Approvals.List(tx, a.Tenant, store.Query{Where: []store.Filter{store.Equal("run", runID)}, Order: oldestFirst})
	if err != nil {
		return nil, err
	}
	out := make([]countersign.Approval, len(found))
	for i := range found {
		out[i] = found[i].Approval
		if err := nameApproval(tx, a.Tenant, &out[i]); err != nil {
			return nil, err
		}
		if err := s.maskApproval(tx, a, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// logOfRun proves the audit records of a run and its approvals. What the system gave
// as a reason may quote what an actor must not see, and a hash of so little would
// give it away: such records are left out.
func (s *Service) logOfRun(tx store.Tx, a Actor, f receipt.Facts) (l receipt.Log, err error) {
	subjects := []string{"run/" + f.Run.ID}
	for _, ap := range f.Approvals {
		subjects = append(subjects, "approval/"+ap.ID)
	}
	found, leftOut, err := audit.About(tx, a.Tenant, subjects)
	if err != nil {
		return l, err
	}
	if f.Masked {
		all := len(found)
		found = slices.DeleteFunc(found, func(r audit.Sealed) bool {
			return r.Record.Actor == countersign.SystemPrincipal && r.Record.Reason != ""
		})
		leftOut += all - len(found)
	}
	proven, err := s.prover.Prove(tx, a.Tenant, found)
	if err != nil {
		return l, err
	}
	l = receipt.Log{Size: proven.Size, Root: proven.Root, LeftOut: leftOut, Records: make([]receipt.Record, len(found))}
	for i, r := range proven.Records {
		l.Records[i] = receipt.Record{Text: r.Text, Proof: proven.Proofs[i]}
	}
	return l, nil
}
