package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
)

type doc = harness.Doc

// fixture is a service that several stories share, each in its own tenant, one after the other.
type fixture struct {
	*harness.Server
	receiver *harness.Receiver
	tenants  int
}

// newFixture starts the service.
func newFixture(t *testing.T, more ...harness.Setting) *fixture {
	t.Helper()
	h := &fixture{receiver: harness.NewReceiver(t)}
	h.Server = harness.Start(t, append(more, harness.Set("CONNECTION_ORIGINS", h.receiver.Origin()), harness.Set("STOP_GRACE", "1s"), // one of the runs hangs
		harness.Set("NOTIFY_ORIGINS", h.receiver.Origin()),
		harness.Set("SIGNING_ENV_ALLOWLIST", everyTenant()), harness.Env(harness.SecretEnv, harness.Secret))...)
	h.Keep(harness.Secret)
	return h
}

// stage is a tenant with a shop: a project, a model, plans, and a run in each state that a page can show.
type stage struct {
	*fixture
	t      *testing.T
	tenant string
	admin  *harness.Client // an ADMIN of the tenant
	all    *harness.Client // a principal with every role
	keys   int
	sent   int // number of refunds that the receiver got before

	paths map[string]string // path, below /console, of a page for each kind of record
}

// everyTenant lists the receiver's secret for each tenant of the tests.
func everyTenant() string {
	entries := []string{"default/" + harness.SecretEnv}
	for n := range 20 {
		entries = append(entries, storyTenant(n+1)+"/"+harness.SecretEnv)
	}
	return strings.Join(entries, ",")
}

func storyTenant(n int) string { return fmt.Sprintf("story%d", n) }

// newStage makes a tenant with the shop registered and enabled.
func (f *fixture) newStage(t *testing.T) *stage {
	t.Helper()
	f.tenants++
	tenant := storyTenant(f.tenants)
	f.Admin.Put("/tenants/"+tenant, doc{"name": tenant}).OK(t)
	made := f.Admin.Post("/tokens", doc{"name": "admin", "roles": []string{"ADMIN"}, "expiresInDays": 9, "tenantId": tenant}).OK(t)
	return f.furnish(t, tenant, f.As(made.At("token").Text()))
}

// furnish registers and enables the shop of a tenant, and adds its users.
func (f *fixture) furnish(t *testing.T, tenant string, admin *harness.Client) *stage {
	t.Helper()
	s := &stage{fixture: f, t: t, tenant: tenant, admin: admin, paths: map[string]string{}}
	for name, role := range map[string]string{"ines": "OPERATOR", "mara": "APPROVER", "vera": "VIEWER", "ada": "ADMIN"} {
		s.admin.Put("/users/"+s.mail(name), doc{"roles": []string{role}}).OK(t)
	}
	s.receiver.On("GET", "/orders/A-48213", harness.Answering(200, `{"orderId":"A-48213","total":249.00,"state":"returned","customer":{"id":"C-20714","city":"Ystad"}}`))
	s.admin.Put("/projects/"+s.shop(), s.project()).OK(t)
	s.admin.Post("/projects/"+s.shop()+"/health-check", nil).OK(t)
	s.admin.Post("/projects/"+s.shop()+"/enable", doc{"expectedRevision": 1}).OK(t)
	s.tried("refund.create", "HOLDS")
	s.tried("notes.add", "BROKEN")
	s.sent = len(s.receiver.Seen("POST", "/refunds"))
	return s
}

// shop is the id of the tenant's project.
func (s *stage) shop() string { return s.tenant + "-shop" }

// mail is the e-mail address of one of the tenant's users.
func (s *stage) mail(name string) string { return name + "@" + s.tenant + ".example" }

// refunds counts the requests for a refund that the receiver got.
func (s *stage) refunds() int { return len(s.receiver.Seen("POST", "/refunds")) - s.sent }

// tried records a conformance check with this verdict on twins.
func (s *stage) tried(capability, twins string) {
	s.t.Helper()
	rules := []any{doc{"name": "twins", "verdict": twins}}
	for _, name := range []string{"accepts-signed", "same-key-same-body", "same-key-other-body", "slow-answer"} {
		rules = append(rules, doc{"name": name, "verdict": "HOLDS"})
	}
	s.admin.Post("/projects/"+s.shop()+"/conformance", doc{"expectedRevision": 1, "capability": capability, "target": "https://sandbox.example", "rules": rules}).OK(s.t)
}

