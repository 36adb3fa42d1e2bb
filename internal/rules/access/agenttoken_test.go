package access

import (
	"testing"

	"github.com/countersign/countersign"
)

var clerks = Principal{ID: "token:clerks", Roles: operator, Agents: []string{"clerk", "teller"}}

// What isn't in the table isn't reached.
func TestAnAgentTokenReachesItsAgentsAlone(t *testing.T) {
	anybody := Principal{ID: "token:operator", Roles: operator}
	limited := Principal{ID: "token:limited", Roles: operator, Projects: []string{"acme-crm"}}
	tests := []struct {
		name string
		err  error
		code countersign.Code
	}{
		{"one of its agents", ActsFor(clerks, "teller"), ""},
		{"an agent whose id begins like its agent's", ActsFor(clerks, "clerk2"), countersign.CodeRoleRequired},
		{"no agent", ActsFor(clerks, ""), countersign.CodeRoleRequired},
		{"an operator's token, any agent", ActsFor(anybody, "clerk2"), ""},
		{"its agent's run", InRun(clerks, "clerk", "acme-shop"), ""},
		{"another agent's run", InRun(clerks, "clerk2", "acme-shop"), countersign.CodeRoleRequired},
		{"a plan's or a team's run", InRun(clerks, "", "acme-shop"), countersign.CodeRoleRequired},
		{"an operator's token, a plan's run", InRun(anybody, "", "acme-shop"), ""},
		{"a project-limited token, another project's run", InRun(limited, "clerk", "acme-shop"), countersign.CodeProjectScope},
		{"cancel what it started", Cancel(clerks, Requester{ID: "token:clerks"}), ""},
		{"cancel what another started", Cancel(clerks, Requester{ID: "token:operator"}), countersign.CodeRoleRequired},
		{"cancel what its identity started", Cancel(byIdentity("a"), Requester{ID: "agent:clerk", Identity: &countersign.Identity{Claim: "azp", Value: "a"}}), ""},
		{"cancel what another identity of the agent started", Cancel(byIdentity("a"), Requester{ID: "agent:clerk", Identity: &countersign.Identity{Claim: "azp", Value: "b"}}), countersign.CodeRoleRequired},
		{"an operator cancels what another started", Cancel(anybody, Requester{ID: "token:clerks"}), ""},
		{"a token for no agent reaches none", ActsFor(Principal{Agents: []string{}}, "clerk"), countersign.CodeRoleRequired},
	}
	for _, test := range tests {
		if code := countersign.ErrorCode(test.err); (test.err == nil) != (test.code == "") || test.err != nil && code != test.code {
			t.Errorf("%s: %v; expected %q", test.name, test.err, test.code)
		}
	}
}

func TestAnOperationThatAgentTokensWereNotGivenIsRefused(t *testing.T) {
	everything := clerks
	everything.Realm, everything.Roles = true, []countersign.Role{countersign.RoleAdmin, countersign.RoleOperator, countersign.RoleApprover, countersign.RoleViewer}
	for op := range rules {
		code, allowed := countersign.ErrorCode(Allow(everything, op)), Allow(everything, op) == nil
		if allowed != agentOperations[op] || !allowed && code != countersign.CodeRoleRequired {
			t.Errorf("%s: %q", op, code)
		}
	}
	for op := range agentOperations {
		if _, known := rules[op]; !known {
			t.Errorf("%s is no operation", op)
		}
	}
}

func byIdentity(value string) Principal {
	return Principal{ID: "agent:clerk", Agents: []string{"clerk"}, Identity: &countersign.Identity{Claim: "azp", Value: value}}
}
