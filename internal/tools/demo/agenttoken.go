package demo

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/tools/sample"
)

// giveAgentToken creates a token for the agents' processes, or takes the one of the demo that is
// continued, and shows that it allows only what the agents do.
func (d *demo) giveAgentToken(ctx context.Context) (err error) {
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

// overreach tries to create a plan with the agents' token, which would evade the inputs that
// the manifest fixes.
func (d *demo) overreach(ctx context.Context) error {
	_, err := d.agent.CreatePlan(ctx, countersign.PlanWrite{Name: "Refund in another currency", ModelID: sample.RefundModelID, ModelRevision: 1})
	refusal, err := d.refused(err, countersign.CodeRoleRequired, "an agent's token stores no plan")
	if refusal != nil {
		d.print.row("", "it asks to store a plan: %s", refusal.Code)
	}
	return err
}

// refused checks that the service refused a request with a code, and returns the refusal; it
// returns nil if the service did not refuse. A request without an answer returns an error.
func (d *demo) refused(err error, code countersign.Code, rule string) (refusal *countersign.Error, unanswered error) {
	got := countersign.ErrorCode(err)
	if got == countersign.CodeInternal {
		return nil, err
	}
	d.holds(got == code, "%s; the answer is %q", rule, got)
	errors.As(err, &refusal)
	return refusal, nil
}
