package people

import (
	"errors"
	"fmt"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// An agent token may only do what its agents do (contract 11). Its principal is an OPERATOR
// with limits, which package access applies.

// checkAgentToken checks an agent token without reading its agents.
func checkAgentToken(w countersign.TokenWrite) (problems []countersign.Problem) {
	if w.AgentIDs == nil {
		return nil
	}
	if len(w.AgentIDs) == 0 {
		problems = append(problems, countersign.Problem{Path: "agentIds", Message: "name at least one agent"})
	}
	if !slices.Equal(w.Roles, []countersign.Role{countersign.RoleOperator}) {
		problems = append(problems, countersign.Problem{Path: "roles", Message: "a token with agentIds has the role OPERATOR and no other"})
	}
	if w.ProjectIDs != nil {
		problems = append(problems, countersign.Problem{Path: "projectIds", Message: "agentIds say what the token reaches; leave this out"})
	}
	return problems
}

// storedRoles are the roles of an ordinary token; see records.Token.
func storedRoles(w countersign.TokenWrite) []countersign.Role {
	if w.AgentIDs != nil || w.Reads != nil {
		return []countersign.Role{}
	}
	return w.Roles
}

// agentsOf checks that these agents exist in the maker's scope and that none is retired. An
// agent that isn't admitted yet may have a token, since none of its runs can start.
func agentsOf(tx store.Tx, a core.Actor, tenant string, ids []string) error {
	for i, id := range ids {
		head, _, err := records.Agents.Get(tx, tenant, id)
		switch {
		case errors.Is(err, store.ErrNotFound), err == nil && !a.Covers(head.ProjectID):
			return countersign.Invalid(fmt.Sprintf("agentIds[%d]", i), "tenant %s has no agent %s; a sync of a manifest makes agents", tenant, id)
		case err != nil:
			return err
		case head.Retired:
			return plan.Retired(plan.KindAgent, id)
		}
	}
	return nil
}
