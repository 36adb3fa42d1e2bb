package runrepo

import (
	"errors"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/repeat"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Two calls that are alike may be one action asked for twice. Runs whose outcome nobody knows,
// and rejections, are kept under what their call is found by, in the transaction that makes
// them; whoever asks looks there, and at nothing else.

// alikeRead bounds how many marks of one call are read.
const alikeRead = 64

// Alike is what there is besides a call, by what it is found by: rejections only of calls over
// MCP, which alone they are held against. runID is the run that makes the call, "" for a new one.
func (l *Repository) Alike(tx store.Tx, tenant, runID string, digests []string, overMCP bool) (a repeat.Alike, err error) {
	if len(digests) == 0 {
		return a, nil
	}
	if a.Open, err = l.open(tx, tenant, runID, digests); err != nil || !overMCP {
		return a, err
	}
	var rejected []repeat.Rejection
	for _, digest := range digests {
		known, _, err := records.RejectedCalls.Get(tx, tenant, records.RejectedCallID(digest))
		if err != nil && !errors.Is(err, store.ErrNotFound) && !Unreadable(err) {
			return a, err
		}
		if err == nil {
			rejected = append(rejected, known.Rejections...)
		}
	}
	a.Rejected = repeat.Within(rejected, l.cfg.Now())
	return a, nil
}

// open are the runs of a call whose outcome nobody knows. Mostly the tenant has no such run at
// all, which the store knows: every LIVE start asks for it.
func (l *Repository) open(tx store.Tx, tenant, runID string, digests []string) (open []string, err error) {
	n, err := countOf(tx, tenant, records.Recovery)
	if err != nil || n == 0 {
		return nil, err
	}
	for _, digest := range digests {
		rows, err := tx.List(store.Meta, tenant, store.Query{Where: records.OpenCallsOf(digest), Limit: alikeRead})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			id := records.RunOfMark(row.ID)
			if id == runID || len(open) == repeat.MaxAlike || slices.Contains(open, id) {
				continue
			}
			is, err := isUncertain(tx, tenant, id)
			if err != nil {
				return nil, err
			}
			if is {
				open = append(open, id)
			}
		}
	}
	return open, nil
}

// isUncertain looks at the run itself: an older release moves runs and leaves their marks.
func isUncertain(tx store.Tx, tenant, runID string) (bool, error) {
	r, _, err := records.Runs.Get(tx, tenant, runID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if Unreadable(err) { // nobody knows what became of it
		return true, nil
	}
	return err == nil && r.Status == countersign.RunRecoveryRequired, err
}

// alikeLook looks for what is like the step at the gate, in the transaction that lets it out.
type alikeLook struct {
	repository *Repository
	tx         store.Tx
	loaded     *LoadedRun
	err        error
}

func (l *alikeLook) of(digests []string) (a repeat.Alike) {
	if l.err == nil {
		a, l.err = l.repository.Alike(l.tx, l.loaded.Ref.Tenant, l.loaded.Ref.RunID, digests, repeat.IsCall(l.loaded.Run().IdempotencyKey))
	}
	return a
}

// markRejected keeps a person's rejection under what the call is found by.
func (l *Repository) markRejected(tx store.Tx, h *LoadedRun, a *countersign.Approval, d run.Decided) error {
	if d.Decision != countersign.ApprovalRejected || d.By == countersign.SystemPrincipal || a == nil {
		return nil
	}
	digests, err := repeat.Digests(a.ProjectID, a.Capability, a.InputSnapshot, a.Title)
	if err != nil {
		return err
	}
	now := l.cfg.Now()
	for _, digest := range digests {
		id := records.RejectedCallID(digest)
		rec, version, err := records.RejectedCalls.Get(tx, h.Ref.Tenant, id)
		switch {
		case errors.Is(err, store.ErrNotFound):
			rec, version, err = &records.RejectedCall{}, 0, l.sweepRejected(tx, h.Ref.Tenant, digest)
		case Unreadable(err): // the rejection itself stands
			continue
		}
		if err != nil {
			return err
		}
		all := repeat.Within(append(rec.Rejections, repeat.Rejection{ApprovalID: a.ID, RunID: h.Ref.RunID, At: now}), now)
		rec.Rejections = all[max(0, len(all)-repeat.MaxRejected):]
		if _, err := records.RejectedCalls.Put(tx, h.Ref.Tenant, id, rec, version); err != nil {
			return err
		}
	}
	return nil
}

// rejectedSwept is how many records are looked at with each new one. Digests are spread evenly,
// so all are reached.
const rejectedSwept = 4

// sweepRejected removes what counts no more among the records that follow a new one.
func (l *Repository) sweepRejected(tx store.Tx, tenant, digest string) error {
	rows, err := tx.List(store.Meta, tenant, store.Query{Where: records.RejectedCallsAfter(digest), Limit: rejectedSwept})
	for _, row := range rows {
		var rec records.RejectedCall // one that can't be read counts for nothing
		if records.Decode(row, &rec) != nil || len(repeat.Within(rec.Rejections, l.cfg.Now())) == 0 {
			err = errors.Join(err, tx.Delete(store.Meta, tenant, row.ID))
		}
	}
	return err
}
