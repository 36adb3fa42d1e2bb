package evidence

import (
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/evidence/receipt"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/redaction"
	"github.com/countersign/countersign/internal/storage/store"
)

// FiledReceipt makes the receipt that is filed with an archived run, from the run and its approvals as
// they are filed: nothing of it is masked, but what a redaction has removed. The log proves it as it
// stands now.
func (s *ReceiptService) FiledReceipt(ctx context.Context, tenant string, run countersign.Run, approvals []countersign.Approval) ([]byte, error) {
	a := core.Actor{Principal: access.System(tenant)}
	a.Roles = []countersign.Role{countersign.RoleAdmin} // all of it is shown
	return s.build(ctx, a, run.ID, s.Store.View, func(tx store.Tx) (receipt.Facts, error) {
		f := receipt.Facts{
			Tenant: tenant, Version: s.Config.Version, IssuedAt: s.Config.Now(),
			Masked: run.Redacted != nil, Run: run, Approvals: slices.Clone(approvals),
		}
		if f.Masked && run.PlanSnapshot != nil { // another run of the file may have it whole
			p := redaction.Plan(run.PlanSnapshot, run.Redacted.At)
			f.Run.PlanSnapshot = &p
		}
		if err := names.In(tx, tenant).Run(&f.Run); err != nil {
			return f, err
		}
		return f, s.show(tx, a, f.Approvals)
	})
}
