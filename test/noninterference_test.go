package test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/test/harness"
)

// Two tenants whose names have the same beginning use the same names for everything. The answers to one must not depend on whether the
// other exists.

// tenantPlayer is a tenant that performs the script.
type tenantPlayer struct {
	t             *testing.T
	w             *world
	name          string
	all, reviewer *harness.Client
	limited       *harness.Client // to a project that isn't there
	refs          map[string]string
	heard         []string
	spelling      *spelling
}

func (w *world) tenantPlayer(t *testing.T, name string) *tenantPlayer {
	t.Helper()
	w.Admin.Put("/tenants/"+name, doc{"name": name}).OK(t)
	token := func(more doc) *harness.Client {
		c, _ := w.token(t, with(doc{"roles": []string{"ADMIN", "OPERATOR", "APPROVER"}, "tenantId": name}, more))
		made := time.Now().UnixMilli()
		harness.Until(t, "another millisecond, by which ids are sorted", func() bool { return time.Now().UnixMilli() > made })
		return c
	}
	return &tenantPlayer{
		t: t, w: w, name: name, all: token(nil), reviewer: token(nil), limited: token(doc{"projectIds": []string{name + "-other"}}),
		refs: map[string]string{}, spelling: &spelling{numbers: map[string]string{}},
	}
}

func (p *tenantPlayer) project() string { return p.name + "-shop" }

// hear records an answer.
func (p *tenantPlayer) hear(a *harness.Answer) *harness.Answer {
	header := a.Header.Clone()
	for _, own := range []string{"Date", "Content-Length", "X-Request-Id"} {
		header.Del(own)
	}
	p.heard = append(p.heard, p.spelling.plain(fmt.Sprintf("%d %v %s", a.Status, sortedHeader(header), a.Raw)))
	return a
}

func sortedHeader(h http.Header) (out []string) {
	for name, values := range h {
		out = append(out, name+": "+strings.Join(values, ", "))
	}
	slices.Sort(out)
	return out
}

func (p *tenantPlayer) put(path string, body any)  { p.hear(p.all.Put(path, body)) }
func (p *tenantPlayer) post(path string, body any) { p.hear(p.all.Post(path, body)) }

func (p *tenantPlayer) get(path string) {
	if path == "/metrics" && harness.Replicas > 1 { // one replica's would depend on what it was asked
		p.heard = append(p.heard, p.spelling.plain(p.all.Figures(p.t).String()))
		return
	}
	p.hear(p.all.Get(path))
}

// start starts a run under a key that the other tenant uses too, and waits until it has ended or waits for a person.
func (p *tenantPlayer) start(ref, path string, body doc) {
	p.t.Helper()
	a := p.all.Post(path, body, harness.Header("Idempotency-Key: intent-"+ref))
	p.refs[ref] = a.OK(p.t).At("id").Text()
	p.still(ref)
}

func (p *tenantPlayer) still(ref string) {
	p.t.Helper()
	harness.Until(p.t, "the run to stand still", func() bool {
		run := p.all.Get("/runs/" + p.refs[ref]).OK(p.t)
		return run.At("completedAt").Exists() || run.At("waitingFor.kind").Text() == "approval"
	})
	p.get("/runs/" + p.refs[ref])
}

func (p *tenantPlayer) decide(ref, decision string) {
	p.t.Helper()
	id := p.all.Get("/runs/" + p.refs[ref]).OK(p.t).At("approvalId").Text()
	p.hear(p.reviewer.Post("/approvals/"+id+"/decision", doc{"decision": decision, "reason": "r"}))
	p.still(ref)
}

