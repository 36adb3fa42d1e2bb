package retention

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/archive"
	"github.com/countersign/countersign/internal/storage/store"
)

// Receipt makes the receipt of a run that is filed with it, from all that the run has: the store may
// have it no more.
type Receipt func(ctx context.Context, tenant string, run countersign.Run, approvals []countersign.Approval) ([]byte, error)

// prove makes the receipts of a batch.
func (c Config) prove(ctx context.Context, b *batch) (err error) {
	for i := range b.runs {
		r := &b.runs[i]
		run := *r.held.Run()
		run.PlanSnapshot = r.held.Plan()
		if r.receipt, err = c.receiptOf(ctx, b.tenant, run, r.approvals); err != nil {
			return err
		}
	}
	return nil
}

// proveAnew replaces the receipt of a run that was redacted since it was filed, if it has one.
func (c Config) proveAnew(ctx context.Context, tenant string, e *archive.Entry) (err error) {
	if !e.Receipt.IsZero() {
		e.Receipt, err = c.receiptOf(ctx, tenant, e.Run, e.Approvals)
	}
	return err
}

// receiptOf is none where the audit log that must prove it doesn't verify, or a record that it rests on is
// damaged: neither keeps the runs of a tenant in the store for ever, and what a redaction removes isn't kept
// for it either.
func (c Config) receiptOf(ctx context.Context, tenant string, run countersign.Run, approvals []countersign.Approval) (v countersign.Value, err error) {
	if c.Receipt == nil {
		return v, nil
	}
	doc, err := c.Receipt(ctx, tenant, run, approvals)
	if countersign.ErrorCode(err) == countersign.CodeStateConflict || errors.Is(err, store.ErrDamaged) {
		c.Log.Warn("a run is filed without its receipt", "tenant", tenant, "run", run.ID, "error", err)
		return v, nil
	}
	return countersign.RawValue(string(doc)), err
}
