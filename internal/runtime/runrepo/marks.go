package runrepo

import (
	"errors"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/repeat"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// marks are the ids of a run's marks as it is: those of its call while nobody knows what became
// of it, and that of its agent while it asks, or is about to.
func marks(h *LoadedRun) (ids []string, err error) {
	r := h.Run()
	if r.Mode != countersign.ModeLive || r.Status.IsTerminal() {
		return nil, nil
	}
	if r.AgentID != "" && slices.ContainsFunc(r.Steps, func(s countersign.StepRun) bool { return asks(r, s) }) {
		ids = append(ids, records.AskingID(r.AgentID, r.ID))
	}
	i := slices.IndexFunc(r.Steps, func(s countersign.StepRun) bool { return s.Status == countersign.StepRecoveryRequired })
	if r.Status != countersign.RunRecoveryRequired || i < 0 {
		return ids, nil
	}
	digests, err := callOf(h.plan, &r.Steps[i])
	for _, digest := range digests {
		ids = append(ids, records.OpenCallID(digest, r.ID))
	}
	return ids, err
}

// asks reports a step that waits for a person's approval, or will when it begins.
func asks(r *countersign.Run, s countersign.StepRun) bool {
	switch s.Status {
	case countersign.StepWaitingApproval:
		return r.WaitingFor == nil || r.WaitingFor.Kind == countersign.WaitApproval
	case countersign.StepPending:
		return s.ApprovalRequired && s.Attempt == 0
	}
	return false
}

// callOf is what a step's call is found by: without its title where that takes too long.
func callOf(p *countersign.Plan, s *countersign.StepRun) ([]string, error) {
	title := ""
	if c := capabilityOf(p, s); c != nil {
		m := cost.New(nil, cost.InTurn, 0)
		if title = request.TitleOf(m, c, s.Input); m.Over() {
			title = ""
		}
	}
	return repeat.Digests(s.ProjectID, s.Capability, s.Input, title)
}

// remark brings the marks of a run from what they were to what they are.
func remark(tx store.Tx, before, after *LoadedRun) error {
	was, err := marks(before)
	if err != nil {
		return err
	}
	is, err := marks(after)
	if err != nil {
		return err
	}
	for _, id := range was {
		if !slices.Contains(is, id) {
			if err := tx.Delete(store.Meta, after.Ref.Tenant, id); err != nil {
				return err
			}
		}
	}
	for _, id := range is {
		if !slices.Contains(was, id) {
			if err := mark(tx, after, id); err != nil {
				return err
			}
		}
	}
	return nil
}

func mark(tx store.Tx, h *LoadedRun, id string) error {
	_, err := store.Look(tx, store.Meta, h.Ref.Tenant, id)
	if errors.Is(err, store.ErrNotFound) {
		_, err = records.Marks.Put(tx, h.Ref.Tenant, id, &records.Mark{RunID: h.Ref.RunID, Since: h.Run().CreatedAt}, 0)
	}
	return err
}

// MarkAnew sets the marks of a run that an older release has stored or moved.
func (l *Repository) MarkAnew(tx store.Tx, ref Ref) error {
	h, err := l.Load(tx, ref)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	ids, err := marks(h)
	for _, id := range ids {
		err = errors.Join(err, mark(tx, h, id))
	}
	return err
}

// Asking are the runs of an agent that wait for an approval, or will when they begin, and the
// oldest of them: exact from most on, below it a mark may be left of a run that went on.
func (l *Repository) Asking(tx store.Tx, tenant, agentID string, most int) (n int, oldest string, err error) {
	n, err = tx.Count(store.Meta, tenant, store.Query{Where: records.AskingOf(agentID)})
	if err != nil || n < most {
		return n, "", err
	}
	rows, err := tx.List(store.Meta, tenant, store.Query{Where: records.AskingOf(agentID)})
	if err != nil {
		return n, "", err
	}
	n = 0
	var first records.Mark
	for _, row := range rows {
		var m records.Mark
		if err := records.Decode(row, &m); err != nil {
			continue // it counts for nothing
		}
		is, err := isAsking(tx, tenant, m.RunID)
		if err != nil {
			return n, "", err
		}
		if !is {
			continue
		}
		if n++; first.RunID == "" || m.Since.Before(first.Since) {
			first = m
		}
	}
	return n, first.RunID, nil
}

// isAsking looks at the run itself, as isUncertain does.
func isAsking(tx store.Tx, tenant, runID string) (bool, error) {
	r, _, err := records.Runs.Get(tx, tenant, runID)
	if errors.Is(err, store.ErrNotFound) || Unreadable(err) {
		return false, nil
	}
	waits := err == nil && (r.Status.IsActive() || r.Status == countersign.RunWaitingApproval && (r.WaitingFor == nil || r.WaitingFor.Kind == countersign.WaitApproval))
	return waits, err
}
