package projects

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/rules/mask"
	"github.com/countersign/countersign/internal/storage/store"
)

// ValidateProject lists what contradicts itself in a project's approval rules, and the gaps
// that they leave. What makes a project unusable is refused when it is written.
func (s *ProjectService) ValidateProject(ctx context.Context, a core.Actor, id string) (v countersign.Validation, err error) {
	if err := access.Allow(a.Principal, access.ValidateProject); err != nil {
		return v, err
	}
	var p countersign.Project
	// A document of megabytes takes long to read, so few are read at once.
	err = s.Look(ctx, a, func(tx store.Tx) error {
		head, _, err := reach.Project(tx, a, id)
		if err == nil {
			p, err = reach.ProjectOf(s.Config.Allowed, tx, a.Tenant, *head)
		}
		return err
	})
	if err != nil {
		return v, err
	}
	if core.Masks(a) {
		p = mask.TellsNothing(p)
	}
	v = countersign.Validation{Valid: true, Errors: []countersign.Problem{}}
	err = s.Judge(ctx, a, func(m *cost.Meter) { v.Warnings = gate.Findings(m, &p) })
	if countersign.ErrorCode(err) == countersign.CodeInvalidRequest {
		err = nil // the warnings say what wasn't examined
	}
	return v, err
}
