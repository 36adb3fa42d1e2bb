package test

import (
	encoding "encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/campaign"
	"github.com/countersign/countersign/test/harness"
)

var (
	aloneChanges = flag.Int("alone-changes", 400, "how many drawn changes one administrator tries alone")
	aloneSeed    = campaign.SeedFlag("alone-seed")
)

// alone is an administrator who has every role, tries whatever the API offers, and has nobody to help her. Whatever she
// gets hold of, such as a token, acts for her too.
type alone struct {
	*world
	t       *testing.T
	rand    *rand.Rand
	hers    []harness.Header // of her session
	own     *harness.Client  // a token with all that she has, from before
	tokens  []*harness.Client
	kept    []string // runs of others that ended, of which some are held
	changes []string
	refused map[string]int // by code
	done    map[string]int // by operation
}

// desk is a project of which nothing that changes anything goes out unasked.
const desk = "default-desk"

func (w *alone) deskOf(name string) doc {
	text := harness.Input("string", true)
	return doc{
		"name": name, "adapter": "HTTP_JSON", "baseUrl": w.shop.Origin(), "healthPath": "/health", "auth": doc{"type": "HMAC", "credentialEnv": harness.SecretEnv},
		"capabilities": []any{harness.Capability("refund", "POST", "/refunds", doc{"inputSchema": doc{"orderId": text}, "approval": "ALWAYS"})},
	}
}

func newAlone(t *testing.T) *alone {
	t.Helper()
	w := &alone{world: &world{shop: harness.NewReceiver(t)}, t: t, refused: map[string]int{}, done: map[string]int{}}
	w.Server = harness.Start(t, harness.Set("CONNECTION_ORIGINS", w.shop.Origin()), harness.Set("SIGNING_ENV_ALLOWLIST", harness.SecretEnv), harness.Env(harness.SecretEnv, harness.Secret),
		harness.Set("FOUR_EYES", "people"), harness.Set("REDACT_AFTER", "0s"), harness.Set("NOTIFY_ORIGINS", "https://hooks.example.com"))
	w.Keep(harness.Secret)
	w.shop.Otherwise(harness.Answering(http.StatusOK, `{"ok":true}`))
	operator := w.principal(t, "OPERATOR")
	operator.Put("/models/refund", doc{"document": harness.Model("refund")}).OK(t)
	w.Admin.Put("/projects/"+desk, w.deskOf("Desk")).OK(t)
	w.Admin.Post("/projects/"+desk+"/health-check", nil).OK(t)
	w.Admin.Post("/projects/"+desk+"/enable", doc{"expectedRevision": 1}).OK(t)
	for _, a := range operator.Post("/systems/"+desk+"/agents/sync", doc{"schemaVersion": "1.0", "agents": []any{agentItem("clerk", "refund", "refund")}}).OK(t).At("items").Items() {
		w.Admin.Post("/agents/"+a.At("id").Text()+"/admit", doc{"reason": "known", "budgets": []any{doc{"count": 1, "window": "1h", "then": "ASK", "reason": "r"}}}).OK(t)
	}
	w.Admin.Put("/groups/owners", doc{"name": "Owners", "members": []any{}}).OK(t)
	for _, email := range []string{"noor@example.com", "otto@example.com"} {
		w.Admin.Put("/users/"+email, doc{"roles": []string{"ADMIN", "APPROVER"}}).OK(t)
	}
	mallory := w.person(t, "mallory@example.com", "ADMIN", "OPERATOR", "APPROVER")
	w.hers = []harness.Header{mallory.Cookie(), w.csrf(t, mallory)}
	made := w.As("").Post("/tokens", doc{"name": "own", "roles": []string{"ADMIN", "OPERATOR", "APPROVER"}, "userEmail": "mallory@example.com"}, w.hers...).OK(t)
	w.own = w.As(made.At("token").Text())
	for n := range 4 {
		id := operator.Post("/projects/"+desk+"/runs", doc{"capability": "refund", "mode": "LIVE", "inputs": doc{"orderId": "o"}}, key()).OK(t).At("id").Text()
		operator.Post("/runs/"+id+"/cancel", doc{"reason": "r"}).OK(t)
		w.reaches(t, id, "CANCELLED")
		if w.kept = append(w.kept, id); n%2 == 0 {
			w.Admin.Put("/runs/"+id+"/hold", doc{"hold": true, "reason": "the auditors"}).OK(t)
		}
	}
	w.Admin.Put("/settings", doc{"decisionAssertion": "NONE", "weakening": doc{"approvals": 1}, "reason": "four eyes"}).OK(t)
	return w
}

