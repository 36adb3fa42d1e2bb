package control_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Who confirms a token sees what it may do, that of an agent too: its stored record has
// no roles.
func TestWhoConfirmsAnAgentTokenSeesItsRole(t *testing.T) {
	g := openGate(t)
	g.must(g.store.Update(background, func(tx store.Tx) error {
		if _, err := records.Users.Put(tx, countersign.DefaultTenant, "anne@example.com", &records.User{User: countersign.User{Email: "anne@example.com", TenantID: countersign.DefaultTenant}}, 0); err != nil {
			return err
		}
		_, err := records.Agents.Put(tx, countersign.DefaultTenant, "clerk", &records.AgentHead{ID: "clerk", ProjectID: "default-shop", Revision: 1}, 0)
		return err
	}))
	_, err := g.service.CreateToken(background, g.admin(), countersign.TokenWrite{
		Name: "clerk", Roles: []countersign.Role{countersign.RoleOperator}, AgentIDs: []string{"clerk"}, UserEmail: "anne@example.com",
	})
	g.must(err)
	anne := access.Principal{ID: "user:anne@example.com", Tenant: countersign.DefaultTenant, Email: "anne@example.com", Session: "s", Roles: []countersign.Role{countersign.RoleViewer}}
	own, err := g.service.OwnTokens(background, control.Actor{Principal: anne})
	if err != nil || len(own) != 1 || len(own[0].Roles) != 1 || own[0].Roles[0] != countersign.RoleOperator || own[0].Counts {
		t.Errorf("%+v: %v", own, err)
	}
}
