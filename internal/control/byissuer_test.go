package control_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/platform/issuer"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/issuertest"
	"github.com/countersign/countersign/internal/testing/rerun"
)

const (
	issuerAddress = "https://id.example.com"
	ownAddress    = "https://cs.example.com"
)

// issued is a gate with an agent that has identities at an issuer, and the issuer's key.
func issued(t *testing.T) (g *gate, k *issuertest.Key) {
	t.Helper()
	g, k = openGate(t), issuertest.NewKey(t, "EdDSA", "k")
	g.issuers = issuer.New(issuer.Config{
		Entries: []issuer.Entry{{Tenant: countersign.DefaultTenant, Issuer: issuerAddress}}, Resource: ownAddress, Now: func() time.Time { return g.now },
		Fetch: func(_ context.Context, at string) (issuer.Answer, error) {
			doc := map[string]any{"issuer": issuerAddress, "jwks_uri": issuerAddress + "/keys"}
			if at == issuerAddress+"/keys" {
				doc = map[string]any{"keys": []any{k.Public()}}
			}
			text, err := json.Marshal(doc)
			return issuer.Answer{Body: text}, err
		},
	})
	g.service = g.over(g.store)
	g.must(g.store.Update(background, func(tx store.Tx) error {
		for _, id := range []string{"clerk", "other"} {
			head := &records.AgentHead{ID: id, ProjectID: "default-shop", Revision: 1}
			if _, err := records.Agents.Put(tx, countersign.DefaultTenant, id, head, 0); err != nil {
				return err
			}
			if _, err := records.AgentRevisions.Put(tx, countersign.DefaultTenant, records.RevisionID(id, 1), &countersign.Agent{ID: id, ProjectID: "default-shop", Name: id}, 0); err != nil {
				return err
			}
		}
		return nil
	}))
	return g, k
}

func (g *gate) identify(agent string, revision int64, claims ...string) {
	g.t.Helper()
	w := countersign.IdentitiesWrite{ExpectedRevision: revision}
	for i := 0; i+1 < len(claims); i += 2 {
		w.Identities = append(w.Identities, countersign.AgentIdentity{Issuer: issuerAddress, Claim: claims[i], Value: claims[i+1]})
	}
	_, err := g.service.PutIdentities(background, g.admin(), agent, w)
	g.must(err)
}

func (g *gate) token(k *issuertest.Key, more map[string]any) string {
	g.t.Helper()
	return k.Sign(g.t, k.Header(), issuertest.Claims(issuerAddress, ownAddress, g.now, more))
}

// TestAClaimBindsInItsOrder, and claims that bind different agents bind none.
func TestAClaimBindsInItsOrder(t *testing.T) {
	g, k := issued(t)
	g.identify("clerk", 0, "act.sub", "a", "client_id", "c", "azp", "z", "https://example.com/agent", "n", "sub", "s")
	g.identify("other", 0, "azp", "other", "https://example.com/team", "other", "sub", "other")
	act := map[string]any{"sub": "a"}
	for _, test := range []struct {
		claims map[string]any
		by     string // "" for nobody
		behalf string
	}{
		{map[string]any{"act": act, "client_id": "c", "azp": "z", "https://example.com/agent": "n", "sub": "s"}, "act.sub", "s"},
		{map[string]any{"client_id": "c", "azp": "z", "https://example.com/agent": "n", "sub": "s"}, "client_id", "s"},
		{map[string]any{"azp": "z", "https://example.com/agent": "n", "sub": "s"}, "azp", "s"},
		{map[string]any{"https://example.com/agent": "n", "sub": "s"}, "https://example.com/agent", "s"},
		{map[string]any{"sub": "s"}, "sub", ""},
		{map[string]any{"azp": "z"}, "azp", ""}, // nobody is named
		{map[string]any{"act": map[string]any{"sub": "a", "act": map[string]any{"sub": "x"}}, "sub": "who"}, "act.sub", "who"},
		{map[string]any{"act.sub": "a", "sub": "who"}, "", ""},
		{map[string]any{"azp": "z", "sub": "other"}, "", ""},
		{map[string]any{"client_id": "c", "azp": "other"}, "", ""},
		{map[string]any{"https://example.com/agent": "n", "https://example.com/team": "other"}, "", ""},
		{map[string]any{"azp": []string{"z"}}, "", ""},
		{map[string]any{"sub": "S"}, "", ""},
	} {
		p, err := g.service.Authenticate(background, g.token(k, test.claims))
		if test.by == "" {
			if countersign.ErrorCode(err) != countersign.CodeUnauthenticated {
				t.Errorf("%v: %+v, %v", test.claims, p, err)
			}
			continue
		}
		if err != nil || p.ID != "agent:clerk" || p.Identity.Claim != test.by || (p.OnBehalfOf == nil) != (test.behalf == "") || p.OnBehalfOf != nil && p.OnBehalfOf.Subject != test.behalf {
			t.Errorf("%v: by %+v for %+v, %v", test.claims, p.Identity, p.OnBehalfOf, err)
		}
		if err == nil && (fmt.Sprintf("%v %v %s %v", p.Roles, p.Agents, p.Name, p.Lineage) != "[OPERATOR] [clerk] clerk ["+g.admin().ID+"]" || p.Realm || p.Email != "" || p.Person != "" || p.Projects != nil) {
			t.Errorf("%v: it has the rights of %+v", test.claims, p)
		}
	}
}

