package projects

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Changes that weaken a gate are marked in the audit log, so that a reader finds them
// without comparing revisions (contract 11).

// revisionsSearched is how many revisions are searched for a capability that an edit adds:
// removing one and adding it again with a lower approval weakens a gate, too.
const revisionsSearched = 50

// priorRevisions are the revisions that an edit of a project is compared with.
type priorRevisions struct {
	revision int64 // the one that the edit follows
	was      *countersign.Project
	earlier  map[string]*countersign.Capability // the latest of each name that the edit has and was has not
}

// readPriorRevisions reads each revision at most once.
func readPriorRevisions(tx store.Tx, tenant, id string, revision int64, content *countersign.Project) (p priorRevisions, err error) {
	p = priorRevisions{revision: revision, earlier: map[string]*countersign.Capability{}}
	if revision == 0 {
		return p, nil
	}
	if p.was, _, err = records.ProjectRevisions.Get(tx, tenant, records.RevisionID(id, revision)); err != nil {
		return p, err
	}
	sought := map[string]bool{}
	for i := range content.Capabilities {
		if name := content.Capabilities[i].Name; p.was.Capability(name) == nil {
			sought[name] = true
		}
	}
	for n := revision - 1; len(sought) > 0 && n > 0 && n > revision-revisionsSearched; n-- {
		at, _, err := records.ProjectRevisions.Get(tx, tenant, records.RevisionID(id, n))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return p, err
		}
		p.collect(at, sought)
	}
	return p, nil
}

// collect copies the capabilities that are still sought from a revision.
func (p *priorRevisions) collect(at *countersign.Project, sought map[string]bool) {
	for i := range at.Capabilities {
		if c := &at.Capabilities[i]; sought[c.Name] {
			p.earlier[c.Name] = c
			delete(sought, c.Name)
		}
	}
}

// comparedProject is what an edit of a project's revision does to its gate, and who uses it.
type comparedProject struct {
	revision int64 // the one that the edit follows
	was      *countersign.Project
	weakens  bool
	weaker   []string // where, if it weakens
	unasked  []string // capabilities, new or changed, whose side effect goes out unasked
	use      seenUse
}

// compareProject compares an edit with the revision before it, and with earlier ones, before
// the transaction that makes it. If the project has another revision now, so it says; the
// transaction refuses that, as it does everything else.
func (s *ProjectService) compareProject(ctx context.Context, a core.Actor, id string, revision int64, content *countersign.Project) (c comparedProject, err error) {
	if access.Allow(a.Principal, access.WriteProject) != nil || access.InScope(a.Principal, id) != nil {
		return c, nil
	}
	var seen priorRevisions
	err = s.Look(ctx, a, func(tx store.Tx) (err error) {
		head, _, err := records.Projects.Get(tx, a.Tenant, id)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if c.revision = -1; err != nil || head.Revision != revision {
			return err
		}
		c.revision = revision
		if c.use, err = seeUse(tx, a, id); err != nil {
			return err
		}
		seen, err = readPriorRevisions(tx, a.Tenant, id, revision, content)
		if seen.was != nil {
			was := *seen.was
			was.AnswerKeys = head.AnswerKeys
			seen.was = &was
		}
		return err
	})
	if err != nil || c.revision < 0 {
		return c, err
	}
	c.was, c.unasked = seen.was, project.Unasked(seen.was, content)
	if seen.was == nil {
		return c, nil
	}
	err = s.Judge(ctx, a, func(m *cost.Meter) {
		known := func(name string) *countersign.Capability {
			return cmp.Or(seen.was.Capability(name), seen.earlier[name])
		}
		if c.weakens = project.Weakens(m, seen.was, content, known); c.weakens {
			c.weaker = project.Weaker(m, seen.was, content, known)
		}
	})
	if countersign.ErrorCode(err) == countersign.CodeInvalidRequest {
		c.weakens, err = true, nil // too much to compare: it may
	}
	return c, err
}

// shown is the edit as whoever decides it sees it. Where the tenant wants changes that weaken to be
// made by several, what goes out unasked is one of them, whatever went out before.
func (c comparedProject) shown(tx store.Tx, tenant string, content *countersign.Project) (out core.Change, err error) {
	settings, err := records.SettingsOf(tx, tenant)
	if err != nil {
		return out, err
	}
	out.Weakens, out.Weaker = c.weakens, c.weaker
	if settings.Weakening != nil && len(c.unasked) > 0 {
		if out.Weakens = true; !c.weakens || len(c.weaker) > 0 {
			out.Weaker = slices.Concat(c.weaker, c.unasked)
		}
	}
	was := countersign.ObjectValue(nil)
	if c.was != nil {
		if was, err = countersign.ValueOf(contentOf(*c.was)); err != nil {
			return out, err
		}
	}
	out.Was = was
	out.Now, err = countersign.ValueOf(contentOf(*content))
	return out, err
}
