package test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/testing/issuertest"
	"github.com/countersign/countersign/internal/testing/oidctest"
	"github.com/countersign/countersign/test/harness"
)

// An agent comes in by a token of its identity provider (contract 12.3).

// identified is a world with an issuer, and an agent that has an identity there.
func identified(t *testing.T, settings ...harness.Setting) (w *world, issuer *issuertest.Issuer, agent string) {
	t.Helper()
	issuer = issuertest.New(t)
	w = ownWorld(t, append([]harness.Setting{harness.Set("TOKEN_ISSUERS", "default="+issuer.URL)}, settings...)...)
	w.expects(t)
	agent = w.admitted(t, agentItem("clerk", "refund", "refund"))[0]
	w.identify(t, agent, 0, identity(issuer.URL, "azp", "clerk"), identity(issuer.URL, "sub", "machine"))
	return w, issuer, agent
}

func identity(issuer, claim, value string) doc {
	return doc{"issuer": issuer, "claim": claim, "value": value}
}

func (w *world) identify(t *testing.T, agent string, revision int, identities ...doc) json {
	t.Helper()
	list := make([]any, len(identities))
	for i, of := range identities {
		list[i] = of
	}
	return w.Admin.Put("/agents/"+agent+"/identities", doc{"identities": list, "expectedRevision": revision}).OK(t)
}

// by is a client with a token that the issuer gives for the service.
func (w *world) by(t *testing.T, issuer *issuertest.Issuer, more map[string]any) *harness.Client {
	t.Helper()
	return w.holding(issuer.Token(t, w.URL, more))
}

func (w *world) holding(token string) *harness.Client {
	w.Keep(token)
	return w.As(token)
}

func TestAnAgentComesInByItsOwnIdentity(t *testing.T) {
	t.Parallel()
	w, issuer, agent := identified(t)
	machine := w.by(t, issuer, map[string]any{"sub": "machine"})
	machine.Get("/agents/"+agent).OK(t).Is(t, "identitiesRevision", 1).Is(t, "identities.0.claim", "azp")
	machine.Post("/agents/"+agent+"/heartbeat", beat("i", 1, "IDLE")).OK(t)
	run := machine.Post("/agents/"+agent+"/runs", agentRun("LIVE", "refund", doc{"orderId": "o"}), key()).OK(t)
	run.Is(t, "requestedBy", "agent:"+agent).Is(t, "identity", identity(issuer.URL, "sub", "machine")).Is(t, "onBehalfOf", harness.Absent).Is(t, "requestedByName", "clerk")
	w.approve(t, run.At("id").Text())
	w.reaches(t, run.At("id").Text(), "COMPLETED")
	w.viewer.Get("/runs/"+run.At("id").Text()+"/receipt").OK(t).Is(t, "contents.format", "countersign-receipt/2").Is(t, "sections.run.identity.value", "machine")

	for _, path := range []string{"/approvals", "/models", "/plans", "/projects", "/teams", "/agents", "/audit", "/runs/" + run.At("id").Text() + "/receipt"} {
		machine.Get(path).Refused(t, "role_required", agent)
	}
	machine.Get("/runs").OK(t).Is(t, "total", 1)

	clerk := w.by(t, issuer, map[string]any{"azp": "clerk"})
	mine := machine.Post("/agents/"+agent+"/runs", agentRun("LIVE", "refund", doc{"orderId": "p"}), key()).OK(t).At("id").Text()
	w.reaches(t, mine, "WAITING_APPROVAL")
	clerk.Get("/runs/" + mine).OK(t)
	clerk.Post("/runs/"+mine+"/cancel", doc{"reason": "it isn't mine"}).Refused(t, "role_required", "started itself")
	machine.Post("/runs/"+mine+"/cancel", doc{"reason": "it is mine"}).OK(t).Is(t, "status", "CANCELLED")
	log := w.tenantAdmin.Get("/audit?subject=run/" + mine).OK(t)
	for _, rec := range log.At("items").Items() {
		if rec.At("action").Text() == "runs.start" || rec.At("action").Text() == "runs.cancel" {
			want := "machine"
			if rec.At("outcome").Text() != "done" {
				want = "clerk"
			}
			rec.Is(t, "actor", "agent:"+agent).Is(t, "identity.value", want).Is(t, "actorName", "clerk")
		}
	}
	w.tenantAdmin.Get("/audit/verify").OK(t).Is(t, "intact", true)
}