// TestAnIdentityThatEndsBeforeItsTurnDoesNothing: it is taken away, or its token ends, between the
// look at who asks and the transaction that writes.
func TestAnIdentityThatEndsBeforeItsTurnDoesNothing(t *testing.T) {
	for name, e := range map[string]struct {
		end  func(*gate)
		want countersign.Code
	}{
		"nothing ends":                 {func(*gate) {}, countersign.CodeNotFound},
		"it is taken away":             {func(g *gate) { g.identify("clerk", 1) }, countersign.CodeUnauthenticated},
		"it is another agent's":        {func(g *gate) { g.identify("clerk", 1); g.identify("other", 0, "sub", "s") }, countersign.CodeUnauthenticated},
		"it stays, beside another":     {func(g *gate) { g.identify("clerk", 1, "sub", "s", "azp", "z") }, countersign.CodeNotFound},
		"its token ends":               {func(g *gate) { g.now = g.now.Add(6 * time.Minute) }, countersign.CodeUnauthenticated},
		"it is limited to rehearsals":  {func(g *gate) { g.limit("clerk", 1, "s", countersign.ModeDryRun) }, countersign.CodeRoleRequired},
		"the agent is gone altogether": {func(g *gate) { g.without("clerk") }, countersign.CodeUnauthenticated},
	} {
		g, k := issued(t)
		g.identify("clerk", 0, "sub", "s")
		p, err := g.service.Authenticate(background, g.token(k, map[string]any{"sub": "s"}))
		g.must(err)
		behind := g.over(rerun.Meanwhile(g.store, func() { e.end(g) }))
		_, err = behind.CancelRun(background, control.Actor{Principal: p}, "run-1", "enough")
		if countersign.ErrorCode(err) != e.want {
			t.Errorf("%s: %v, want %s", name, err, e.want)
		}
	}
}

func (g *gate) limit(agent string, revision int64, sub, mode string) {
	g.t.Helper()
	_, err := g.service.PutIdentities(background, g.admin(), agent, countersign.IdentitiesWrite{ExpectedRevision: revision, Identities: []countersign.AgentIdentity{{Issuer: issuerAddress, Claim: "sub", Value: sub, Modes: []string{mode}}}})
	g.must(err)
}

func (g *gate) without(agent string) {
	g.t.Helper()
	g.must(g.store.Update(background, func(tx store.Tx) error { return records.Agents.Delete(tx, countersign.DefaultTenant, agent) }))
}

