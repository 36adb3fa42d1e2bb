package projects

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// RecordConformance stores the result of checking a capability's receiver. It belongs to
// the project's present revision: after an edit the capability is again only declared
// idempotent. This method decides whether the verdicts prove it, not their sender.
func (s *ProjectService) RecordConformance(ctx context.Context, a core.Actor, id string, w countersign.ConformanceWrite) (p countersign.Project, err error) {
	if err := core.WellFormed(a, w); err != nil {
		return p, err
	}
	target, err := conformanceTarget(w)
	if err != nil {
		return p, err
	}
	made := countersign.Conformance{
		Capability: w.Capability, Proven: countersign.Proves(w.Rules), CheckedAt: s.Config.Now(), CheckedBy: a.ID, Target: target, Rules: w.Rules,
	}
	subject := "project/" + id
	err = s.Update(ctx, a, access.ProveReceiver, subject, func(tx store.Tx) error {
		head, _, err := reach.Project(tx, a, id)
		if err != nil {
			return err
		}
		if p, err = reach.ProjectOf(s.Config.Allowed, tx, a.Tenant, *head); err != nil {
			return err
		}
		if p.Capability(w.Capability) == nil {
			return countersign.Invalid("capability", "project %s has no capability %s", id, w.Capability)
		}
		if err := core.Compare("project", id, head.Revision, w.ExpectedRevision); err != nil {
			return err
		}
		c, err := keepConformance(tx, a.Tenant, &p, made)
		if err != nil {
			return err
		}
		return s.Audit(tx, a, access.ProveReceiver, subject, c)
	})
	return p, err
}

// conformanceTarget checks the rules that the schema can't express, and returns the origin.
func conformanceTarget(w countersign.ConformanceWrite) (string, error) {
	var problems []countersign.Problem
	target, err := request.NormalizeOrigin(w.Target)
	if err != nil {
		problems = append(problems, countersign.Problem{Path: "target", Message: err.Error()})
	}
	first := map[string]int{}
	for i, r := range w.Rules {
		if j, twice := first[r.Name]; twice {
			problems = append(problems, countersign.Problem{Path: fmt.Sprintf("rules[%d].name", i), Message: fmt.Sprintf("%s stands in rules[%d] already", r.Name, j)})
			continue
		}
		first[r.Name] = i
	}
	return target, core.Wrong(problems)
}

// keepConformance replaces the capability's earlier check.
func keepConformance(tx store.Tx, tenant string, p *countersign.Project, made countersign.Conformance) (core.Change, error) {
	id := records.ConformanceID(p.ID, p.Revision)
	known, version, err := conformances(tx, tenant, id)
	if err != nil {
		return core.Change{}, err
	}
	c := core.Change{Before: conformanceText(nil, made.Capability), After: conformanceText(&made, made.Capability)}
	rest := known[:0]
	for _, k := range known {
		if k.Capability == made.Capability {
			c.Before = conformanceText(&k, k.Capability)
		} else {
			rest = append(rest, k)
		}
	}
	rest = append(rest, made)
	p.Conformance = rest
	_, err = records.Conformances.Put(tx, tenant, id, &p.Conformance, version)
	return c, err
}

// conformances returns the stored checks of a revision.
func conformances(tx store.Tx, tenant, id string) ([]countersign.Conformance, int64, error) {
	known, version, err := records.Conformances.Get(tx, tenant, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	return *known, version, nil
}

// shownProject returns a project as its readers see it, with the checks of its receivers.
// Plans don't need those and don't read them.
func (s *ProjectService) shownProject(tx store.Tx, tenant string, h records.ProjectHead) (countersign.Project, error) {
	p, err := reach.ProjectOf(s.Config.Allowed, tx, tenant, h)
	if err != nil {
		return p, err
	}
	p.Conformance, _, err = conformances(tx, tenant, records.ConformanceID(h.ID, h.Revision))
	return p, err
}

func conformanceText(c *countersign.Conformance, capability string) string {
	if c == nil || !c.Proven {
		return capability + " declared"
	}
	return capability + " proven"
}
