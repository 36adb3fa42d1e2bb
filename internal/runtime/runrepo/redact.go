package runrepo

import (
	"errors"
	"io"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/redaction"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Redact removes what an ended run holds from the store: from its own record, its steps, probes and
// approvals, from its plan if no other run has that, and from what it is found by. What is left to
// be done outside the store is an entry of its own in the same transaction.
func (l *Repository) Redact(tx store.Tx, ref Ref, by countersign.Redaction) (*LoadedRun, error) {
	loaded, err := l.Load(tx, ref)
	if err != nil {
		return nil, err
	}
	found := loaded.record.Run
	next := *loaded
	next.change(func(r *records.Run) { r.Run = redaction.Run(&r.Run, by) }, l)
	next.stored = slices.Clone(loaded.stored)
	for i := range next.record.Steps {
		if err := next.saveStep(tx, i); err != nil {
			return nil, err
		}
	}
	for _, clear := range []func() error{
		func() error { return loaded.removeProbed(tx) },
		func() error { return next.redactProbes(tx) },
		func() error { return redactApprovals(tx, ref, by) },
		func() error { return records.RemoveTextTerms(tx, ref.Tenant, &found) },
		func() error { return l.RedactPlan(tx, ref, found.PlanID, by) },
		func() error { return forgetRehearsal(tx, ref, &found) },
		func() error { return leaveRedacting(tx, ref, by) },
	} {
		if err := clear(); err != nil {
			return nil, err
		}
	}
	l.latest.writing(ref, loaded.version+1)
	return &next, next.saveHeader(tx)
}

// RedactArchived removes what the store still knows of an archived run, and leaves its file to
// whoever writes archives.
func (l *Repository) RedactArchived(tx store.Tx, ref Ref, by countersign.Redaction) (*records.Archived, error) {
	left, version, err := records.ArchivedRuns.Get(tx, ref.Tenant, ref.RunID)
	if err != nil {
		return nil, err
	}
	planID := left.Run.PlanID
	left.Run = redaction.Run(&left.Run, by)
	if _, err := records.ArchivedRuns.Put(tx, ref.Tenant, ref.RunID, left, version); err != nil {
		return nil, err
	}
	if err := l.RedactPlan(tx, ref, planID, by); err != nil && !errors.Is(err, store.ErrNotFound) { // one of its own went with it
		return nil, err
	}
	return left, leaveRedacting(tx, ref, by)
}

// removeProbed removes the texts of the probes that a run is found by, a few in memory at a time.
func (h *LoadedRun) removeProbed(tx store.Tx) error {
	var failed error
	err := eachProbe(tx, h.Ref, h.record.Probes, func(p *records.Probe, _ int) {
		of := countersign.Run{ID: h.record.ID, CreatedAt: h.record.CreatedAt, Steps: []countersign.StepRun{{Probes: []countersign.ProbeRecord{p.Probe}}}}
		failed = errors.Join(failed, records.RemoveTextTerms(tx, h.Ref.Tenant, &of))
	})
	return errors.Join(err, failed)
}

// redactProbes writes the probes that have records of their own, one at a time.
func (h *LoadedRun) redactProbes(tx store.Tx) error {
	h.record.ProbeBytes = 0
	for n := 1; n <= h.record.Probes; n++ {
		of, id := records.Probes(h.record.ID, n), records.ProbeID(h.record.ID, n)
		p, version, err := of.Get(tx, h.Ref.Tenant, id)
		if err != nil {
			return err
		}
		doc, _, err := of.PutDoc(tx, h.Ref.Tenant, id, &records.Probe{Step: p.Step, Probe: redaction.Probe(&p.Probe)}, version)
		if err != nil {
			return err
		}
		h.record.ProbeBytes += len(doc)
	}
	h.probed = h.record.ProbeBytes
	return nil
}

func redactApprovals(tx store.Tx, ref Ref, by countersign.Redaction) error {
	rows, err := tx.List(store.Approvals, ref.Tenant, store.Query{Where: []store.Filter{store.Equal("run", ref.RunID)}})
	if err != nil {
		return err
	}
	for _, row := range rows {
		var a records.Approval
		if err := records.Decode(row, &a); err != nil {
			return err
		}
		a.Approval = redaction.Approval(&a.Approval, by.At)
		if _, err := records.Approvals.Put(tx, ref.Tenant, a.ID, &a, row.Version); err != nil {
			return err
		}
	}
	return nil
}

// othersAtOnce is how many runs of a plan are looked at at once.
const othersAtOnce = 50

// RedactPlan removes what a plan holds, unless a run besides this one still holds it.
func (l *Repository) RedactPlan(tx store.Tx, ref Ref, planID string, by countersign.Redaction) error {
	q := store.Query{Where: []store.Filter{store.Equal("plan", planID)}, Order: []store.Order{{Column: "created", Descending: true}}}
	err := records.Runs.EachReadable(tx, ref.Tenant, q, othersAtOnce, func(other *records.Run) error {
		if other.ID != ref.RunID && other.Redacted == nil {
			return io.EOF // no other needs to be looked at
		}
		return nil
	}, func(store.Row, error) error { return io.EOF })
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	p, version, err := records.Plans.Get(tx, ref.Tenant, planID)
	if err != nil {
		return err
	}
	p.Plan = redaction.Plan(&p.Plan, by.At)
	_, err = records.Plans.Put(tx, ref.Tenant, planID, p, version)
	return err
}

// forgetRehearsal removes the reference of a plan to this run as its last rehearsal: nothing can be
// compared with it any more.
func forgetRehearsal(tx store.Tx, ref Ref, r *countersign.Run) error {
	if r.Mode != countersign.ModeDryRun {
		return nil
	}
	last, _, err := records.Rehearsals.Get(tx, ref.Tenant, r.PlanDigest)
	if errors.Is(err, store.ErrNotFound) || err == nil && last.RunID != ref.RunID {
		return nil
	}
	if err != nil {
		return err
	}
	return records.Rehearsals.Delete(tx, ref.Tenant, r.PlanDigest)
}

func leaveRedacting(tx store.Tx, ref Ref, by countersign.Redaction) error {
	if _, err := records.Redactings.Put(tx, ref.Tenant, records.RedactingID(ref.RunID), &records.Redacting{RunID: ref.RunID, At: by.At}, 0); err != nil {
		return err
	}
	return records.IndexAnew(tx, ref.Tenant)
}