// moves are the script: all that a tenant's people and programs do.
func (p *tenantPlayer) moves() []func() {
	refund := harness.With(step("r", "refund", doc{"orderId": "o"}), "projectId", p.project())
	plan := harness.With(harness.With(planOf(refund), "id", "the-plan"), "modelId", "the-model")
	agents := manifest(agentItem("one", "note", "the-model"), agentItem("two", "note", "the-model"))
	run := doc{"planId": "the-plan"}
	drifted := func() { p.hear(p.all.Post("/runs", run, harness.Header("Idempotency-Key: after"))) }
	moves := []func(){
		func() { p.put("/models/the-model", doc{"document": harness.Model("the-model")}) },
		func() { p.put("/models/the-model", doc{"document": harness.Model("the-model")}) }, // the conflict names the revision
		func() { p.put("/projects/"+p.project(), harness.Project(p.w.shop.Origin())) },
		func() { p.put("/projects/"+p.otherName()+"-shop", harness.Project(p.w.shop.Origin())) },
		func() { p.post("/projects/"+p.project()+"/enable", doc{"expectedRevision": 1}) },
		func() { p.post("/projects/"+p.project()+"/health-check", nil) },
		func() { p.post("/projects/"+p.project()+"/enable", doc{"expectedRevision": 1}) },
		func() { p.post("/plans", plan) },
		func() {
			p.post("/plans", harness.With(planOf(harness.With(refund, "projectId", p.otherName()+"-shop")), "modelId", "the-model"))
		},
		func() { p.start("one", "/runs", run) },
		func() { p.hear(p.all.Post("/runs", run, "Idempotency-Key: intent-one")) },
		func() { p.hear(p.all.Post("/runs", doc{"planId": "other"}, "Idempotency-Key: intent-one")) },
		func() { p.start("two", "/runs", run) },
		func() {
			p.put("/projects/"+p.project(), with(harness.Project(p.w.shop.Origin()), doc{"expectedRevision": 1, "name": "n"}))
		},
		func() { p.decide("one", "APPROVED") },
		func() { p.decide("two", "REJECTED") },
		func() { p.post("/systems/"+p.project()+"/agents/sync", agents) },
		func() { p.team() },
		func() { p.start("team", "/teams/the-team/runs", doc{"expectedRevision": 1, "mode": "LIVE"}) },
		func() { p.put("/users/ann@"+p.project()+".example", doc{"roles": []string{"VIEWER"}}) }, // an address of both would be invited, and say so (contract 11)
		func() { p.post("/tokens", doc{"name": "n", "roles": []string{"VIEWER"}}) },
		func() { p.post("/models/the-model/suspend", doc{"reason": "r"}) },
		drifted,
		func() { p.hear(p.limited.Get("/runs/" + p.refs["one"])) },
		func() { p.hear(p.limited.Get("/runs")) },
		func() { p.get("/tokens?tenantId=" + p.otherName()) },
		func() { p.put("/tenants/"+p.otherName(), doc{"name": "n", "expectedRevision": 1}) },
	}
	for _, path := range []string{
		"/models", "/models/the-model", "/projects", "/plans", "/plans?status=INVALID", "/plans/the-plan", "/plans/the-plan/drift", "/runs", "/runs?limit=1&offset=1",
		"/runs?status=COMPLETED", "/approvals", "/approvals?status=REJECTED", "/agents", "/teams", "/users", "/tokens", "/audit", "/audit?action=runs.start", "/audit/verify",
		"/metrics", "/session", "/integrations/contract", "/health", "/tenants", "/models/nothing",
	} {
		moves = append(moves, func() { p.get(path) })
	}
	return moves
}

// otherName is the name of the other tenant, whether it exists or not.
func (p *tenantPlayer) otherName() string {
	return map[string]string{"acme": "acme2", "acme2": "acme"}[p.name]
}

// team admits the agents and makes a team of them.
func (p *tenantPlayer) team() {
	p.t.Helper()
	var ids []string
	for _, a := range p.all.Get("/agents").OK(p.t).At("items").Items() {
		ids = append(ids, a.At("id").Text())
		p.post("/agents/"+a.At("id").Text()+"/admit", doc{"reason": "r"})
		p.post("/agents/"+a.At("id").Text()+"/heartbeat", beat("i", 1, "BUSY"))
	}
	p.put("/teams/the-team", teamOf(ids, teamStep("s", ids[0], "note", doc{"text": "t"})))
}

// spelling replaces what differs between any two runs of the service: the first id that occurs becomes 1 everywhere.
type spelling struct{ numbers map[string]string }

var (
	unique = regexp.MustCompile(`\b[a-z]+-[2-7a-z]{19,20}\b|\b[0-9a-f]{64}\b|\bcsn_[0-9A-Za-z]{49}\b`)
	moment = regexp.MustCompile(`\b2\d{3}-\d\d-\d\dT[0-9:.]+Z`)
	logKey = regexp.MustCompile(`"logKey":"[^"]*"`)
	taken  = regexp.MustCompile(`"(durationMs|latencyMs|p50|p95|sum)":[0-9.e+-]+`)
)

func (s *spelling) plain(text string) string {
	text = moment.ReplaceAllString(text, "(time)")
	text = logKey.ReplaceAllString(text, `"logKey":"(key)"`)
	text = taken.ReplaceAllString(text, `"$1":0`)
	return unique.ReplaceAllStringFunc(text, func(found string) string {
		if s.numbers[found] == "" {
			s.numbers[found] = fmt.Sprintf("(%d)", len(s.numbers)+1)
		}
		return s.numbers[found]
	})
}

// TestATenantsAnswersDontDependOnAnother: they are equal byte by byte, except ids and times.
func TestATenantsAnswersDontDependOnAnother(t *testing.T) {
	t.Parallel()
	shared := listedFor("default", "acme", "acme2") // who registers a variable first would show
	alone, beside := ownWorld(t, shared), ownWorld(t, shared)
	beside.Stop() // one API for both: its address is part of what is answered
	beside.Restart(harness.Set("CONNECTION_ORIGINS", alone.shop.Origin()))
	beside.shop = alone.shop
	ours, theirs, other := alone.tenantPlayer(t, "acme2"), beside.tenantPlayer(t, "acme2"), beside.tenantPlayer(t, "acme")
	for _, move := range ours.moves() {
		move()
	}
	others := other.moves()
	for i, move := range theirs.moves() {
		others[i]()
		beside.As("garbage").Get("/runs") // requests without a principal are counted
		move()
	}
	t.Logf("%d answers", len(ours.heard))
	if len(ours.heard) != len(theirs.heard) || len(ours.heard) < 50 {
		t.Fatalf("%d answers alone, %d beside another", len(ours.heard), len(theirs.heard))
	}
	for i := range ours.heard {
		if diff := cmp.Diff(strings.Split(ours.heard[i], ","), strings.Split(theirs.heard[i], ",")); diff != "" {
			t.Errorf("answer %d depends on another tenant (-alone +beside it):\n%s", i, diff)
		}
	}
}
