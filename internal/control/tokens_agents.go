package control

import (
	"errors"
	"fmt"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// An agent token does what its agents do and nothing else (contract 11). The principal
// is an operator's with bounds, which internal/rules/access judges.

// checkAgentToken checks what can be said of an agent token without its agents.
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

// storedRoles are those of an ordinary token; see records.Token.
func storedRoles(w countersign.TokenWrite) []countersign.Role {
	if w.AgentIDs != nil {
		return []countersign.Role{}
	}
	return w.Roles
}

// agentsOf checks that these are agents of the tenant in the maker's scope, and that
// none of them is retired: nothing new is made for such a one. One that isn't admitted
// yet may have its token: no run of it starts before it is.
func agentsOf(tx store.Tx, a Actor, tenant string, ids []string) error {
	for i, id := range ids {
		head, _, err := records.Agents.Get(tx, tenant, id)
		switch {
		case errors.Is(err, store.ErrNotFound), err == nil && !a.Covers(head.ProjectID):
			return countersign.Errorf(countersign.CodeInvalidRequest, "%s: tenant %s has no agent %s; a sync of a manifest makes agents", agentPath(i), tenant, id)
		case err != nil:
			return err
		case head.Retired:
			return plan.Retired(plan.KindAgent, id)
		}
	}
	return nil
}

func agentPath(i int) string { return fmt.Sprintf("agentIds[%d]", i) }
