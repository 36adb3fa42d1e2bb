package projects

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// What is retired is hidden from lists, and no new plan, run, team or manifest entry can use
// it. It can still be read; nothing is deleted. Like suspending, retiring raises the
// revision of a model, agent or team, so that earlier plans never run again. A project
// can't be retired while unfinished runs use it.

// RetireProject retires a project that no unfinished run uses, and disables it.
func (s *ProjectService) RetireProject(ctx context.Context, a core.Actor, id, reason string) (countersign.Project, error) {
	return s.moveProject(ctx, a, access.RetireProject, id, reason)
}

// RestoreProject ends the retirement of a project, which stays disabled.
func (s *ProjectService) RestoreProject(ctx context.Context, a core.Actor, id, reason string) (countersign.Project, error) {
	return s.moveProject(ctx, a, access.RestoreProject, id, reason)
}

func (s *ProjectService) moveProject(ctx context.Context, a core.Actor, op access.Operation, id, reason string) (p countersign.Project, err error) {
	if err := core.Given("reason", reason); err != nil {
		return p, err
	}
	err = core.WhileMoved(func() error {
		seen, err := s.useToRetire(ctx, a, op, id)
		if err != nil {
			return err
		}
		return s.UpdateInTurn(ctx, a, op, "project/"+id, func(tx store.Tx) error {
			head, version, err := reach.Project(tx, a, id)
			if err != nil {
				return err
			}
			if head.Retired != (op == access.RetireProject) {
				if err := s.retireProject(tx, a, op, head, version, reason, seen); err != nil {
					return err
				}
			}
			p, err = s.shownProject(tx, a.Tenant, *head)
			return err
		})
	})
	return p, err
}

// useToRetire looks at the use of a project that is to be retired. What speaks against the
// request is for the turn to say.
func (s *ProjectService) useToRetire(ctx context.Context, a core.Actor, op access.Operation, id string) (seen seenUse, err error) {
	if op != access.RetireProject || access.Allow(a.Principal, op) != nil || access.InScope(a.Principal, id) != nil {
		return seen, nil
	}
	err = s.Look(ctx, a, func(tx store.Tx) (err error) {
		seen, err = seeUse(tx, a, id)
		return err
	})
	return seen, err
}

func (s *ProjectService) retireProject(tx store.Tx, a core.Actor, op access.Operation, h *records.ProjectHead, version int64, reason string, seen seenUse) error {
	if op == access.RetireProject {
		if err := seen.refuse(tx, a, h.ID); err != nil {
			return err
		}
	}
	c := core.Change{Before: projectRevisionText(h), Reason: reason}
	h.Retired, h.Enabled, h.UpdatedAt = op == access.RetireProject, false, s.Config.Now()
	if _, err := records.Projects.Put(tx, a.Tenant, h.ID, h, version); err != nil {
		return err
	}
	c.After = projectRevisionText(h)
	return s.Audit(tx, a, op, "project/"+h.ID, c)
}

func projectRevisionText(h *records.ProjectHead) string {
	if h.Retired {
		return "retired"
	}
	return enabledText(h.Enabled)
}