// send asks for something as herself, or by a token that she has got hold of.
func (w *alone) send(method, path string, body any) *harness.Answer {
	var a *harness.Answer
	switch n := len(w.tokens); {
	case n > 0 && w.rand.IntN(6) == 0:
		a = w.tokens[w.rand.IntN(n)].Do(method, path, body, idempotent(method, path)...)
	case w.rand.IntN(3) == 0:
		a = w.own.Do(method, path, body, idempotent(method, path)...)
	default:
		a = w.As("").Do(method, path, body, append(idempotent(method, path), w.hers...)...)
	}
	if code := a.At("error"); a.Status >= 400 && code.Exists() {
		w.refused[code.Text()]++
	}
	if location := a.Header.Get("Location"); a.Status == http.StatusConflict && location != "" {
		w.proposed(location[strings.LastIndexByte(location, '/')+1:])
	}
	return a
}

// proposed keeps a change, which must show others what it weakens.
func (w *alone) proposed(id string) {
	if slices.Contains(w.changes, id) {
		return
	}
	w.changes = append(w.changes, id)
	if c := w.Admin.Get("/changes/" + id).OK(w.t); len(c.At("diff").Items()) == 0 || c.At("diff.0.weakens").String() != "true" {
		w.t.Errorf("nobody is shown what it weakens: %s", c)
	}
}

func idempotent(method, path string) []harness.Header {
	if method == "POST" && strings.HasSuffix(path, "/runs") {
		return []harness.Header{key()}
	}
	return nil
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// roles are some roles.
func (w *alone) roles() []string {
	all := []string{"ADMIN", "OPERATOR", "APPROVER", "VIEWER"}
	w.rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:1+w.rand.IntN(4)]
}

func (w *alone) revision(path, member string) int {
	a := w.As("").Do("GET", path, nil, w.hers...)
	if a.Status != http.StatusOK {
		return 0
	}
	return a.At(member).Int()
}

var (
	peopleTried   = []string{"mallory@example.com", "noor@example.com", "otto@example.com", "mule@example.com", "mule2@example.com"}
	projectsTried = []string{desk, desk, desk, "default-a", "default-b", "default-c", "default-d", "default-e", "default-f", "default-g", "default-h"}
)

// project draws a project that lets out what it may.
func (w *alone) project() doc {
	r := w.rand
	p := w.deskOf(pick(r, "Desk", "Desk 2"))
	var capabilities []any
	for _, name := range slices.Compact([]string{pick(r, "refund", "pay"), pick(r, "refund", "refund-2")}) {
		c := harness.Capability(name, pick(r, "POST", "POST", "PUT", "DELETE"), pick(r, "/refunds", "/refunds/", "/pay"), doc{"inputSchema": doc{"orderId": harness.Input("string", true)}})
		if approval := pick(r, "", "NONE", "RISK_BASED", "ALWAYS", "ALWAYS"); approval != "" {
			c["approval"] = approval
		}
		if r.IntN(3) == 0 {
			c["idempotent"] = true
		}
		if r.IntN(4) == 0 {
			c["sideEffect"] = r.IntN(2) == 0
		}
		if r.IntN(4) == 0 {
			c["approvalRules"] = []any{doc{"when": doc{"kind": "predicate", "variableId": "orderId", "operator": "isKnown"}, "then": pick(r, "ALLOW", "ASK", "DENY"), "reason": "r"}}
		}
		capabilities = append(capabilities, c)
	}
	p["capabilities"] = capabilities
	return p
}