func TestIdentitiesHaveARevisionOfTheirOwnAndHoldFromTheNextRequestOn(t *testing.T) {
	t.Parallel()
	w, issuer, agent := identified(t)
	machine := w.by(t, issuer, map[string]any{"sub": "machine"})
	was := machine.Get("/agents/" + agent).OK(t)
	plan := machine.Post("/agents/"+agent+"/runs", agentRun("LIVE", "refund", doc{"orderId": "o"}), key()).OK(t)
	other := w.admitted(t, agentItem("other", "note", "refund"))[0]
	put := func(agent string, revision int, identities ...any) *harness.Answer {
		return w.Admin.Put("/agents/"+agent+"/identities", doc{"identities": identities, "expectedRevision": revision})
	}
	put(agent, 0, identity(issuer.URL, "sub", "x")).Refused(t, "revision_conflict", "revision 1, not 0", "expectedRevision 1")
	put(other, 0, identity(issuer.URL, "sub", "machine")).Refused(t, "state_conflict", agent)
	put(other, 0, identity("http://id.example.com", "email", " "), identity(issuer.URL, "sub", "a"), identity(issuer.URL, "sub", "a")).
		Refused(t, "invalid_request", "identities[0].issuer: the issuer is no https address", "identities[0].claim: it must be sub, azp, client_id, act.sub, or an https:// name", "identities[0].value: it can't be blank", "identities[2]: it is named twice")
	put(other, 0, harness.With(identity(issuer.URL, "sub", "a"), "modes", []string{"LIVE", "LIVE"})).Refused(t, "invalid_request", "named twice")
	w.As(machine.Token()).Put("/agents/"+agent+"/identities", doc{"identities": []any{}}).Refused(t, "role_required")

	now := put(agent, 1, identity(issuer.URL, "azp", "clerk")).OK(t)
	now.Is(t, "identitiesRevision", 2).Is(t, "revision", was.At("revision")).Is(t, "status", "ADMITTED")
	machine.Get("/agents/"+agent).Refused(t, "unauthenticated")
	w.approve(t, plan.At("id").Text())
	w.reaches(t, plan.At("id").Text(), "COMPLETED") // no drift
	put(other, 0, identity(issuer.URL, "sub", "machine")).OK(t)
	machine.Get("/agents/" + other).OK(t)
	machine.Get("/agents/"+agent).Refused(t, "role_required")

	log := w.tenantAdmin.Get("/audit?action=agents.identities").OK(t).At("items").Items()
	weakens := map[string]bool{}
	for _, rec := range log {
		if rec.At("outcome").Text() == "done" {
			weakens[rec.At("subject").Text()+" "+rec.At("after").Text()[:21]] = rec.At("weakens").Exists()
		}
	}
	for what, want := range map[string]bool{"agent/" + agent + " identities revision 1": true, "agent/" + agent + " identities revision 2": false, "agent/" + other + " identities revision 1": true} {
		if weakens[what] != want {
			t.Errorf("%s: weakens %v in %v", what, weakens[what], weakens)
		}
	}
	w.Admin.Post("/agents/"+other+"/suspend", doc{"reason": "a look"}).OK(t).Is(t, "identitiesRevision", 1)
	machine.Post("/agents/"+other+"/runs", agentRun("DRY_RUN", "note", nil), key()).Refused(t, "agent_not_admitted")
}

func TestAnIdentityMayBeLimitedToRehearsals(t *testing.T) {
	t.Parallel()
	w, issuer, agent := identified(t)
	w.Admin.Put("/agents/"+agent+"/identities", doc{"identities": []any{identity(issuer.URL, "sub", "a"), harness.With(identity(issuer.URL, "sub", "b"), "modes", []string{"LIVE"})}, "modes": []string{"DRY_RUN"}, "expectedRevision": 1}).
		OK(t).Is(t, "identities.0.modes", []string{"DRY_RUN"}).Is(t, "identities.1.modes", []string{"LIVE"})
	a, b := w.by(t, issuer, map[string]any{"sub": "a"}), w.by(t, issuer, map[string]any{"sub": "b"})
	a.Post("/agents/"+agent+"/runs", agentRun("LIVE", "refund", doc{"orderId": "o"}), key()).Refused(t, "role_required", "DRY_RUN")
	a.Post("/agents/"+agent+"/runs", agentRun("DRY_RUN", "refund", doc{"orderId": "o"}), key()).OK(t)
	b.Post("/agents/"+agent+"/runs", agentRun("DRY_RUN", "refund", doc{"orderId": "o"}), key()).Refused(t, "role_required", "LIVE")
}

