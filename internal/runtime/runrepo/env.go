package runrepo

import (
	"errors"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// env reads what run.Apply asks for, in the transaction that will commit.
func (l *Repository) env(tx store.Tx, h *LoadedRun) (run.Env, *loadedApproval, error) {
	env := run.Env{
		Now: l.cfg.Now(), Plan: h.plan, NewApprovalID: func() string { return l.cfg.NewID("apr") },
		ApprovalTTL: l.cfg.ApprovalTTL, MaxProbes: l.cfg.MaxProbes, OriginAllowed: l.cfg.OriginAllowed, Stopping: l.stopping.Load(),
		Taken: h.record.Taken, Judged: l.judged.of(h.Ref), Meter: l.meter(nil, cost.InTurn, 0),
	}
	var err error
	if h.Run().Mode == countersign.ModeLive {
		if env.Stopped, err = Stopped(tx, h.Ref.Tenant); err != nil {
			return env, nil, err
		}
	}
	if env.Current, err = l.CurrentRevisions(tx, h.Ref.Tenant, h.plan); err != nil {
		return env, nil, err
	}
	a, err := loadApproval(tx, h)
	if err != nil {
		return env, nil, err
	}
	if a.record != nil {
		env.Approval = &a.record.Approval
	}
	return env, a, nil
}

// CurrentRevisions reads the current revision and state of everything that a plan was made
// from. What is gone has no entry.
func (l *Repository) CurrentRevisions(tx store.Tx, tenant string, p *countersign.Plan) (plan.CurrentRevisions, error) {
	out := plan.CurrentRevisions{}
	for _, seen := range plan.Subjects(p) {
		s, err := l.currentRevision(tx, tenant, seen.Subject)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out[seen.Subject] = s
	}
	return out, nil
}

// maxCachedHeads bounds the cache of decoded heads.
const maxCachedHeads = 1024

// currentRevision reads a head in the transaction, and decodes it unless this very document
// was decoded before: each step asks for the same few heads.
func (l *Repository) currentRevision(tx store.Tx, tenant string, s plan.Subject) (plan.CurrentRevision, error) {
	table, decode := headOf(s.Kind)
	row, err := store.Look(tx, table, tenant, s.ID)
	if err != nil {
		return plan.CurrentRevision{}, err
	}
	at := headStamp{table, cache.StampOf(tenant, s.ID, row.Version, row.Doc)}
	if known, ok := l.heads.Get(at); ok {
		return known, nil
	}
	now, err := decode(row)
	if err == nil {
		l.heads.Put(at, now)
	}
	return now, err
}

// headStamp identifies one version of a head's document.
type headStamp struct {
	table *store.Table
	cache.Stamp
}

// headOf says where the heads of a kind of subject are stored, and what they say.
func headOf(kind string) (*store.Table, func(store.Row) (plan.CurrentRevision, error)) {
	switch kind {
	case plan.KindModel:
		return store.Models, decodeHead(func(m records.ModelHead) plan.CurrentRevision {
			return plan.CurrentRevision{Revision: m.Revision, Suspended: m.Suspended, Retired: m.Retired}
		})
	case plan.KindAgent:
		return store.Agents, decodeHead(func(a records.AgentHead) plan.CurrentRevision {
			return plan.CurrentRevision{Revision: a.Revision, Suspended: a.Suspended, Retired: a.Retired}
		})
	case plan.KindTeam:
		return store.Teams, decodeHead(func(t records.TeamHead) plan.CurrentRevision {
			return plan.CurrentRevision{Revision: t.Revision, Suspended: t.Suspended, Retired: t.Retired}
		})
	default:
		return store.Projects, decodeHead(func(p records.ProjectHead) plan.CurrentRevision {
			return plan.CurrentRevision{Revision: p.Revision, Disabled: !p.Enabled, Retired: p.Retired, AnswerKeys: strings.Join(p.AnswerKeys, " ")}
		})
	}
}

func decodeHead[T any](now func(T) plan.CurrentRevision) func(store.Row) (plan.CurrentRevision, error) {
	return func(row store.Row) (plan.CurrentRevision, error) {
		var head T
		err := records.Decode(row, &head)
		return now(head), err
	}
}

// loadedApproval is the approval that a run's waiting step refers to; its record is nil
// when there is none.
type loadedApproval struct {
	record  *records.Approval
	version int64
	changed bool
}

func loadApproval(tx store.Tx, h *LoadedRun) (*loadedApproval, error) {
	a := &loadedApproval{}
	for i := range h.record.Steps {
		s := &h.record.Steps[i]
		if s.Status != countersign.StepWaitingApproval || s.ApprovalID == "" {
			continue
		}
		var err error
		if a.record, a.version, err = records.Approvals.Get(tx, h.Ref.Tenant, s.ApprovalID); err != nil {
			return a, err
		}
		return a, nameMakers(tx, h.Ref.Tenant, a.record)
	}
	return a, nil
}

func (a *loadedApproval) save(tx store.Tx, tenant string) error {
	if !a.changed {
		return nil
	}
	_, err := records.Approvals.Put(tx, tenant, a.record.ID, a.record, a.version)
	return err
}