// tries are what she tries by operation. An operation that writes and isn't among them fails the test: it is drawn from the
// document, which has the operations of the access table.
var tries = map[string]func(w *alone){
	"putProject": func(w *alone) {
		id := pick(w.rand, projectsTried...)
		p := w.project()
		p["expectedRevision"] = w.revision("/projects/"+id, "revision")
		if w.send("PUT", "/projects/"+id, p).Status == http.StatusOK && w.rand.IntN(2) == 0 {
			w.send("POST", "/projects/"+id+"/health-check", nil)
			w.send("POST", "/projects/"+id+"/enable", doc{"expectedRevision": w.revision("/projects/"+id, "revision")})
			w.letOut(id)
		}
	},
	"putAnswerKeys": func(w *alone) {
		w.send("PUT", "/projects/"+pick(w.rand, projectsTried...)+"/answer-keys", doc{"answerKeys": []any{"ed25519:" + strings.Repeat("ab", 32)}})
	},
	"checkProjectHealth": func(w *alone) { w.send("POST", "/projects/"+pick(w.rand, projectsTried...)+"/health-check", nil) },
	"enableProject": func(w *alone) {
		id := pick(w.rand, projectsTried...)
		w.send("POST", "/projects/"+id+"/health-check", nil)
		w.send("POST", "/projects/"+id+"/enable", doc{"expectedRevision": w.revision("/projects/"+id, "revision")})
	},
	"disableProject": func(w *alone) {
		id := pick(w.rand, projectsTried...)
		w.send("POST", "/projects/"+id+"/disable", doc{"expectedRevision": w.revision("/projects/"+id, "revision")})
	},
	"retireProject":  func(w *alone) { w.reasoned("/projects/"+pick(w.rand, projectsTried...), "retire") },
	"restoreProject": func(w *alone) { w.reasoned("/projects/"+pick(w.rand, projectsTried...), "restore") },
	"recordConformance": func(w *alone) {
		w.send("POST", "/projects/"+desk+"/conformance", doc{"expectedRevision": w.revision("/projects/"+desk, "revision"), "capability": "refund", "target": "https://sandbox.example", "rules": []any{doc{"name": "twins", "verdict": "HOLDS"}}})
	},
	"startProjectRun": func(w *alone) { w.letOut(pick(w.rand, projectsTried...)) },
	"putModel": func(w *alone) {
		w.send("PUT", "/models/refund", doc{"document": harness.Model("refund"), "expectedRevision": w.revision("/models/refund", "revision")})
	},
	"suspendModel": func(w *alone) { w.reasoned("/models/refund", "suspend") }, "resumeModel": func(w *alone) { w.reasoned("/models/refund", "resume") },
	"retireModel": func(w *alone) { w.reasoned("/models/refund", "retire") }, "restoreModel": func(w *alone) { w.reasoned("/models/refund", "restore") },
	"compilePlan": func(w *alone) {
		w.send("POST", "/models/refund/compile-plan", doc{"scenarioId": "small", "actionBindings": doc{}})
	},
	"createPlan": func(w *alone) {
		w.send("POST", "/plans", harness.With(planOf(harness.With(step("r", "refund", doc{"orderId": "o"}), "projectId", desk)), "modelId", "refund"))
	},
	"startRun": func(w *alone) {
		for _, plan := range w.As("").Do("GET", "/plans?limit=2", nil, w.hers...).At("items").Items() {
			w.send("POST", "/runs", doc{"planId": plan.At("id").Text()})
		}
	},
	"cancelRun": func(w *alone) {
		w.eachRun(func(id string) { w.send("POST", "/runs/"+id+"/cancel", doc{"reason": "r"}) })
	},
	"holdRun": func(w *alone) {
		w.eachRun(func(id string) { w.send("PUT", "/runs/"+id+"/hold", doc{"hold": w.rand.IntN(2) == 0, "reason": "r"}) })
		w.send("PUT", "/runs/"+pick(w.rand, w.kept...)+"/hold", doc{"hold": false, "reason": pick(w.rand, "r", "s")})
	},
	"redactRun": func(w *alone) {
		w.eachRun(func(id string) { w.send("POST", "/runs/"+id+"/redact", doc{"reason": "r"}) })
		w.send("POST", "/runs/"+pick(w.rand, w.kept...)+"/redact", doc{"reason": pick(w.rand, "r", "s")})
	},
	"reconcileRun": func(w *alone) {
		w.eachRun(func(id string) {
			w.send("POST", "/runs/"+id+"/reconcile", reconcile("CONFIRMED_COMPLETED", doc{"ok": true}))
		})
	},
	"probeRun": func(w *alone) {
		w.eachRun(func(id string) { w.send("POST", "/runs/"+id+"/probe", doc{"stepId": "r"}) })
	},
	"settleRun": func(w *alone) {
		w.eachRun(func(id string) {
			w.send("POST", "/runs/"+id+"/settle", doc{"stepId": "r", "n": 1, "action": "CONFIRM", "reason": "r"})
		})
	},
	"decideApproval": func(w *alone) {
		for _, a := range w.As("").Do("GET", "/approvals?status=PENDING&limit=5", nil, w.hers...).At("items").Items() {
			w.send("POST", "/approvals/"+a.At("id").Text()+"/decision", approved)
		}
	},
	"lookAgain": func(w *alone) {
		for _, a := range w.As("").Do("GET", "/approvals?status=PENDING&limit=5", nil, w.hers...).At("items").Items() {
			w.send("POST", "/approvals/"+a.At("id").Text()+"/look", nil)
		}
	},
	"syncAgents": func(w *alone) {
		w.send("POST", "/systems/"+desk+"/agents/sync", doc{"schemaVersion": "1.0", "agents": []any{agentItem(pick(w.rand, "clerk", "second"), "refund", "refund")}})
	},
	"admitAgent": func(w *alone) {
		body := doc{"reason": "r"}
		if w.rand.IntN(2) == 0 {
			body["budgets"] = []any{}
		}
		w.eachAgent(func(id string) { w.send("POST", "/agents/"+id+"/admit", body) })
	},
	"suspendAgent": func(w *alone) { w.eachAgent(func(id string) { w.reasoned("/agents/"+id, "suspend") }) },
	"retireAgent":  func(w *alone) { w.eachAgent(func(id string) { w.reasoned("/agents/"+id, "retire") }) },
	"restoreAgent": func(w *alone) { w.eachAgent(func(id string) { w.reasoned("/agents/"+id, "restore") }) },
	"putAgentIdentities": func(w *alone) {
		w.eachAgent(func(id string) {
			w.send("PUT", "/agents/"+id+"/identities", doc{"identities": []any{doc{"issuer": "https://id.example.com", "claim": "sub", "value": fmt.Sprint("v", w.rand.IntN(3))}}, "expectedRevision": w.revision("/agents/"+id, "identitiesRevision")})
		})
	},
	"heartbeat": func(w *alone) {
		w.eachAgent(func(id string) { w.send("POST", "/agents/"+id+"/heartbeat", beat("i", 1, "IDLE")) })
	},
	"startAgentRun": func(w *alone) {
		w.eachAgent(func(id string) {
			w.send("POST", "/agents/"+id+"/runs", doc{"expectedRevision": w.revision("/agents/"+id, "revision"), "mode": "LIVE", "capability": "refund", "input": doc{"orderId": "o"}, "expectation": doc{"field": "ok", "equals": true}})
		})
	},
	"putTeam": func(w *alone) {
		w.send("PUT", "/teams/t", doc{"name": "n", "members": []any{}, "steps": []any{}})
	},
	"suspendTeam": func(w *alone) { w.reasoned("/teams/t", "suspend") }, "resumeTeam": func(w *alone) { w.reasoned("/teams/t", "resume") },
	"retireTeam": func(w *alone) { w.reasoned("/teams/t", "retire") }, "restoreTeam": func(w *alone) { w.reasoned("/teams/t", "restore") },
	"startTeamRun": func(w *alone) { w.send("POST", "/teams/t/runs", doc{"expectedRevision": 1, "mode": "LIVE"}) },
	"putTenant":    func(w *alone) { w.send("PUT", "/tenants/acme", doc{"name": "Acme"}) },
	"putUser": func(w *alone) {
		email, roles := pick(w.rand, peopleTried...), w.roles()
		if email == peopleTried[0] {
			roles = []string{"ADMIN", "OPERATOR", "APPROVER", "VIEWER"} // she gives nothing away
		}
		w.send("PUT", "/users/"+email, doc{"roles": roles})
	},
	"deleteUser": func(w *alone) { w.send("DELETE", "/users/"+pick(w.rand, peopleTried[1:]...), nil) },
	"createSignInLink": func(w *alone) {
		w.send("POST", "/users/"+pick(w.rand, peopleTried...)+"/sign-in-link", doc{})
	},
	"createToken": func(w *alone) {
		body := doc{"name": fmt.Sprint("t", w.rand.IntN(3)), "roles": w.roles()}
		if w.rand.IntN(2) == 0 {
			body["userEmail"] = pick(w.rand, peopleTried...)
		}
		w.got(w.send("POST", "/tokens", body))
	},
	"revokeToken": func(w *alone) { w.send("DELETE", "/tokens/tok-none", nil) },
	"confirmToken": func(w *alone) {
		for _, t := range w.As("").Do("GET", "/tokens?limit=50", nil, w.hers...).At("items").Items() {
			w.send("POST", "/tokens/"+t.At("id").Text()+"/confirm", nil)
		}
	},
	"renewToken": func(w *alone) {
		w.got(w.send("POST", "/tokens", doc{"name": "reader", "reads": pick(w.rand, []any{"metrics"}, []any{"metrics", "audit"}, []any{"audit", "realm"})}))
		w.got(w.send("POST", "/tokens/renew", nil))
	},
	"freeCredential": func(w *alone) { w.send("DELETE", "/credentials/"+harness.SecretEnv, doc{"reason": "r"}) },
	"putWebhook": func(w *alone) {
		w.send("PUT", "/webhooks/hook", harness.Without(webhookBody("").(doc), "expectedRevision"))
	},
	"deleteWebhook": func(w *alone) { w.send("DELETE", "/webhooks/hook", nil) },
	"putGroup": func(w *alone) {
		id := pick(w.rand, "owners", "mine")
		w.send("PUT", "/groups/"+id, doc{"name": "n", "members": []any{pick(w.rand, peopleTried...)}, "claim": pick(w.rand, "", "groups=x"), "expectedRevision": w.revision("/groups/"+id, "revision")})
	},
	"deleteGroup": func(w *alone) { w.send("DELETE", "/groups/"+pick(w.rand, "owners", "mine"), nil) },
	"putDelegation": func(w *alone) {
		w.send("PUT", "/delegations/"+pick(w.rand, peopleTried...), doc{"delegate": pick(w.rand, peopleTried...), "until": "2098-12-31T00:00:00Z", "from": "2098-12-30T00:00:00Z", "reason": "r"})
	},
	"endDelegation": func(w *alone) { w.send("DELETE", "/delegations/"+pick(w.rand, peopleTried...), nil) },
	"putSettings": func(w *alone) {
		body := doc{"decisionAssertion": "NONE", "reason": "r", "expectedRevision": w.revision("/settings", "revision")}
		if w.rand.IntN(2) == 0 {
			body["weakening"] = pick(w.rand, doc{"approvals": 1}, doc{"approvals": 2}, doc{"approvals": 1, "groups": []any{"mine"}}, doc{"approvals": 1, "groups": []any{"owners"}})
		}
		w.send("PUT", "/settings", body)
	},
	"stop": func(w *alone) { w.send("POST", "/stop", doc{"reason": "r"}) },
	"go":   func(w *alone) { w.send("POST", "/go", doc{"reason": "r"}) },
	"decideChange": func(w *alone) {
		if len(w.changes) > 0 {
			w.send("POST", "/changes/"+pick(w.rand, w.changes...)+"/decision", approved)
		}
	},
	"makeChange": func(w *alone) {
		if len(w.changes) > 0 {
			w.got(w.send("POST", "/changes/"+pick(w.rand, w.changes...)+"/make", nil))
		}
	},
	"withdrawChange": func(w *alone) {
		for len(w.changes) > 15 { // room for others: her open ones are bounded
			w.send("POST", "/changes/"+w.changes[0]+"/withdraw", nil)
			w.changes = w.changes[1:]
		}
	},
}

