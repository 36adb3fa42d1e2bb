package control_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// A release that doesn't know agents reads the record without them, and writes it so
// when it notes the token's use. For it, and afterwards, the token has no right at all.
func TestAnAgentTokenThatLostItsAgentsHasNoRight(t *testing.T) {
	g := openGate(t)
	g.must(g.store.Update(background, func(tx store.Tx) error {
		_, err := records.Agents.Put(tx, countersign.DefaultTenant, "clerk", &records.AgentHead{ID: "clerk", ProjectID: "default-shop", Revision: 1}, 0)
		return err
	}))
	made, err := g.service.CreateToken(background, g.admin(), countersign.TokenWrite{Name: "clerk", Roles: []countersign.Role{countersign.RoleOperator}, AgentIDs: []string{"clerk"}})
	g.must(err)
	p, err := g.service.Authenticate(background, made.Secret)
	g.must(err)
	if err := g.service.Authorize(background, control.Actor{Principal: p}, access.StartAgentRun, "agent/clerk"); err != nil {
		t.Error(err)
	}
	g.must(g.store.Update(background, func(tx store.Tx) error {
		rec, version, err := records.Tokens.Get(tx, countersign.DefaultTenant, made.ID)
		if err != nil {
			return err
		}
		if len(rec.Roles) > 0 {
			t.Errorf("it is stored with the roles %v", rec.Roles)
		}
		rec.AgentIDs = nil
		_, err = records.Tokens.Put(tx, countersign.DefaultTenant, made.ID, rec, version)
		return err
	}))
	p, err = g.service.Authenticate(background, made.Secret)
	g.must(err)
	for _, op := range []access.Operation{access.StartAgentRun, access.ReadRuns, access.ReadModels, access.CreatePlan} {
		if code := countersign.ErrorCode(access.Allow(p, op)); code != countersign.CodeRoleRequired {
			t.Errorf("%s: %q", op, code)
		}
	}
}
