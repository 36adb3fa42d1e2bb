package evidence

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/approvals"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/control/runs"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/evidence/receipt"
	"github.com/countersign/countersign/internal/platform/periodic"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/mask"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// ReceiptService is the use cases of receipts and of the keys that sign them.
type ReceiptService struct {
	*core.Core
	runs      *runs.RunService
	approvals *approvals.ApprovalService
	prover    audit.Prover // of the records in receipts
	keeping   sync.Map     // tenants whose log's hashes are being kept
}

// NewReceipts returns the use cases.
func NewReceipts(c *core.Core, runs *runs.RunService, approvals *approvals.ApprovalService) *ReceiptService {
	return &ReceiptService{Core: c, runs: runs, approvals: approvals}
}

// Receipt makes the receipt of an ended run: signed canonical JSON with everything that is
// recorded of it, all from one snapshot of the store.
func (s *ReceiptService) Receipt(ctx context.Context, a core.Actor, id string) (doc []byte, err error) {
	busy := s.Compute(ctx, a.Tenant, func() {
		read := func(ctx context.Context, span func(tx store.Tx) error) error {
			return s.View(ctx, a, access.ReadReceipt, span)
		}
		doc, err = s.build(ctx, a, id, read, func(tx store.Tx) (receipt.Facts, error) { return s.receiptFacts(tx, a, id) })
	})
	return doc, cmp.Or(busy, err)
}

// reading reads a span of the store in one snapshot.
type reading = func(ctx context.Context, span func(tx store.Tx) error) error

// build collects the facts of a receipt, proves them from the same snapshot, and signs it. Where the
// prover would have to read much of the log in that snapshot, it reads it before, in many, and
// collects the facts again.
func (s *ReceiptService) build(ctx context.Context, a core.Actor, id string, read reading, facts func(tx store.Tx) (receipt.Facts, error)) ([]byte, error) {
	var f receipt.Facts
	var warm bool
	collect := func(warmed bool) func(tx store.Tx) error {
		return func(tx store.Tx) (err error) { // perhaps more than once
			if f, err = facts(tx); err != nil {
				return err
			}
			if warm, err = s.prover.IsWarm(tx, a.Tenant); err == nil && (warm || warmed) {
				f.Log, err = s.logOfRun(tx, a, f)
			}
			return provable(err, id)
		}
	}
	if err := read(ctx, collect(false)); err != nil {
		return nil, err
	}
	if !warm {
		if err := provable(s.prover.Warm(ctx, a.Tenant, read), id); err != nil {
			return nil, err
		}
		if err := read(ctx, collect(true)); err != nil {
			return nil, err
		}
		s.keepHashes(a.Tenant) // they come to the head of the log
	}
	key, err := s.signingKey(ctx)
	if err != nil {
		return nil, core.Public(err)
	}
	return receipt.Build(f, key)
}

// keepHashes keeps the hashes of what an earlier release has appended to the log, in the background
// and with pauses that leave the writer to others, so that no later start has to read it for its
// first receipt.
func (s *ReceiptService) keepHashes(tenant string) {
	if _, going := s.keeping.LoadOrStore(tenant, true); going {
		return
	}
	s.Background.Go(func() {
		defer s.keeping.Delete(tenant)
		for before := s.prover.Tiles(tenant); before > 0; {
			began, next := time.Now(), before
			err := s.Store.Update(s.Config.Life, func(tx store.Tx) (err error) {
				next, err = s.prover.Keep(tx, tenant, before)
				return err
			})
			if err != nil {
				s.Log.Warn("the hashes of the audit log are not kept: the next start reads it for its first receipt", "tenant", tenant, "error", err)
				return
			}
			if before = next; !periodic.Pause(s.Config.Life, time.Since(began)) {
				return
			}
		}
	})
}

// receiptFacts collects the contents of a receipt, but for what the log proves.
func (s *ReceiptService) receiptFacts(tx store.Tx, a core.Actor, id string) (f receipt.Facts, err error) {
	f = receipt.Facts{Tenant: a.Tenant, Version: s.Config.Version, IssuedAt: s.Config.Now()}
	if f.Run, err = s.runs.WholeRun(tx, a, id); err != nil {
		return f, err
	}
	if !f.Run.Status.IsTerminal() {
		return f, countersign.Errorf(countersign.CodeStateConflict, "run %s is %s; it has a receipt when it has ended", id, f.Run.Status)
	}
	if f.Masked, err = s.masksRun(tx, a, id); err != nil {
		return f, err
	}
	f.Masked = f.Masked || f.Run.Redacted != nil
	f.Approvals, err = s.approvalsOf(tx, a, id)
	return f, err
}