// apply has her files applied by the command.
func (w *alone) apply() {
	dir := w.t.TempDir()
	project := harness.With(w.project(), "kind", "project")
	for name, record := range map[string]doc{
		"project": harness.With(project, "id", pick(w.rand, projectsTried...)),
		"group":   {"kind": "group", "id": pick(w.rand, "owners", "mine"), "name": "n", "members": []any{pick(w.rand, peopleTried...)}, "claim": pick(w.rand, "", "groups=x")},
		"setting": {"kind": "setting", "id": "tenant", "decisionAssertion": "NONE"},
		"agent":   {"kind": "agent", "id": desk + "/clerk", "name": "clerk", "role": "clerk", "goal": "help", "capabilities": []any{"refund"}, "admitted": true},
	} {
		if w.rand.IntN(2) == 0 {
			text, err := encoding.Marshal(record)
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name+".json"), text, 0o600)
			}
			if err != nil {
				w.t.Fatal(err)
			}
		}
	}
	r := harness.Run(w.t, map[string]string{"COUNTERSIGN_URL": w.ForCommands(), "COUNTERSIGN_TOKEN": w.own.Token()}, "apply", dir, "-o", "json")
	for _, id := range changeIDs.FindAllString(r.Out, -1) {
		w.proposed(id)
		w.refused["change_proposed by files"]++
	}
}

