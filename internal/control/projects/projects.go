// Package projects holds the use cases of projects, and of the credentials and webhooks that they
// name.
package projects

import (
	"cmp"
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/mask"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/runtime/credowner"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// ProjectService is the use cases of projects.
type ProjectService struct {
	*core.Core
	credentials *CredentialService
	prober      core.Prober
}

// NewProjects returns the use cases. p sends their health checks.
func NewProjects(c *core.Core, credentials *CredentialService, p core.Prober) *ProjectService {
	return &ProjectService{Core: c, credentials: credentials, prober: p}
}

// Projects lists the projects within the actor's scope by id.
func (s *ProjectService) Projects(ctx context.Context, a core.Actor, l core.List) (countersign.Page[countersign.Project], error) {
	return ListProjects(ctx, s, a, l, core.Whole)
}

// ListProjects is Projects of what show makes of each: a page has up to 200 of a mebibyte, of
// which one is in memory at a time.
func ListProjects[T any](ctx context.Context, s *ProjectService, a core.Actor, l core.List, show func(countersign.Project) (T, error)) (page countersign.Page[T], err error) {
	err = s.View(ctx, a, access.ReadProjects, func(tx store.Tx) error {
		q := l.Query(nil, l.Current(reach.OwnProjects(a, "id")...)...)
		show := names.WithNames(tx, a.Tenant, show)
		page, err = core.ShowPage(s.Core, tx, a.Tenant, records.Projects, l, q, func(h *records.ProjectHead) (shown T, err error) {
			p, err := s.projectFor(tx, a, h)
			if err != nil {
				return shown, err
			}
			return show(p)
		})
		return err
	})
	return page, err
}

// Project reads one project.
func (s *ProjectService) Project(ctx context.Context, a core.Actor, id string) (p countersign.Project, err error) {
	err = s.View(ctx, a, access.ReadProjects, func(tx store.Tx) error {
		head, _, err := reach.Project(tx, a, id)
		if err != nil {
			return err
		}
		p, err = s.projectFor(tx, a, head)
		return err
	})
	return p, err
}

// projectFor is a project as the actor may see it.
func (s *ProjectService) projectFor(tx store.Tx, a core.Actor, h *records.ProjectHead) (countersign.Project, error) {
	p, err := s.shownProject(tx, a.Tenant, *h)
	if core.Masks(a) {
		mask.Project(&p)
	}
	return p, err
}

// PutProject registers or edits a project. A write that differs from what is
// stored only by `enabled` is the request to enable or disable it (contract 5).
func (s *ProjectService) PutProject(ctx context.Context, a core.Actor, id string, w countersign.ProjectWrite) (p countersign.Project, err error) {
	if err := core.WellFormed(a, w); err != nil {
		return p, err
	}
	if !countersign.OwnsProjectID(a.Tenant, id) {
		return p, countersign.Invalid("id", "a project id of this tenant begins with %s-", a.Tenant)
	}
	a = a.Asking(id, w)
	var content countersign.Project
	if busy := s.Judge(ctx, a, func(m *cost.Meter) { content, err = project.Validate(m, a.Tenant, w, s.Config.Allowed) }); cmp.Or(busy, err) != nil {
		return p, cmp.Or(busy, err)
	}
	err = core.WhileMoved(func() error {
		p, err = s.putProject(ctx, a, id, w, content)
		return err
	})
	return p, err
}

func (s *ProjectService) putProject(ctx context.Context, a core.Actor, id string, w countersign.ProjectWrite, content countersign.Project) (p countersign.Project, err error) {
	subject := "project/" + id
	seen, err := s.compareProject(ctx, a, id, w.ExpectedRevision, &content)
	if err != nil {
		return p, err
	}
	err = s.UpdateInTurn(ctx, a, access.WriteProject, subject, func(tx store.Tx) error {
		if err := access.InScope(a.Principal, id); err != nil {
			return err
		}
		head, version, err := records.Projects.Get(tx, a.Tenant, id)
		if errors.Is(err, store.ErrNotFound) {
			head, version, err = &records.ProjectHead{ID: id}, 0, nil
		} else if err == nil {
			err = access.Replace(a.Principal)
		}
		if err != nil {
			return err
		}
		if err := core.Compare("project", id, head.Revision, w.ExpectedRevision); err != nil {
			return err
		}
		if head.Retired {
			return plan.Retired(plan.KindProject, id)
		}
		if err := knownGroups(tx, a.Tenant, &content); err != nil {
			return err
		}
		toggled, err := s.onlyToggles(tx, a.Tenant, head, content, w.Enabled)
		if err != nil {
			return err
		}
		if toggled {
			p, err = s.toggle(tx, a, head, version, *w.Enabled, "")
			return err
		}
		for i, u := range project.Uses(a.Tenant, &content) {
			if err := s.credentials.claim(tx, a, u, project.CredentialPath(&content, i), subject); err != nil {
				return err
			}
		}
		p, err = s.edit(tx, a, head, version, content, seen)
		return err
	})
	if err == nil {
		for _, u := range project.Uses(a.Tenant, &p) {
			s.credentials.warnIfWeak(credowner.Use{Use: u, Project: id})
		}
	}
	return p, err
}

// onlyToggles reports whether a write changes nothing but `enabled`.
func (s *ProjectService) onlyToggles(tx store.Tx, tenant string, h *records.ProjectHead, content countersign.Project, enabled *bool) (bool, error) {
	if h.Revision == 0 || enabled == nil || *enabled == h.Enabled {
		return false, nil
	}
	stored, _, err := records.ProjectRevisions.Get(tx, tenant, records.RevisionID(h.ID, h.Revision))
	if err != nil {
		return false, err
	}
	was := *stored
	was.AnswerKeys = h.AnswerKeys
	return sameContent(was, content)
}

func sameContent(stored, written countersign.Project) (bool, error) {
	a, err := countersign.CanonicalDigest(contentOf(stored))
	if err != nil {
		return false, err
	}
	b, err := countersign.CanonicalDigest(contentOf(written))
	return a == b, err
}

// contentOf removes the fields that the server sets.
func contentOf(p countersign.Project) (w countersign.ProjectWrite) {
	countersign.CopyContent(&w, p)
	return w
}

// edit stores a new revision, disabled. It is refused while an unfinished run uses the
// project.
func (s *ProjectService) edit(tx store.Tx, a core.Actor, h *records.ProjectHead, version int64, content countersign.Project, seen comparedProject) (countersign.Project, error) {
	if seen.revision != h.Revision {
		return countersign.Project{}, core.ErrMoved
	}
	if h.Revision > 0 {
		if err := seen.use.refuse(tx, a, h.ID); err != nil {
			return countersign.Project{}, err
		}
	}
	shown, err := seen.shown(tx, a.Tenant, &content)
	if err != nil {
		return countersign.Project{}, err
	}
	h.AnswerKeys, content.AnswerKeys = content.AnswerKeys, nil // they change without a revision
	c, err := s.Revise(tx, a.Tenant, h, version, &content)
	if err != nil {
		return countersign.Project{}, err
	}
	c.Weakens, c.Weaker, c.Was, c.Now, c.Revision, c.AnswerKeys = shown.Weakens, shown.Weaker, shown.Was, shown.Now, seen.revision, h.AnswerKeys
	return reach.AssembleProject(s.Config.Allowed, *h, content), s.Audit(tx, a, access.WriteProject, "project/"+h.ID, c)
}

// Revise stores content as the project's next revision, disabled and without a health
// check.
func (s *ProjectService) Revise(tx store.Tx, tenant string, h *records.ProjectHead, version int64, content *countersign.Project) (core.Change, error) {
	before := core.Revision(h.Revision)
	now := s.Config.Now()
	if h.Revision == 0 {
		h.CreatedAt = now
	}
	h.Revision++
	h.UpdatedAt, h.Enabled, h.Health = now, false, nil
	if _, err := records.Projects.Put(tx, tenant, h.ID, h, version); err != nil {
		return core.Change{}, err
	}
	content.ID, content.Revision, content.CreatedAt, content.UpdatedAt = h.ID, h.Revision, h.CreatedAt, now
	_, err := records.ProjectRevisions.Put(tx, tenant, records.RevisionID(h.ID, h.Revision), content, 0)
	return core.Change{Before: before, After: core.Revision(h.Revision)}, err
}
