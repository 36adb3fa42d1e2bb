package projects

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/credowner"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// CheckHealth requests the project's health path and stores the answer. It confirms
// connectivity only (specification 4, rule 8).
func (s *ProjectService) CheckHealth(ctx context.Context, a core.Actor, id string) (check countersign.HealthCheck, err error) {
	p, boundTo, err := s.projectToCheck(ctx, a, id)
	if err != nil {
		return check, err
	}
	ctx = context.WithoutCancel(ctx) // record what is sent, even if the client has disconnected
	check = s.prober.Health(ctx, a.Tenant, boundTo, &p)
	check.ProjectID, check.Revision = id, p.Revision
	return check, s.keepHealth(ctx, a, p.Health, &check)
}

// keepHealth audits a health check that has left, whatever became of the project meanwhile, and
// keeps it where the project is still what was checked, and no check was begun after it that was
// answered before. Only of two that overlap the clocks are compared, which may be two machines':
// before is the check that stood when this one was begun.
func (s *ProjectService) keepHealth(ctx context.Context, a core.Actor, before, check *countersign.HealthCheck) error {
	now := check.Revision
	err := s.KeepSent(ctx, func(tx store.Tx) error {
		head, version, err := records.Projects.Get(tx, a.Tenant, check.ProjectID)
		if err != nil {
			return err
		}
		c := core.Change{Before: healthText(head.Health), After: healthText(check)}
		later := head.Health
		switch now = head.Revision; {
		case now != check.Revision:
			c.Before, c.Reason = "", fmt.Sprintf("of revision %d, which is %d now", check.Revision, now)
		case later != nil && (before == nil || !later.CheckedAt.Equal(before.CheckedAt)) && later.CheckedAt.After(check.CheckedAt):
			c.After, c.Reason = c.Before, fmt.Sprintf("%s, and not kept: a check that was begun later, at %s, was answered before", c.After, later.CheckedAt.UTC().Format(time.RFC3339Nano))
		default:
			head.Health = check
			if _, err := records.Projects.Put(tx, a.Tenant, check.ProjectID, head, version); err != nil {
				return err
			}
		}
		return s.Audit(tx, a, access.CheckHealth, "project/"+check.ProjectID, c)
	})
	if err != nil {
		s.Log.Error("health check not stored", "tenant", a.Tenant, "project", check.ProjectID, "revision", check.Revision, "status", check.StatusCode, "cause", check.Error, "error", err)
		return core.Public(err)
	}
	crashpoint.At("control.committed", access.CheckHealth)
	if now != check.Revision {
		return countersign.Errorf(countersign.CodeRevisionConflict, "project %s changed to revision %d during the check; check again", check.ProjectID, now)
	}
	return nil
}

func (s *ProjectService) projectToCheck(ctx context.Context, a core.Actor, id string) (p countersign.Project, boundTo map[string]string, err error) {
	err = s.View(ctx, a, access.CheckHealth, func(tx store.Tx) error {
		head, _, err := reach.Project(tx, a, id)
		if err != nil {
			return err
		}
		if p, err = reach.ProjectOf(s.Config.Allowed, tx, a.Tenant, *head); err != nil {
			return err
		}
		boundTo, err = credowner.OfProject(tx, &p)
		return err
	})
	return p, boundTo, s.Refuse(ctx, a, access.CheckHealth, "project/"+id, err)
}

func healthText(h *countersign.HealthCheck) string {
	switch {
	case h == nil:
		return ""
	case h.Healthy:
		return "healthy"
	default:
		return "unhealthy"
	}
}