var changeIDs = regexp.MustCompile(`\bchg-[a-z0-9]+`)

func (w *alone) reasoned(path, what string) { w.send("POST", path+"/"+what, doc{"reason": "r"}) }

// got keeps a token that she was given.
func (w *alone) got(a *harness.Answer) {
	if secret := a.At("token"); a.Status == http.StatusCreated && secret.Exists() && len(w.tokens) < 30 {
		w.tokens = append(w.tokens, w.As(secret.Text()))
	}
}

func (w *alone) eachRun(do func(id string)) {
	for _, r := range w.As("").Do("GET", "/runs?limit=3", nil, w.hers...).At("items").Items() {
		do(r.At("id").Text())
	}
}

func (w *alone) eachAgent(do func(id string)) {
	for _, a := range w.As("").Do("GET", "/agents?limit=3", nil, w.hers...).At("items").Items() {
		do(a.At("id").Text())
	}
}

// letOut starts whatever a project has, LIVE.
func (w *alone) letOut(id string) {
	p := w.As("").Do("GET", "/projects/"+id, nil, w.hers...)
	for _, c := range p.At("capabilities").Items() {
		w.send("POST", "/projects/"+id+"/runs", doc{"capability": c.At("name").Text(), "mode": "LIVE", "inputs": doc{"orderId": "o"}})
	}
}

