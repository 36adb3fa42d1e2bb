package test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/testing/authenticator"
	"github.com/countersign/countersign/test/harness"
)

// administrators is a world of which noor and mara are administrators who signed in.
type administrators struct {
	*world
	mara, noor []harness.Header
	browser    *harness.Browser // noor's
}

func newAdministrators(t *testing.T, settings ...harness.Setting) *administrators {
	t.Helper()
	w := &administrators{world: ownWorld(t, settings...)}
	mara := w.person(t, "mara@example.com", "ADMIN", "OPERATOR")
	w.browser = w.person(t, "noor@example.com", "ADMIN", "OPERATOR")
	w.mara, w.noor = []harness.Header{mara.Cookie(), w.csrf(t, mara)}, []harness.Header{w.browser.Cookie(), w.csrf(t, w.browser)}
	return w
}

// guard has one other approve what weakens, from now on.
func (w *administrators) guard(t *testing.T, more doc) {
	t.Helper()
	write := doc{"decisionAssertion": "NONE", "weakening": doc{"approvals": 1}, "reason": "four eyes", "expectedRevision": w.Admin.Get("/settings").OK(t).At("revision").Int()}
	for name, v := range more {
		write = harness.With(write, name, v)
	}
	w.As("").Put("/settings", write, w.mara...).OK(t)
}

// changeOf is the path of the change that a request is answered with, which proposes it.
func (w *administrators) changeOf(t *testing.T, what string, a *harness.Answer) string {
	t.Helper()
	location := a.Header.Get("Location")
	if code := a.At("error"); a.Status != 409 || !code.Exists() || code.Text() != "change_proposed" || !strings.HasPrefix(location, "/v1/changes/chg-") {
		t.Fatalf("%s isn't proposed: %d %s, at %q", what, a.Status, a.Raw, location)
	}
	id := strings.TrimPrefix(location, "/v1/changes/")
	a.Refused(t, "change_proposed", "change "+id, "noor@example.com must approve")
	return "/changes/" + id
}