func (s *stage) project() doc {
	text, amount := harness.Input("string", true), harness.Input("number", true)
	return doc{
		"name": "Shop", "adapter": "HTTP_JSON", "baseUrl": s.receiver.Origin(), "healthPath": "/health",
		"auth": doc{"type": "HMAC", "credentialEnv": harness.SecretEnv},
		"capabilities": []any{
			harness.Capability("orders.read", "GET", "/orders/{orderId}", doc{"inputSchema": doc{"orderId": text}}),
			harness.Capability("refund.create", "POST", "/refunds", doc{"inputSchema": doc{"orderId": text, "amount": amount}, "probe": "refund.read", "idempotent": true}),
			harness.Capability("refund.read", "GET", "/refunds/{orderId}", doc{"inputSchema": doc{"orderId": text}}),
			harness.Capability("notes.add", "POST", "/notes", doc{"approval": "NONE", "inputSchema": doc{"text": text}, "idempotent": true}),
			harness.Capability("stock.lookup", "GET", "/stock", doc{"timeoutMs": 60000}),
		},
	}
}

func (s *stage) step(id, name, capability string, input doc, more doc) doc {
	out := doc{"id": id, "name": name, "projectId": s.shop(), "capability": capability, "input": input}
	for k, v := range more {
		out[k] = v
	}
	return out
}

// refund makes the plan of the stories: read the order, refund it, notify the customer.
func (s *stage) refund(id, order, mode string) string {
	s.t.Helper()
	plan := doc{"id": id, "name": "Refund order " + order, "modelId": "refund-agent", "modelRevision": 1, "mode": mode, "steps": []any{
		s.step("read", "Read order", "orders.read", doc{"orderId": order}, doc{"expectation": doc{"field": "orderId", "equals": order}}),
		s.step("refund", "Refund payment", "refund.create", doc{"orderId": order}, doc{
			"dependsOn": []string{"read"}, "inputBindings": doc{"amount": doc{"stepId": "read", "field": "total"}},
			"expectation": doc{"field": "state", "equals": "succeeded"},
		}),
		s.step("note", "Notify customer", "notes.add", doc{"text": "Your money is on its way"}, doc{"dependsOn": []string{"refund"}, "expectation": doc{"field": "ok", "equals": true}}),
	}}
	return s.all.Post("/plans", plan).OK(s.t).Is(s.t, "validationErrors", []string{}).At("id").Text()
}

// start starts a plan and returns the run's id.
func (s *stage) start(plan string) string {
	s.t.Helper()
	s.keys++
	return s.all.Post("/runs", doc{"planId": plan}, harness.Header(fmt.Sprintf("Idempotency-Key: stage-%d", s.keys))).OK(s.t).At("id").Text()
}

func (s *stage) reaches(run, status string) harness.JSON {
	s.t.Helper()
	var got harness.JSON
	harness.Until(s.t, run+" to be "+status, func() bool {
		got = s.all.Get("/runs/" + run).OK(s.t)
		return got.At("status").Text() == status
	})
	return got
}

// token makes a token with these roles.
func (s *stage) token(roles ...string) *harness.Client {
	s.t.Helper()
	made := s.admin.Post("/tokens", doc{"name": "stage", "roles": roles, "expiresInDays": 9}).OK(s.t)
	return s.As(made.At("token").Text())
}

// decide decides the pending approval of a run.
func (s *stage) decide(by *harness.Client, run, decision, reason string) {
	s.t.Helper()
	approval := s.reaches(run, "WAITING_APPROVAL").At("approvalId").Text()
	by.Post("/approvals/"+approval+"/decision", doc{"decision": decision, "reason": reason}).OK(s.t)
}

// fill makes a run in each state.
func (s *stage) fill() {
	s.t.Helper()
	mara := s.token("APPROVER")
	s.all = s.token("ADMIN", "OPERATOR", "APPROVER")
	s.all.Put("/models/refund-agent", doc{"document": harness.Model("refund-agent")}).OK(s.t)
	good := harness.Answering(201, `{"id":"re_9F27C1","state":"succeeded","amount":249.00}`)
	s.receiver.On("POST", "/refunds", good, harness.Answering(201, `{"id":"re_9F27C2","state":"pending","amount":249.00}`), harness.HangingUp())
	s.receiver.On("GET", "/refunds/A-48213", harness.Answering(200, `{"state":"succeeded","amount":249.00}`))
	live := s.refund("refund-live", "A-48213", "LIVE")
	s.refund("refund-rehearsal", "A-48213", "DRY_RUN")
	s.fillRuns(mara, live)
	s.fillAgents()
	bad := doc{"name": "Refund without an amount", "modelId": "refund-agent", "modelRevision": 1, "mode": "LIVE", "steps": []any{
		s.step("refund", "Refund payment", "refund.create", doc{"orderId": "A-1"}, nil),
	}}
	s.paths["invalid plan"] = "/plans/" + s.all.Post("/plans", bad).OK(s.t).Is(s.t, "status", "INVALID").At("id").Text()
	s.paths["plan"] = "/plans/" + live
	s.fillLong()
}