// sent are the requests that changed something.
func (w *alone) sent() (n int) {
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
		for _, path := range []string{"/refunds", "/refunds/", "/pay"} {
			n += len(w.shop.Seen(method, path))
		}
	}
	return n
}

// guarded is what holds calls back, besides projects: who may decide and who may say who may, in whose place, as which agent, how often.
func (w *alone) guarded() (held []string) {
	list := func(path string) []json { return w.Admin.Get(path + "limit=200").OK(w.t).At("items").Items() }
	for _, kind := range []string{"users", "tokens"} {
		for _, r := range list("/" + kind + "?") {
			for _, role := range r.At("roles").Items() {
				if role.Text() == "ADMIN" || role.Text() == "APPROVER" {
					name := r.At("email")
					if kind == "tokens" {
						name = r.At("id")
					}
					held = append(held, kind+" "+name.Text()+" "+role.Text())
				}
			}
		}
	}
	for _, d := range list("/delegations?") {
		held = append(held, "delegation "+d.At("user").Text())
	}
	for _, a := range list("/agents?retired=true&") {
		held = append(held, fmt.Sprintf("agent %s: %d identities", a.At("id").Text(), len(a.At("identities").Items())))
		if len(a.At("budgets").Items()) == 0 && a.At("status").Text() == "ADMITTED" && a.At("externalAgentId").Text() == "clerk" {
			held = append(held, "agent "+a.At("id").Text()+" without budgets")
		}
	}
	for n, id := range w.kept {
		run := w.Admin.Get("/runs/" + id).OK(w.t)
		if run.At("redacted").Exists() {
			held = append(held, "run "+id+" redacted")
		}
		if n%2 == 0 && !run.At("hold").Exists() {
			held = append(held, "run "+id+" not held")
		}
	}
	if !w.Admin.Get("/settings").OK(w.t).At("weakening.approvals").Exists() {
		held = append(held, "no weakening")
	}
	return held
}