// TestEachThingThatIsSaidToWeakenIsProposed: what the contract names, one by one, and beside each what is
// no weaker and made at once.
func TestEachThingThatIsSaidToWeakenIsProposed(t *testing.T) {
	t.Parallel()
	w := newAdministrators(t, harness.Set("PUBLIC_URL", keyOrigin), harness.Set("REDACT_AFTER", "0s"))
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	w.Admin.Put("/users/far@example.com", doc{"roles": []string{"VIEWER"}, "tenantId": "acme"}).OK(t)
	for email, user := range map[string]doc{
		"viewer@example.com": {"roles": []string{"VIEWER"}}, "deputy@example.com": {"roles": []string{"APPROVER"}}, "approver@example.com": {"roles": []string{"APPROVER"}, "projectIds": []string{shop}},
	} {
		w.Admin.Put("/users/"+email, user).OK(t)
	}
	w.Admin.Put("/projects/default-two", harness.Project(w.shop.Origin())).OK(t)
	w.group(t, "finance", 0)
	pays := payRules(w.shop.Origin(), "RISK_BASED", harness.With(rule(is("amount", "gte", number("10")), "ASK"), "groups", []string{"finance"}))
	pays = harness.With(pays, "capabilities.0.path", "/pay/{country}")
	pays = harness.With(pays, "capabilities.0.inputSchema.country", doc{"type": "string", "required": true, "pattern": "[a-z]+"})
	pays = harness.With(pays, "capabilities.0.inputSchema.resourceId", harness.Input("string", false))
	answers := harness.With(pays, "answerKeys", []string{"ed25519:3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"})
	settled := harness.With(answers, "settlement", doc{"path": "/settlement", "mode": "PROPOSE"})
	w.register(t, ruled, settled)
	w.Admin.Put("/projects/default-keys", answers).OK(t)
	agent := w.operator.Post("/systems/"+shop+"/agents/sync", doc{"schemaVersion": "1.0", "agents": []any{agentItem("clerk", "refund", "")}}).OK(t).At("items.0.id").Text()
	w.Admin.Post("/agents/"+agent+"/admit", doc{"reason": "known", "budgets": []any{doc{"count": 1, "window": "1h", "then": "ASK", "reason": "few"}}}).OK(t)
	held, ended := w.run(t, step("n", "note", doc{"text": "x"})), w.run(t, step("n", "note", doc{"text": "y"}))
	w.reaches(t, held, "COMPLETED")
	w.reaches(t, ended, "COMPLETED")
	w.Admin.Put("/runs/"+held+"/hold", doc{"hold": true, "reason": "the auditors"}).OK(t)
	w.guard(t, doc{"decisionAssertion": "PASSKEY"})

	free := func(approval string, more doc) doc {
		return harness.With(harness.Project(w.shop.Origin()), "capabilities", []any{harness.Capability("go", "POST", "/go", harness.With(more, "approval", approval))})
	}
	allowing := doc{"inputSchema": doc{"amount": harness.Input("number", true)}, "approvalRules": []any{rule(is("amount", "lte", number("5")), "ALLOW")}}
	asking := doc{"inputSchema": doc{"amount": harness.Input("number", true)}, "approvalRules": []any{rule(is("amount", "lte", number("5")), "ASK")}}
	identity := doc{"identities": []any{doc{"issuer": "https://id.example.com", "claim": "sub", "value": "a"}}}
	put, post := "PUT", "POST"
	for _, c := range []struct {
		what, method, path string
		body               doc
		as                 string // "": mara; "realm": the realm's administrator
	}{
		{"ADMIN by user", put, "/users/viewer@example.com", doc{"roles": []string{"VIEWER", "ADMIN"}}, ""},
		{"APPROVER by user", put, "/users/new@example.com", doc{"roles": []string{"APPROVER"}}, ""},
		{"APPROVER widened", put, "/users/approver@example.com", doc{"roles": []string{"APPROVER"}, "projectIds": []string{shop, "default-two"}}, ""},
		{"APPROVER of all projects", put, "/users/approver@example.com", doc{"roles": []string{"APPROVER"}}, ""},
		{"ADMIN by invitation", put, "/users/far@example.com", doc{"roles": []string{"ADMIN"}}, ""},
		{"APPROVER by invitation", put, "/users/far@example.com", doc{"roles": []string{"APPROVER"}}, ""},
		{"ADMIN by token", post, "/tokens", doc{"name": "t", "roles": []string{"ADMIN"}}, ""},
		{"APPROVER by token", post, "/tokens", doc{"name": "t", "roles": []string{"APPROVER"}, "projectIds": []string{shop}}, ""},
		{"ADMIN by a sign-in link", post, "/users/mara@example.com/sign-in-link", doc{}, "realm"},
		{"APPROVER by a sign-in link", post, "/users/approver@example.com/sign-in-link", doc{}, "realm"},
		{"a member of a group that decides", put, "/groups/finance", doc{"name": "finance", "members": []string{"approver@example.com"}, "expectedRevision": 1}, ""},
		{"a claim of a group that decides", put, "/groups/finance", doc{"name": "finance", "members": []string{}, "claim": "groups=finance", "expectedRevision": 1}, ""},
		{"a delegation", put, "/delegations/approver@example.com", standIn("deputy@example.com"), ""},
		{"an identity of an agent", put, "/agents/" + agent + "/identities", identity, ""},
		{"an agent's budget widened", post, "/agents/" + agent + "/admit", doc{"reason": "r", "budgets": []any{}}, ""},
		{"pathText", put, "/projects/" + ruled, harness.With(settled, "capabilities.0.inputSchema.country.pathText", true), ""},
		{"settlement AUTOMATIC", put, "/projects/" + ruled, harness.With(settled, "settlement.mode", "AUTOMATIC"), ""},
		{"settlement removed", put, "/projects/" + ruled, answers, ""},
		{"answer keys removed", put, "/projects/default-keys/answer-keys", doc{"answerKeys": []string{}}, ""},
		{"an approval lowered", put, "/projects/" + ruled, harness.With(settled, "capabilities.0.approval", "NONE"), ""},
		{"a rule removed", put, "/projects/" + ruled, harness.With(settled, "capabilities.0.approvalRules", []any{}), ""},
		{"redaction", post, "/runs/" + ended + "/redact", doc{"reason": "request 48"}, ""},
		{"an end of a hold", put, "/runs/" + held + "/hold", doc{"hold": false, "reason": "over"}, ""},
		{"an end of weakening", put, "/settings", doc{"decisionAssertion": "PASSKEY", "reason": "r"}, ""},
		{"an end of decisionAssertion", put, "/settings", doc{"decisionAssertion": "NONE", "weakening": doc{"approvals": 1}, "reason": "r"}, ""},
		{"a project that asks nobody", put, "/projects/default-new", free("NONE", nil), ""},
		{"RISK_BASED with idempotent", put, "/projects/default-new", free("RISK_BASED", doc{"idempotent": true}), ""},
		{"an ALLOW", put, "/projects/default-new", free("RISK_BASED", allowing), ""},
		{"a capability that asks nobody, changed", put, "/projects/default-two", harness.With(harness.Project(w.shop.Origin()), "capabilities.7.timeoutMs", 3000), ""},
	} {
		body := c.body
		if c.method == put && strings.Count(c.path, "/") == 2 && strings.HasPrefix(c.path, "/projects/") || c.path == "/settings" {
			body = harness.With(body, "expectedRevision", w.found(c.path))
		}
		before := w.Admin.Get("/audit?limit=1&action=" + "settings.write").OK(t).At("items.0.seq").String()
		client, as := w.As(""), w.mara
		if c.as == "realm" {
			client, as = w.Admin, nil
		}
		change := w.changeOf(t, c.what, client.Do(c.method, c.path, body, as...))
		if again := w.changeOf(t, c.what, client.Do(c.method, c.path, body, as...)); again != change {
			t.Errorf("%s: asked again it is %s, and not %s", c.what, again, change)
		}
		shown := w.As("").Get(change, w.noor...).OK(t).Is(t, "status", "PROPOSED")
		if len(shown.At("diff").Items()) == 0 || shown.At("diff.0.weakens").String() != "true" {
			t.Errorf("%s: nothing is shown that weakens: %s", c.what, shown)
		}
		for i, weaker := 0, true; i < len(shown.At("diff").Items()); i++ {
			d := shown.At("diff").Items()[i]
			if is := d.At("weakens").String() == "true"; is && !weaker || d.At("text").Text() == "" || d.At("path").Text() == "" {
				t.Errorf("%s: %s", c.what, shown.At("diff"))
			} else {
				weaker = is
			}
		}
		if after := w.Admin.Get("/audit?limit=1&action=" + "settings.write").OK(t).At("items.0.seq").String(); after != before {
			t.Errorf("%s: the settings were written", c.what)
		}
		client.Post(change+"/withdraw", doc{}, as...).OK(t).Is(t, "status", "WITHDRAWN")
	}

	for _, c := range []struct {
		what, method, path string
		body               doc
	}{
		{"a viewer", put, "/users/new2@example.com", doc{"roles": []string{"VIEWER", "OPERATOR"}}},
		{"fewer rights", put, "/users/approver@example.com", doc{"roles": []string{"VIEWER"}}},
		{"a token that operates", post, "/tokens", doc{"name": "t", "roles": []string{"OPERATOR"}}},
		{"another name of a group", put, "/groups/finance", doc{"name": "Finance", "members": []string{}, "expectedRevision": 1}},
		{"a hold", put, "/runs/" + ended + "/hold", doc{"hold": true, "reason": "the auditors"}},
		{"a project that asks", put, "/projects/default-asks", free("ALWAYS", asking)},
		{"a project that asks by risk", put, "/projects/default-risk", free("RISK_BASED", nil)},
		{"an approval raised", put, "/projects/" + ruled, harness.With(harness.With(settled, "capabilities.0.approval", "ALWAYS"), "expectedRevision", 1)},
		{"more asked of a decision", put, "/settings", doc{"decisionAssertion": "PASSKEY", "weakening": doc{"approvals": 1}, "reason": "the same", "expectedRevision": 1}},
	} {
		w.As("").Do(c.method, c.path, c.body, w.mara...).OK(t)
	}
}