// TestARestrictedAdminGivesNoIdentityMoreModesThanTheyHave, nor tells whose one is beyond their
// projects.
func TestARestrictedAdminGivesNoIdentityMoreModesThanTheyHave(t *testing.T) {
	g, _ := issued(t)
	g.identify("other", 0, "sub", "s")
	live := g.admin()
	live.Modes = []string{countersign.ModeLive}
	out, err := g.over(g.store).PutIdentities(background, live, "clerk", countersign.IdentitiesWrite{Identities: []countersign.AgentIdentity{{Issuer: issuerAddress, Claim: "sub", Value: "t"}}})
	g.must(err)
	if fmt.Sprint(out.Identities[0].Modes) != "[LIVE]" {
		t.Errorf("the identity has %v", out.Identities[0].Modes)
	}
	_, err = g.over(g.store).PutIdentities(background, live, "clerk", countersign.IdentitiesWrite{ExpectedRevision: 1, Modes: []string{countersign.ModeDryRun}, Identities: []countersign.AgentIdentity{{Issuer: issuerAddress, Claim: "sub", Value: "t"}}})
	wantCode(t, err, countersign.CodeRoleRequired)
	rehearser := g.admin()
	rehearser.Modes = []string{countersign.ModeDryRun}
	_, err = g.service.PutIdentities(background, rehearser, "clerk", countersign.IdentitiesWrite{Identities: []countersign.AgentIdentity{}})
	wantCode(t, err, countersign.CodeRoleRequired)
	_, err = g.service.PutIdentities(background, g.admin(), "clerk", countersign.IdentitiesWrite{ExpectedRevision: 1, Identities: []countersign.AgentIdentity{{Issuer: issuerAddress, Claim: "sub", Value: "s"}}})
	wantCode(t, err, countersign.CodeStateConflict)
	_, err = g.service.PutIdentities(background, g.admin(), "nobody", countersign.IdentitiesWrite{Identities: []countersign.AgentIdentity{}})
	wantCode(t, err, countersign.CodeNotFound)
}

// TestRefusalsForDifferentPersonsAreCountedApart: those of one agent on behalf of two persons are
// two records.
func TestRefusalsForDifferentPersonsAreCountedApart(t *testing.T) {
	g, k := issued(t)
	g.identify("clerk", 0, "azp", "z")
	for _, sub := range []string{"lena", "nils", "lena"} {
		p, err := g.service.Authenticate(background, g.token(k, map[string]any{"azp": "z", "sub": sub}))
		g.must(err)
		wantCode(t, g.service.Authorize(background, control.Actor{Principal: p}, access.CreatePlan, "plan"), countersign.CodeRoleRequired)
	}
	seen := map[string]int{}
	g.must(g.store.View(background, func(tx store.Tx) error {
		clear(seen)
		rows, err := tx.List(store.Audit, countersign.DefaultTenant, store.Query{})
		for _, row := range rows {
			if rec := decoded[countersign.AuditRecord](g.t, row.Doc); rec.Actor == "agent:clerk" {
				seen[rec.OnBehalfOf.Subject]++
			}
		}
		return err
	}))
	if seen["lena"] != 1 || seen["nils"] != 1 {
		t.Errorf("%v", seen)
	}
}

// TestARefusedIdentitySaysWhatWouldBeRight reads each message.
func TestARefusedIdentitySaysWhatWouldBeRight(t *testing.T) {
	g, _ := issued(t)
	g.identify("other", 0, "sub", "s")
	put := func(a control.Actor, revision int64, identities ...countersign.AgentIdentity) string {
		_, err := g.service.PutIdentities(background, a, "clerk", countersign.IdentitiesWrite{ExpectedRevision: revision, Identities: identities})
		return fmt.Sprint(err)
	}
	taken := countersign.AgentIdentity{Issuer: issuerAddress, Claim: "sub", Value: "s"}
	for got, want := range map[string]string{
		put(g.admin(), 3): "revision_conflict: the identities of agent clerk are at revision 0, not 3; read the agent and send expectedRevision 0, its identitiesRevision",
		put(g.admin(), 0, countersign.AgentIdentity{Issuer: issuerAddress, Claim: "azp", Value: "z"}, taken): "state_conflict: identities[1]: it is an identity of agent other already; take it away there first, since one identity is one agent",
		put(g.admin(), 0, countersign.AgentIdentity{Issuer: "ftp://id", Claim: "https://", Value: " "}):      "invalid_request: identities[0].issuer: the issuer is no https address such as https://id.example.com; plain http is for one on this machine; identities[0].claim: it must be sub, azp, client_id, act.sub, or an https:// name; identities[0].value: it can't be blank",
		put(g.admin(), 0, taken, taken): "invalid_request: identities[1]: it is named twice",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