// TestOneAdministratorAloneLetsNoUnaskedCallOut: with weakening by several, no sequence of what the API offers lets a call
// out that nobody else approved.
func TestOneAdministratorAloneLetsNoUnaskedCallOut(t *testing.T) {
	t.Parallel()
	w := newAlone(t)
	w.rand = rand.New(rand.NewPCG(aloneSeed.First(t), 0))
	var names []string
	for _, o := range w.Document().Operations {
		switch _, tried := tries[o.ID]; {
		case tried:
			names = append(names, o.ID)
		case o.Method != "GET" && !slices.Contains([]string{"validateModel", "simulateModel", "validateProject", "whatIf"}, o.ID):
			t.Errorf("%s writes, and nobody tries what it weakens", o.ID)
		}
	}
	began := w.guarded()
	likely := []string{"putProject", "putProject", "putProject", "enableProject", "enableProject", "startProjectRun", "putUser", "createToken", "putSettings", "decideChange", "withdrawChange", "go", "restoreProject", "decideApproval", "cancelRun", "cancelRun", "redactRun", "holdRun", "apply"}
	for n := range *aloneChanges {
		id := pick(w.rand, pick(w.rand, names...), pick(w.rand, likely...))
		if try, is := tries[id]; is {
			try(w)
		} else {
			w.apply()
		}
		w.done[id]++
		if w.sent() > 0 {
			t.Fatalf("change %d, %s: a call went out, and nobody else approved it", n, id)
		}
		if n%20 == 19 {
			for _, held := range w.guarded() {
				if !slices.Contains(began, held) && !strings.HasSuffix(held, " 0 identities") {
					t.Fatalf("before change %d, %s: nobody else approved this: %s", n, id, held)
				}
			}
		}
	}
	if w.refused["change_proposed"] == 0 || w.refused["self_approval"] == 0 || len(w.tokens) == 0 || w.refused["change_proposed by files"] == 0 {
		t.Errorf("she has not tried enough: %v, %d tokens", w.refused, len(w.tokens))
	}
	t.Logf("refused: %v", w.refused)
}