// provable turns the error of a log that doesn't verify into a state_conflict.
func provable(err error, run string) error {
	if audit.Broken(err) {
		return countersign.Errorf(countersign.CodeStateConflict, "run %s has no receipt, since the audit log that must prove it does not verify; GET /audit/verify says from which record on", run)
	}
	return err
}

// masksRun reports whether something of the run's plan is masked for the actor.
func (s *ReceiptService) masksRun(tx store.Tx, a core.Actor, runID string) (bool, error) {
	if !core.Masks(a) {
		return false, nil
	}
	rec, err := reach.Run(tx, a, runID)
	if err != nil {
		return false, err
	}
	p, err := s.Repo.Plan(tx, a.Tenant, rec.PlanID, rec.PlanDigest)
	if err != nil {
		return false, err
	}
	return mask.Of(p).MasksAnything(), nil
}

// approvalsOf reads all approvals of a run in the actor's scope, oldest first.
func (s *ReceiptService) approvalsOf(tx store.Tx, a core.Actor, runID string) ([]countersign.Approval, error) {
	found, err := records.Approvals.List(tx, a.Tenant, store.Query{Where: []store.Filter{store.Equal("run", runID)}, Order: core.OldestFirst})
	if err != nil {
		return nil, err
	}
	out := make([]countersign.Approval, len(found))
	for i := range found {
		out[i] = found[i].Approval
	}
	return out, s.show(tx, a, out)
}

// show prepares approvals for their reader.
func (s *ReceiptService) show(tx store.Tx, a core.Actor, list []countersign.Approval) error {
	names := names.In(tx, a.Tenant)
	for i := range list {
		if err := s.approvals.ShowApproval(names, a, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

// logOfRun proves the audit records of a run and its approvals. A masked receipt leaves out
// records with a masked digest, and records with a reason that the system gave, which may
// quote a masked value. The hashes that prove the other records don't reveal those left
// out, since each record has a salt of its own.
func (s *ReceiptService) logOfRun(tx store.Tx, a core.Actor, f receipt.Facts) (l receipt.Log, err error) {
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
			return r.Record.Actor == countersign.SystemPrincipal && r.Record.Reason != "" || r.Record.Digest != "" && !shows(f, r.Record.Digest)
		})
		leftOut += all - len(found)
	}
	if found, err = withRegistrations(tx, a.Tenant, f.Approvals, found); err != nil {
		return l, err
	}
	if found, err = withAnswerKeys(tx, a.Tenant, f.Run.Steps, found); err != nil {
		return l, err
	}
	proven, err := s.prover.Prove(tx, a.Tenant, found)
	if err != nil {
		return l, err
	}
	l = receipt.Log{Size: proven.Size, Root: proven.Root, LeftOut: leftOut, Records: make([]receipt.Record, len(found))}
	for i, r := range proven.Records {
		l.Records[i] = receipt.Record{Text: r.Text, Proof: proven.Proofs[i]}
	}
	last := int64(-1)
	if n := len(found); n > 0 {
		last = found[n-1].Record.Seq
	}
	l.Cosigned, err = s.cosigned(tx, a.Tenant, last, l)
	return l, err
}

// withRegistrations adds the records in which the passkeys were registered that signed
// decisions.
func withRegistrations(tx store.Tx, tenant string, approvals []countersign.Approval, found []audit.Sealed) ([]audit.Sealed, error) {
	var of []int64
	for _, ap := range approvals {
		for _, d := range ap.Decisions {
			if d.Assertion != nil && !slices.Contains(of, d.Assertion.Registration) {
				of = append(of, d.Assertion.Registration)
			}
		}
	}
	for _, seq := range of {
		r, err := audit.Sealing(tx, tenant, seq)
		if err != nil {
			return nil, err
		}
		found = append(found, r)
	}
	slices.SortFunc(found, func(x, y audit.Sealed) int { return cmp.Compare(x.Record.Seq, y.Record.Seq) })
	return found, nil
}

// shows reports whether the receipt shows a digest unmasked.
func shows(f receipt.Facts, digest string) bool {
	return f.Run.PlanDigest == digest ||
		slices.ContainsFunc(f.Run.Steps, func(st countersign.StepRun) bool { return st.RequestDigest.Text() == digest }) ||
		slices.ContainsFunc(f.Approvals, func(ap countersign.Approval) bool { return ap.RequestDigest == digest })
}