// found is the revision of what is there, 0 for nothing.
func (w *administrators) found(path string) int {
	if a := w.Admin.Get(path); a.Status == 200 {
		return a.At("revision").Int()
	}
	return 0
}

// TestAChangeIsSignedWhereDecisionsAre: a passkey signs "countersign change v1" over its id, digest,
// decision and reason, and nothing else.
func TestAChangeIsSignedWhereDecisionsAre(t *testing.T) {
	t.Parallel()
	w := newAdministrators(t, harness.Set("PUBLIC_URL", keyOrigin))
	noor := &signer{w.browser, w.world, authenticator.New(t, keyOrigin, "localhost")}
	noor.registers(t, "noor@example.com")
	w.guard(t, doc{"decisionAssertion": "PASSKEY"})
	change := w.changeOf(t, "ADMIN", w.As("").Put("/users/pia@example.com", doc{"roles": []string{"ADMIN"}}, w.mara...))
	c := w.As("").Get(change, w.noor...).OK(t)
	id, digest := c.At("id").Text(), c.At("digest").Text()
	signed := func(lines ...string) doc {
		sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
		return answered("APPROVED", "known to us", noor.device.Sign(sum[:]))
	}
	why := sha256.Sum256([]byte("known to us"))
	reason := hex.EncodeToString(why[:])
	decide := func(d doc) *harness.Answer { return w.As("").Post(change+"/decision", d, w.noor...) }
	decide(doc{"decision": "APPROVED", "reason": "known to us"}).Refused(t, "assertion_required")
	for what, d := range map[string]doc{
		"an approval's":    signed("countersign decision v1", id, digest, "APPROVED", reason),
		"another change":   signed("countersign change v1", "chg-other", digest, "APPROVED", reason),
		"another content":  signed("countersign change v1", id, reason, "APPROVED", reason),
		"another decision": signed("countersign change v1", id, digest, "REJECTED", reason),
		"another reason":   signed("countersign change v1", id, digest, "APPROVED", digest),
	} {
		if a := decide(d); a.Status != 403 || a.At("error").Text() != "assertion_invalid" {
			t.Errorf("%s: %d %s", what, a.Status, a.Raw)
		}
	}
	made := decide(signed("countersign change v1", id, digest, "APPROVED", reason)).OK(t)
	made.Is(t, "status", "MADE").Is(t, "decisions.0.assertion.rpId", "localhost")
	w.Admin.Get("/audit?action=changes.decide").OK(t).Is(t, "items.0.outcome", "done").Is(t, "items.0.assertion.rpId", "localhost")
	w.Admin.Get("/users").OK(t)
}
