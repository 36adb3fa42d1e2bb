package demo

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/tools/sample"
)

// entrust gives the agents' processes a token of their own, or takes that of the demo
// that goes on here, and shows that it does what the agents do and nothing else.
func (d *demo) entrust(ctx context.Context) (err error) {
	kept := &d.place.kept
	if kept.Agents == nil {
		made, err := d.admin.CreateToken(ctx, countersign.TokenWrite{
			Name: "demo agents", Roles: []countersign.Role{countersign.RoleOperator}, AgentIDs: []string{d.agents.assessor.ID, d.agents.refunder.ID},
		})
		if err != nil {
			return err
		}
		kept.Agents = &identity{TokenID: made.ID, Token: made.Secret}
		if err := d.place.write(); err != nil {
			return err
		}
	}
	if d.agent, err = d.caller(kept.Agents.Token); err != nil {
		return err
	}
	d.print.row("token", "for these two agents, to do what they do and nothing else")
	return d.overreach(ctx)
}

// overreach asks with the agents' token for a plan of its own, past all that the
// manifest fixes.
func (d *demo) overreach(ctx context.Context) error {
	_, err := d.agent.CreatePlan(ctx, countersign.PlanWrite{Name: "Refund in another currency", ModelID: sample.RefundModelID, ModelRevision: 1})
	refusal, err := d.refused(err, countersign.CodeRoleRequired, "an agent's token stores no plan")
	if refusal != nil {
		d.print.row("", "it asks to store a plan: %s", refusal.Code)
	}
	return err
}

// refused holds the service to a refusal with a code and gives what it said, nil where
// it refused nothing. An error without an answer is the caller's.
func (d *demo) refused(err error, code countersign.Code, rule string) (refusal *countersign.Error, unanswered error) {
	got := countersign.ErrorCode(err)
	if got == countersign.CodeInternal {
		return nil, err
	}
	d.holds(got == code, "%s; the answer is %q", rule, got)
	errors.As(err, &refusal)
	return refusal, nil
}
