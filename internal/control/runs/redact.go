package runs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// RedactRun removes what an ended run holds, in one transaction with its audit record. The archive
// that an archived run is in is written anew behind it, see package retention.
func (s *RedactionService) RedactRun(ctx context.Context, a core.Actor, id, reason string) (countersign.Run, error) {
	if err := core.Given("reason", reason); err != nil {
		return countersign.Run{}, err
	}
	a = a.Asking(id, countersign.Reason{Reason: reason})
	k := kept{id: id, op: access.RedactRun}
	return s.change(ctx, a, &k, func(tx store.Tx) error {
		if err := s.mayRedact(tx, a, &k); err != nil {
			return err
		}
		now := s.Config.Now()
		if err := s.redactable(k.run, now); err != nil {
			return err
		}
		if err := s.redact(tx, a, &k, countersign.Redaction{By: a.ID, At: now}); err != nil {
			return err
		}
		return s.Audit(tx, a, access.RedactRun, "run/"+id, core.Change{
			Before: "WHOLE", After: "REDACTED", Reason: reason, Weakens: true, At: now, Was: core.Member("redacted", false), Now: core.Member("redacted", true),
		})
	})
}

func (s *RedactionService) redact(tx store.Tx, a core.Actor, k *kept, by countersign.Redaction) (err error) {
	ref := runrepo.Ref{Tenant: a.Tenant, RunID: k.id}
	if k.left == nil {
		k.moved, err = s.Repo.Redact(tx, ref, by)
	} else {
		k.left, err = s.Repo.RedactArchived(tx, ref, by)
	}
	return err
}

// redactable is nil for a run that ended long enough ago and that nobody holds.
func (s *RedactionService) redactable(r *countersign.Run, now time.Time) error {
	from := r.CompletedAt.Add(s.Config.RedactFrom)
	switch {
	case !r.Status.IsTerminal():
		return countersign.Errorf(countersign.CodeStateConflict, "run %s is %s; it can be redacted once it has ended", r.ID, r.Status)
	case r.Redacted != nil:
		return countersign.Errorf(countersign.CodeStateConflict, "run %s was redacted already, on %s", r.ID, r.Redacted.At.UTC().Format("2006-01-02"))
	case r.Hold != nil:
		return countersign.Errorf(countersign.CodeStateConflict, "run %s is held since %s; it can be redacted once the hold is ended", r.ID, r.Hold.At.UTC().Format("2006-01-02"))
	case now.Before(from):
		return countersign.Errorf(countersign.CodeStateConflict, "run %s can be redacted from %s on, %s after its end", r.ID, from.UTC().Format(time.RFC3339), s.Config.RedactFrom)
	}
	return nil
}

// judging are the actions by which somebody decides or resolves a part of a run.
var judging = []string{string(access.DecideApproval), string(access.ReconcileRun), string(access.SettleRun)}

// mayRedact is nil for who had no part in the run. Who had one stands in the audit log, for as long
// as the run is known, archived or not.
func (s *RedactionService) mayRedact(tx store.Tx, a core.Actor, k *kept) error {
	asked, err := runrepo.Makers(tx, a.Tenant, k.asked)
	if err != nil {
		return err
	}
	parts := []access.Requester{asked}
	sealed, _, err := audit.About(tx, a.Tenant, []string{"run/" + k.id})
	if err != nil {
		return err
	}
	for _, rec := range sealed {
		if rec.Record.Outcome != countersign.AuditDone || !slices.Contains(judging, rec.Record.Action) {
			continue
		}
		by, err := partOf(tx, a.Tenant, rec.Record)
		if err != nil {
			return err
		}
		parts = append(parts, by)
	}
	return s.Config.Eyes.MayRedact(a.Principal, parts)
}

// partOf is who acted in a record, with the user behind a token and its makers.
func partOf(tx store.Tx, tenant string, rec countersign.AuditRecord) (access.Requester, error) {
	r, err := runrepo.Makers(tx, tenant, access.Requester{ID: rec.Actor, Makers: rec.ActorMakers, OnBehalfOf: rec.OnBehalfOf})
	if err != nil {
		return r, err
	}
	if id, isToken := strings.CutPrefix(rec.Actor, "token:"); isToken {
		t, _, err := records.Tokens.Get(tx, tenant, id)
		if errors.Is(err, store.ErrNotFound) {
			return r, nil
		}
		if err != nil {
			return r, err
		}
		r.Email = t.UserEmail
	}
	return r, nil
}

// shownLeft is what is left of an archived run, as the actor may see it.
func (s *RedactionService) shownLeft(tx store.Tx, a core.Actor, id string) (countersign.Run, error) {
	left, err := reach.Archived(tx, a, id)
	if err != nil {
		return countersign.Run{}, core.Found(err, "run", id)
	}
	r := left.Run
	err = names.In(tx, a.Tenant).Run(&r)
	return r, err
}