// fillLong makes a plan of the maximal length, and a rehearsal of it.
func (s *stage) fillLong() {
	s.t.Helper()
	var steps []any
	for i := range 100 {
		more := doc{"expectation": doc{"field": "ok", "equals": true}}
		if i > 0 {
			more["dependsOn"] = []string{fmt.Sprintf("step-%d", max(0, i-1-i%3))}
		}
		steps = append(steps, s.step(fmt.Sprintf("step-%d", i), fmt.Sprintf("Tell customer %d", i), "notes.add", doc{"text": fmt.Sprintf("Order %d is on its way", i)}, more))
	}
	plan := s.all.Post("/plans", doc{"name": "Tell a hundred customers", "modelId": "refund-agent", "modelRevision": 1, "mode": "DRY_RUN", "steps": steps}).OK(s.t).At("id").Text()
	run := s.start(plan)
	s.reaches(run, "COMPLETED")
	s.paths["long plan"], s.paths["long run"] = "/plans/"+plan, "/runs/"+run
}

func (s *stage) fillRuns(mara *harness.Client, live string) {
	s.t.Helper()
	runs := map[string]string{}
	for _, fate := range []string{"completed", "failed", "recovery", "rejected", "waiting", "cancelled"} {
		runs[fate] = s.start(live)
		decision := map[string]string{"completed": "APPROVED", "failed": "APPROVED", "recovery": "APPROVED", "rejected": "REJECTED"}[fate]
		if decision != "" {
			s.decide(mara, runs[fate], decision, "Item is back, no damage.")
		}
		status := map[string]string{"completed": "COMPLETED", "failed": "FAILED", "recovery": "RECOVERY_REQUIRED", "rejected": "FAILED"}[fate]
		if status != "" {
			s.reaches(runs[fate], status)
		}
	}
	mara.Post("/runs/"+runs["recovery"]+"/probe", doc{"stepId": "refund"}).OK(s.t)
	s.reaches(runs["cancelled"], "WAITING_APPROVAL")
	s.all.Post("/runs/"+runs["cancelled"]+"/cancel", doc{"reason": "ordered twice"}).OK(s.t)
	runs["rehearsed"] = s.start("refund-rehearsal")
	s.reaches(runs["rehearsed"], "COMPLETED")
	for fate, id := range runs {
		s.paths[fate+" run"] = "/runs/" + id
	}
	s.paths["run again"] = "/runs/" + runs["rejected"] + "/again"
	s.paths["recovery page"] = "/recovery/" + runs["recovery"]
	s.paths["approval"] = "/approvals/" + s.all.Get("/runs/"+runs["waiting"]).OK(s.t).At("approvalId").Text()
	s.paths["decided approval"] = "/approvals/" + s.all.Get("/runs/"+runs["completed"]).OK(s.t).At("approvalId").Text()
}

// startHanging starts a run whose only step takes a minute, and returns the path of its page.
func (s *stage) startHanging() string {
	s.t.Helper()
	s.receiver.On("GET", "/stock", harness.Hanging())
	stock := s.all.Post("/plans", doc{"name": "Count the stock", "modelId": "refund-agent", "modelRevision": 1, "mode": "LIVE", "steps": []any{
		s.step("count", "Count the stock", "stock.lookup", doc{}, doc{"expectation": doc{"field": "n", "equals": 1}}),
	}}).OK(s.t).At("id").Text()
	run := s.start(stock)
	s.reaches(run, "RUNNING")
	return "/runs/" + run
}

func (s *stage) fillAgents() {
	s.t.Helper()
	item := func(id, role string) doc {
		return doc{"externalAgentId": id, "sourceRevision": 1, "name": "The " + id, "role": role, "goal": "treat every return fairly", "capabilities": []any{"orders.read"}, "modelId": "refund-agent"}
	}
	manifest := doc{"schemaVersion": "1.0", "agents": []any{item("assessor", "assesses returns"), item("refunder", "pays back"), item("intern", "learns")}}
	var members []any
	for i, a := range s.all.Post("/systems/"+s.shop()+"/agents/sync", manifest).OK(s.t).At("items").Items() {
		id := a.At("id").Text()
		s.paths["agent"] = "/agents/" + id
		s.paths["agent token"] = "/access/tokens/new?agent=" + id
		if i == 2 {
			continue // stays PENDING
		}
		s.all.Post("/agents/"+id+"/admit", doc{"reason": "reviewed"}).OK(s.t)
		s.all.Post("/agents/"+id+"/heartbeat", doc{"instanceId": "eu-1", "sequence": 1, "state": []string{"BUSY", "IDLE"}[i], "timestamp": time.Now().UTC().Format(time.RFC3339Nano)}).OK(s.t)
		members = append(members, doc{"agentId": id, "role": "r"})
	}
	s.all.Put("/teams/returns", doc{"name": "Returns", "members": members, "steps": []any{
		doc{"id": "read", "name": "Read the order", "agentId": members[0].(doc)["agentId"], "capability": "orders.read"},
	}}).OK(s.t)
	s.paths["team"] = "/teams/returns"
}