func TestARefusedTokenSaysNothingAndTheLogSaysWhichCheckFailed(t *testing.T) {
	t.Parallel()
	w, issuer, agent := identified(t)
	other := w.admitted(t, agentItem("other", "note", "refund"))[0]
	w.identify(t, other, 0, identity(issuer.URL, "client_id", "other"), identity(issuer.URL, "https://example.com/agent", "other"))
	for check, more := range map[string]map[string]any{
		"exp":      {"exp": 1},
		"aud":      {"aud": w.URL + "/"},
		"iss":      {"iss": "https://id.example.com"},
		"at_hash":  {"at_hash": "x"},
		"identity": {"sub": "nobody"},
	} {
		answer := w.by(t, issuer, more).Get("/agents/" + agent)
		answer.Refused(t, "unauthenticated")
		harness.Until(t, "the log says that "+check+" failed", func() bool { return strings.Contains(w.Log(), `"check":"`+check+`"`) })
	}
	w.by(t, issuer, map[string]any{"azp": "clerk", "client_id": "other", "sub": "machine"}).Get("/agents/"+agent).Refused(t, "unauthenticated")
	w.by(t, issuer, map[string]any{"azp": "clerk", "https://example.com/agent": "other"}).Get("/agents/"+agent).Refused(t, "unauthenticated")
	w.by(t, issuer, map[string]any{"azp": "clerk", "sub": "machine", "https://example.com/agent": "unknown"}).Get("/agents/" + agent).OK(t)
	harness.Until(t, "the log says that claims contradict each other", func() bool { return strings.Contains(w.Log(), "its claims bind different agents") })
	asked := issuer.Asked()
	for range 5 {
		w.holding(issuertest.NewKey(t, "ES256", "made up").Sign(t, map[string]any{"alg": "ES256", "kid": "made up"}, issuertest.Claims(issuer.URL, w.URL, time.Now(), map[string]any{"sub": "machine"}))).Get("/agents/"+agent).Refused(t, "unauthenticated")
	}
	if more := issuer.Asked() - asked; more != 1 {
		t.Errorf("unknown keys made the issuer be asked %d times", more)
	}
}

func TestKeysOfAnIssuerRotate(t *testing.T) {
	t.Parallel()
	w, issuer, agent := identified(t)
	w.by(t, issuer, map[string]any{"sub": "machine"}).Get("/agents/" + agent).OK(t)
	for _, alg := range []string{"EdDSA"} {
		issuer.Rotate(issuertest.NewKey(t, alg, "next-"+alg))
		w.by(t, issuer, map[string]any{"sub": "machine"}).Get("/agents/" + agent).OK(t)
	}
}

