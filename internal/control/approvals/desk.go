package approvals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// desk is what waits for one principal, as their feed knows it: it is read once, and then follows
// the audit log, which has every change of a run or an approval, on whatever replica.
type desk struct {
	*ApprovalService
	actor          core.Actor
	waitingChanges WaitingChanges

	approvals, recoveries map[string]bool
	changes               int
	seen                  map[string]string // of approvals that wait: how far they are
	changed               []countersign.Changed
}

// counts are how much waits.
func (d *desk) counts() countersign.WaitingCounts {
	return countersign.WaitingCounts{
		Approvals: len(d.approvals), Recoveries: len(d.recoveries),
		Changes: d.changes,
	}
}

// readAll reads all that waits, in spans.
func (d *desk) readAll(ctx context.Context) error {
	scope := func(t *store.Table, status string) func(tx store.Tx) ([]store.Filter, error) {
		return func(tx store.Tx) ([]store.Filter, error) {
			where, err := records.InScope(tx, t, d.actor.Principal)
			return append(where, store.Equal("status", status)), err
		}
	}
	var asked, uncertain []string
	var err error
	if access.Allow(d.actor.Principal, access.DecideApproval) == nil {
		of := spansOf(d.ApprovalService, scope(store.Approvals, string(countersign.ApprovalPending)))
		of.Op = access.ReadEvents
		asked, err = core.InSpans(ctx, d.Core, d.actor, of, 0, func(tx store.Tx, rec *records.Approval) (string, bool, error) {
			may, err := d.mayDecideNow(tx, rec)
			return rec.ID, may, err
		})
	}
	if err == nil && access.Allow(d.actor.Principal, access.ReconcileRun) == nil {
		of := core.Spans[records.Run]{
			Of: records.Runs, Op: access.ReadEvents, Turns: d.lookups, Where: scope(store.Runs, string(countersign.RunRecoveryRequired)),
			Key: func(r *records.Run) (string, int64) { return r.ID, r.CreatedAt.UnixMicro() },
		}
		uncertain, err = core.InSpans(ctx, d.Core, d.actor, of, 0, func(tx store.Tx, r *records.Run) (string, bool, error) {
			may, err := d.mayReconcileNow(tx, r)
			return r.ID, may, err
		})
	}
	if err == nil {
		d.changes, err = d.waitingChanges(ctx, d.actor)
	}
	if err != nil {
		return err
	}
	d.approvals, d.recoveries = setOf(asked), setOf(uncertain)
	return nil
}

func setOf(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// mayDecideNow reports an approval that waits for this actor.
func (d *desk) mayDecideNow(tx store.Tx, rec *records.Approval) (bool, error) {
	if rec.Status != countersign.ApprovalPending || !d.Config.Now().Before(rec.ExpiresAt) {
		return false, nil
	}
	return waitsFor(d.barredDecision(tx, d.actor, rec))
}

// mayReconcileNow reports a run whose outcome this actor may say.
func (d *desk) mayReconcileNow(tx store.Tx, r *records.Run) (bool, error) {
	if r.Status != countersign.RunRecoveryRequired || r.WaitingFor == nil || r.WaitingFor.Kind != countersign.WaitReconcile {
		return false, nil
	}
	return waitsFor(d.BarredFrom(tx, d.actor, core.AboutRun(access.ReconcileRun, r)))
}

// waitsFor reports that nothing bars; a refusal does, any other error is one.
func waitsFor(barred error) (bool, error) {
	if barred != nil && countersign.ErrorCode(barred) == "" {
		return false, barred
	}
	return barred == nil, nil
}

// widens are the kinds of subjects of which a change may alter what waits for whom.
var widens = map[string]bool{"group": true, "user": true, "delegation": true, "token": true, "tenant": true, "settings": true, "change": true}

// follow takes what the log says has changed. It reports that all must be read again.
func (d *desk) follow(tx store.Tx, log []countersign.AuditRecord) (again bool, err error) {
	done := map[string]bool{}
	for i := len(log) - 1; i >= 0; i-- {
		kind, id, _ := strings.Cut(log[i].Subject, "/")
		again = again || widens[kind] && log[i].Outcome == countersign.AuditDone
		if done[log[i].Subject] {
			continue
		}
		done[log[i].Subject] = true
		switch kind {
		case "run":
			err = d.runChanged(tx, id, done)
		case "approval":
			err = d.approvalChanged(tx, id, true)
		}
		if err != nil {
			return again, err
		}
	}
	return again, nil
}

func (d *desk) runChanged(tx store.Tx, id string, done map[string]bool) error {
	rec, _, err := records.Runs.Get(tx, d.actor.Tenant, id)
	if gone, err := lacks(d.Core, store.Runs, d.actor.Tenant, id, err); gone || err != nil {
		delete(d.recoveries, id)
		return err
	}
	if access.InRun(d.actor.Principal, rec.AgentID, rec.Projects...) != nil {
		return nil
	}
	d.changed = append(d.changed, countersign.Changed{Kind: "run", ID: id})
	may, err := d.mayReconcileNow(tx, rec)
	set(d.recoveries, id, may)
	if subject := "approval/" + rec.ApprovalID; err == nil && rec.ApprovalID != "" && !done[subject] {
		err = d.approvalChanged(tx, rec.ApprovalID, false)
	}
	return err
}

// approvalChanged looks at an approval. said: the log names it.
func (d *desk) approvalChanged(tx store.Tx, id string, said bool) error {
	rec, _, err := records.Approvals.Get(tx, d.actor.Tenant, id)
	if gone, err := lacks(d.Core, store.Approvals, d.actor.Tenant, id, err); gone || err != nil {
		delete(d.approvals, id)
		return err
	}
	if access.InScope(d.actor.Principal, rec.ProjectID) != nil {
		return nil
	}
	now := fmt.Sprint(rec.Status, len(rec.Decisions))
	if said || d.seen[id] != now {
		d.changed = append(d.changed, countersign.Changed{Kind: "approval", ID: id})
	}
	if d.seen[id] = now; rec.Status != countersign.ApprovalPending {
		delete(d.seen, id)
	}
	may, err := d.mayDecideNow(tx, rec)
	set(d.approvals, id, may)
	return err
}

func set(of map[string]bool, id string, in bool) {
	if in {
		of[id] = true
	} else {
		delete(of, id)
	}
}

// copied is a desk that a function of the store may change: it may run twice.
func (d *desk) copied() *desk {
	c := *d
	c.approvals, c.recoveries, c.seen, c.changed = maps.Clone(d.approvals), maps.Clone(d.recoveries), maps.Clone(d.seen), nil
	return &c
}

// ends reports that whoever watches may watch no more.
func ends(err error) bool {
	code := countersign.ErrorCode(err)
	return code != "" && code != countersign.CodeUnavailable && code != countersign.CodeCapacity || errors.Is(err, context.Canceled)
}

// sameRights is what a feed is shared by.
func sameRights(a core.Actor) string {
	p := a.Principal
	return fmt.Sprintf("%q", []any{p.Tenant, p.ID, p.Roles, p.Projects == nil, p.Projects, p.Modes == nil, p.Modes, p.Realm, p.Email, p.Person, p.Lineage, cmp.Or(p.Session, "-") == "-"})
}
