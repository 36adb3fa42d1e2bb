package projects

import (
	"cmp"
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/difference"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/rules/project"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// ProjectEdit is what an edit of a project would do, in words.
type ProjectEdit struct {
	Differences []countersign.ChangeDifference // what weakens first
	Weakens     bool
	By          *countersign.Weakening // who decides it, since it weakens; nil: it is made at once
}

// EditService is the use case of looking at an edit of a project before it is made.
type EditService struct {
	*core.Core
	projects *ProjectService
}

// NewEdits returns the use case.
func NewEdits(c *core.Core, p *ProjectService) *EditService { return &EditService{c, p} }

// EditOf says what an edit of a project would do. It changes nothing.
func (s *EditService) EditOf(ctx context.Context, a core.Actor, id string, w countersign.ProjectWrite) (e ProjectEdit, err error) {
	if err := core.WellFormed(a, w); err != nil {
		return e, err
	}
	if err := access.Allow(a.Principal, access.WriteProject); err != nil {
		return e, err
	}
	var content countersign.Project
	if busy := s.Judge(ctx, a, func(m *cost.Meter) { content, err = project.Validate(m, a.Tenant, w, s.Config.Allowed) }); cmp.Or(busy, err) != nil {
		return e, cmp.Or(busy, err)
	}
	seen, err := s.projects.compareProject(ctx, a, id, w.ExpectedRevision, &content)
	if err != nil {
		return e, err
	}
	err = s.View(ctx, a, access.WriteProject, func(tx store.Tx) error {
		head, _, err := reach.Project(tx, a, id)
		if err == nil {
			err = core.Compare("project", id, head.Revision, w.ExpectedRevision)
		}
		if err != nil {
			return err
		}
		c, err := seen.shown(tx, a.Tenant, &content)
		if err != nil {
			return err
		}
		settings, err := records.SettingsOf(tx, a.Tenant)
		if err != nil {
			return err
		}
		e = ProjectEdit{Differences: difference.Told(c.Was, c.Now, c.Weaker), Weakens: c.Weakens}
		for i := range e.Differences {
			e.Differences[i].Weakens = e.Differences[i].Weakens && c.Weakens
		}
		if c.Weakens {
			e.By = settings.Weakening
		}
		return nil
	})
	return e, err
}

// JudgeCall says what a gate would say of a call with these inputs. Budgets aren't asked: what they
// leave depends on the moment.
func (s *WhatIfService) JudgeCall(ctx context.Context, a core.Actor, id string, w countersign.WhatIfRequest, inputs map[string]countersign.Value) (v gate.Verdict, err error) {
	if err := core.WellFormed(a, w); err != nil {
		return v, err
	}
	if err := asked(&w); err != nil {
		return v, err
	}
	would, err := s.proposed(ctx, a, id, w)
	if err != nil {
		return v, err
	}
	if err := s.judgeable(ctx, a, would); err != nil {
		return v, err
	}
	err = s.Judge(ctx, a, func(m *cost.Meter) { v = gate.Judge(m, gate.Now, &would, inputs, nil) })
	return v, err
}