func TestADoorLeadsToTheIssuer(t *testing.T) {
	t.Parallel()
	w, issuer, agent := identified(t)
	get := func(path string) (*http.Response, json) {
		t.Helper()
		res, err := w.patient().Get(w.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		said, _ := harness.Parse(text)
		return res, said
	}
	for _, door := range []string{"", "/mcp/agents/" + agent, "/mcp/agents/" + agent + "/rehearsal", "/mcp/agents/nobody"} {
		res, said := get("/.well-known/oauth-protected-resource" + door)
		if res.StatusCode != 200 {
			t.Errorf("%s: %d", door, res.StatusCode)
		}
		said.Is(t, "resource", w.URL+door).Is(t, "authorization_servers", []string{issuer.URL}).Is(t, "bearer_methods_supported", []string{"header"})
	}
	for _, path := range []string{"/v1/runs", "/mcp/agents/", "/mcp/agents/-"} {
		if res, _ := get("/.well-known/oauth-protected-resource" + path); res.StatusCode != 404 {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	res, _ := w.knock(t, "POST", agent, listing, "Authorization:")
	if got, want := res.Header.Get("WWW-Authenticate"), `Bearer resource_metadata="`+w.URL+"/.well-known/oauth-protected-resource/mcp/agents/"+agent+`"`; res.StatusCode != 401 || got != want {
		t.Errorf("%d %s, want %s", res.StatusCode, got, want)
	}
	if got := w.As("").Get("/runs").Header.Get("WWW-Authenticate"); got != "Bearer" {
		t.Errorf("the API says %q", got)
	}
	door := w.URL + "/mcp/agents/" + agent
	for aud, at := range map[string]string{w.URL: "both", door: agent, door + "/rehearsal": agent + "/rehearsal"} {
		token := issuer.Token(t, aud, map[string]any{"sub": "machine"})
		w.Keep(token)
		for _, here := range []string{agent, agent + "/rehearsal"} {
			want := 401
			if at == "both" || at == here {
				want = 200
			}
			if res, said := w.knock(t, "POST", here, listing, harness.Header("Authorization: Bearer "+token)); res.StatusCode != want {
				t.Errorf("a token for %s at %s: %d %s", aud, here, res.StatusCode, said)
			}
		}
		if answer := w.As(token).Get("/agents/" + agent); (answer.Status == 200) != (at == "both") {
			t.Errorf("a token for %s at the API: %d", aud, answer.Status)
		}
	}
	without := newWorld(t)
	if res, err := without.patient().Get(without.URL + "/.well-known/oauth-protected-resource"); err != nil || res.StatusCode != 404 {
		t.Errorf("without issuers: %v, %v", res, err)
	}
}

// behind is a world whose people sign in at the provider that issues the agents' tokens, too.
func behind(t *testing.T, eyes string) (w *world, issuer *oidctest.Issuer, agent string) {
	t.Helper()
	issuer = oidctest.New(t)
	w = ownWorld(t, harness.Set("TOKEN_ISSUERS", "default="+issuer.URL), harness.Set("FOUR_EYES", eyes), harness.Set("OIDC_ISSUER", issuer.URL), harness.Set("OIDC_CLIENT_ID", oidctest.ClientID),
		harness.Set("OIDC_CLIENT_SECRET_ENV", "ISSUER_SECRET"), harness.Env("ISSUER_SECRET", oidctest.ClientSecret))
	w.Keep(oidctest.ClientSecret)
	w.expects(t)
	agent = w.admitted(t, agentItem("clerk", "refund", "refund"))[0]
	w.identify(t, agent, 0, identity(issuer.URL, "azp", "clerk"))
	return w, issuer, agent
}

// signsInThere signs somebody in at the provider as a subject.
func (w *world) signsInThere(t *testing.T, issuer *oidctest.Issuer, email, subject string) *harness.Browser {
	t.Helper()
	w.Admin.Put("/users/"+email, doc{"roles": []string{"APPROVER"}}).OK(t)
	b := w.NewBrowser()
	issuer.Claims = map[string]any{"email": email, "sub": subject}
	if p := b.Open(atIssuer(t, w, b, "/settings")); p.Status != 200 || b.Session() == "" {
		t.Fatalf("%d %s", p.Status, p.Text)
	}
	w.Keep(b.Session())
	return b
}

// asksFor starts a run by the agent for somebody, and gives its approval.
func (w *world) asksFor(t *testing.T, issuer *oidctest.Issuer, agent string, person map[string]any) json {
	t.Helper()
	person["azp"] = "clerk"
	run := w.holding(issuer.AccessToken(w.URL, person)).Post("/agents/"+agent+"/runs", agentRun("LIVE", "refund", doc{"orderId": string(key())[len("Idempotency-Key: "):]}), key()).OK(t)
	return w.approval(t, run.At("id").Text())
}

func TestThePersonBehindAnAgentCountsAsWhoAsked(t *testing.T) {
	t.Parallel()
	for _, eyes := range []string{"principals", "people"} {
		w, issuer, agent := behind(t, eyes)
		lena, nils := w.signsInThere(t, issuer, "lena@example.com", "s-lena"), w.signsInThere(t, issuer, "nils@example.com", "s-nils")
		decide := func(b *harness.Browser, a json) *harness.Answer {
			return w.As("").Post("/approvals/"+a.At("id").Text()+"/decision", approved, b.Cookie(), w.csrf(t, b))
		}
		a := w.asksFor(t, issuer, agent, map[string]any{"sub": "s-lena"})
		a.Is(t, "requestedBy", "agent:"+agent).Is(t, "onBehalfOf", doc{"issuer": issuer.URL, "subject": "s-lena"}).Is(t, "identity", identity(issuer.URL, "azp", "clerk")).Is(t, "behindUnknown", harness.Absent)
		decide(lena, a).Refused(t, "self_approval", "on your behalf")
		decide(nils, a).OK(t)
		run := w.reaches(t, a.At("runId").Text(), "COMPLETED").Is(t, "onBehalfOf.subject", "s-lena")
		w.viewer.Get("/runs/"+run.At("id").Text()+"/receipt").OK(t).Is(t, "sections.run.onBehalfOf.subject", "s-lena").Is(t, "sections.approvals.0.onBehalfOf.subject", "s-lena")
		for _, rec := range w.tenantAdmin.Get("/audit?action=runs.start&subject=run/" + run.At("id").Text()).OK(t).At("items").Items() {
			rec.Is(t, "onBehalfOf.subject", "s-lena")
		}

		// By an address that the provider has verified, whatever the subject.
		a = w.asksFor(t, issuer, agent, map[string]any{"sub": "s-other", "email": "Nils@Example.com", "email_verified": true})
		a.Is(t, "onBehalfOf.email", "Nils@Example.com").Is(t, "behindUnknown", harness.Absent)
		decide(nils, a).Refused(t, "self_approval", "on your behalf")
		decide(lena, a).OK(t)

		// One that it has not verified says nothing.
		a = w.asksFor(t, issuer, agent, map[string]any{"sub": "s-third", "email": "nils@example.com"})
		a.Is(t, "onBehalfOf.email", harness.Absent).Is(t, "behindUnknown", true)
		late := w.signsInThere(t, issuer, "late@example.com", "s-third") // known from now on
		w.Admin.Get("/approvals/"+a.At("id").Text()).OK(t).Is(t, "behindUnknown", harness.Absent)
		decide(late, a).Refused(t, "self_approval", "on your behalf")
		decide(nils, a).OK(t)
	}
}

func TestUnderPeopleAStrangersRequestIsDecidedByWhoSignedInAtTheIssuer(t *testing.T) {
	t.Parallel()
	w, issuer, agent := behind(t, "people")
	nils, ida := w.signsInThere(t, issuer, "nils@example.com", "s-nils"), w.person(t, "ida@example.com", "APPROVER")
	a := w.asksFor(t, issuer, agent, map[string]any{"sub": "s-nobody"})
	a.Is(t, "behindUnknown", true)
	path := "/approvals/" + a.At("id").Text() + "/decision"
	w.As("").Post(path, approved, ida.Cookie(), w.csrf(t, ida)).Refused(t, "self_approval", "whom this service doesn't know", issuer.URL)
	w.As("").Post(path, approved, nils.Cookie(), w.csrf(t, nils)).OK(t)
}

// TestWhoWroteAnIdentityIsItsMaker: under people they don't decide what the agent asks for.
func TestWhoWroteAnIdentityIsItsMaker(t *testing.T) {
	t.Parallel()
	w, issuer, agent := behind(t, "people")
	mara, ben := w.person(t, "mara@example.com", "APPROVER", "ADMIN"), w.person(t, "ben@example.com", "APPROVER", "ADMIN")
	put := func(b *harness.Browser, revision int, identities ...any) {
		t.Helper()
		w.As("").Put("/agents/"+agent+"/identities", doc{"identities": identities, "expectedRevision": revision}, b.Cookie(), w.csrf(t, b)).OK(t)
	}
	put(mara, 1, identity(issuer.URL, "sub", "m"))
	put(ben, 2, identity(issuer.URL, "sub", "m"), identity(issuer.URL, "sub", "b")) // hers stays hers
	run := w.holding(issuer.AccessToken(w.URL, map[string]any{"sub": "m"})).Post("/agents/"+agent+"/runs", agentRun("LIVE", "refund", doc{"orderId": "o"}), key()).OK(t)
	a := w.approval(t, run.At("id").Text()).Is(t, "requestedByMakers", []string{"user:mara@example.com"})
	path := "/approvals/" + a.At("id").Text() + "/decision"
	w.As("").Post(path, approved, mara.Cookie(), w.csrf(t, mara)).Refused(t, "self_approval")
	w.As("").Post(path, approved, ben.Cookie(), w.csrf(t, ben)).OK(t)
}
