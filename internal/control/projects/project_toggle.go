package projects

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// EnableProject enables a project for LIVE runs, if the latest health check of its present
// revision passed.
func (s *ProjectService) EnableProject(ctx context.Context, a core.Actor, id string, t countersign.Toggle) (countersign.Project, error) {
	if err := core.WellFormed(a, t); err != nil {
		return countersign.Project{}, err
	}
	return s.toggleProject(ctx, a, id, t, true)
}

// DisableProject disables a project, which stops the next step of every LIVE run that uses
// it. It is always possible.
func (s *ProjectService) DisableProject(ctx context.Context, a core.Actor, id string, t countersign.Toggle) (countersign.Project, error) {
	if err := core.WellFormed(a, t); err != nil {
		return countersign.Project{}, err
	}
	return s.toggleProject(ctx, a, id, t, false)
}

func (s *ProjectService) toggleProject(ctx context.Context, a core.Actor, id string, t countersign.Toggle, enable bool) (p countersign.Project, err error) {
	err = s.Update(ctx, a, access.ToggleProject, "project/"+id, func(tx store.Tx) error {
		head, version, err := reach.Project(tx, a, id)
		if err != nil {
			return err
		}
		if err := core.Compare("project", id, head.Revision, t.ExpectedRevision); err != nil {
			return err
		}
		p, err = s.toggle(tx, a, head, version, enable, t.Reason)
		return err
	})
	return p, err
}

// toggle enables or disables without raising the revision.
func (s *ProjectService) toggle(tx store.Tx, a core.Actor, h *records.ProjectHead, version int64, enable bool, reason string) (countersign.Project, error) {
	if enable && h.Retired {
		return countersign.Project{}, plan.Retired(plan.KindProject, h.ID)
	}
	if enable && !h.Enabled && (h.Health == nil || !h.Health.Healthy || h.Health.Revision != h.Revision) {
		return countersign.Project{}, countersign.Errorf(countersign.CodeHealthCheckRequired,
			"the latest health check of revision %d must be healthy: POST /projects/%s/health-check first", h.Revision, h.ID)
	}
	if h.Enabled != enable {
		c := core.Change{Before: enabledText(h.Enabled), After: enabledText(enable), Reason: reason}
		h.Enabled, h.UpdatedAt = enable, s.Config.Now()
		if _, err := records.Projects.Put(tx, a.Tenant, h.ID, h, version); err != nil {
			return countersign.Project{}, err
		}
		if err := s.Audit(tx, a, access.ToggleProject, "project/"+h.ID, c); err != nil {
			return countersign.Project{}, err
		}
	}
	return s.shownProject(tx, a.Tenant, *h)
}

func enabledText(enabled bool) string {
	if enabled {
		return "enabled"
	}
	return "disabled"
}
