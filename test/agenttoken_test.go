package test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// An agent token does what its agents do, and nothing else (contract 11).

// agentToken makes a token for these agents.
func (w *world) agentToken(t *testing.T, agents ...string) (*harness.Client, json) {
	t.Helper()
	return w.token(t, doc{"roles": []string{"OPERATOR"}, "agentIds": agents})
}

// forAgentTokens are the operations that an agent token may request. A new route is not in the list unless the contract
// says so.
var forAgentTokens = []string{"getAgent", "startAgentRun", "heartbeat", "listRuns", "getRun", "runEvents", "cancelRun"}

// TestAnAgentTokenIsRefusedEachOperationThatIsNotListed: it requests each operation of the document, about an existing
// record, with a valid body and without one.
func TestAnAgentTokenIsRefusedEachOperationThatIsNotListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	c, made := w.agentToken(t, id)
	run := c.Post("/agents/"+id+"/runs", agentRun("DRY_RUN", "note", nil), key()).OK(t).At("id").Text()
	w.reaches(t, run, "COMPLETED")
	ids := map[string]string{"run": run, "agent": id, "plan": w.Admin.Get("/runs/" + run).OK(t).At("planId").Text(), "token": made.At("id").Text(),
		"model": "refund", "project": shop, "system": shop, "tenant": "default"}
	asked := 0
	for _, op := range w.Document().Operations {
		r := matrix[op.ID]
		if r.role == "public" || slices.Contains(forAgentTokens, op.ID) {
			continue
		}
		segment := strings.Split(strings.TrimPrefix(op.Path, "/"), "/")[0]
		about := ids[strings.TrimSuffix(segment, "s")]
		if about == "" {
			about = "nothing"
		}
		path := "/" + segment
		if _, rest, more := strings.Cut(op.Path, "}"); more {
			path += "/" + about + rest
		} else {
			path = op.Path
		}
		bodies := []any{nil}
		if r.body != nil {
			bodies = append(bodies, r.body(about), doc{})
		}
		for _, body := range bodies {
			for _, as := range []*harness.Client{c, c.Aliased()} {
				as.Do(op.Method, path, body, key()).Refused(t, "role_required", id)
				asked++
			}
		}
	}
	if asked < 100 {
		t.Errorf("%d requests were made", asked)
	}
	w.Admin.Get("/plans").OK(t).Is(t, "total", 1)
}

func TestAnAgentTokenDoesWhatItsAgentDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.admitted(t, agentItem("clerk", "refund", "refund"))[0]
	c, made := w.agentToken(t, id)
	made.Is(t, "agentIds", []string{id}).Is(t, "roles", []string{"OPERATOR"}).Is(t, "projectIds", harness.Absent)
	w.tenantAdmin.Get("/tokens").OK(t).Has(t, "items", `"agentIds":["`+id+`"]`)

	revision := c.Get("/agents/"+id).OK(t).Is(t, "status", "ADMITTED").At("revision").Int()
	c.Post("/agents/"+id+"/heartbeat", beat("i", 1, "IDLE")).OK(t).Is(t, "liveness", "ONLINE")
	start := harness.With(agentRun("LIVE", "refund", doc{"orderId": "o-1"}), "expectedRevision", revision)
	k := key()
	run := c.Post("/agents/"+id+"/runs", start, k).OK(t).At("id").Text()
	c.Post("/agents/"+id+"/runs", start, k).OK(t).Is(t, "id", run)
	w.approve(t, run)
	w.reaches(t, run, "COMPLETED").Is(t, "requestedBy", "token:"+made.At("id").Text()).Is(t, "agentId", id)
	c.Get("/runs/"+run).OK(t).Is(t, "steps.0.status", "COMPLETED")
	if got := c.Get("/runs").OK(t).Is(t, "total", 1); got.At("items.0.id").Text() != run {
		t.Error(got)
	}
	waiting := c.Post("/agents/"+id+"/runs", start, key()).OK(t).At("id").Text()
	w.reaches(t, waiting, "WAITING_APPROVAL")
	c.Post("/runs/"+waiting+"/cancel", doc{"reason": "not needed"}).OK(t).Is(t, "status", "CANCELLED")
	c.Get("/agents/"+id, "X-Request-Id: request-1").OK(t).Is(t, "instanceCount", 1)
}

// TestAnAgentTokenReachesNoOtherAgent: requests for other agents are refused without revealing whether they exist.
func TestAnAgentTokenReachesNoOtherAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.admitted(t, agentItem("clerk", "note", "refund"), agentItem("clerk2", "note", "refund"))
	c, _ := w.agentToken(t, ids[0])
	for _, other := range []string{ids[1], "agent-none", ids[0] + "2"} {
		c.Get("/agents/"+other).Refused(t, "role_required")
		c.Post("/agents/"+other+"/heartbeat", beat("i", 1, "IDLE")).Refused(t, "role_required")
		c.Post("/agents/"+other+"/runs", agentRun("DRY_RUN", "note", nil), key()).Refused(t, "role_required")
		c.Post("/agents/"+other+"/runs", nil).Refused(t, "role_required") // refused before the body is read
	}
	w.Admin.Get("/agents/"+ids[1]).OK(t).Is(t, "instanceCount", 0)
	w.Admin.Get("/runs").OK(t).Is(t, "total", 0)
	both, _ := w.agentToken(t, ids...)
	for _, id := range ids {
		both.Get("/agents/" + id).OK(t)
	}
}

// TestAnAgentTokenReadsItsAgentsOwnRunsAndCancelsWhatItStarted: it can't read runs of a plan, of a team or of another agent.
// It can read a run of its agent that another principal started, but not cancel it.
func TestAnAgentTokenReadsItsAgentsOwnRunsAndCancelsWhatItStarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.admitted(t, agentItem("clerk", "refund", "refund"), agentItem("clerk2", "refund", "refund"))
	c, _ := w.agentToken(t, ids[0])
	twin, _ := w.agentToken(t, ids[0])
	asks := func(by *harness.Client, agent string) string {
		t.Helper()
		run := by.Post("/agents/"+agent+"/runs", agentRun("LIVE", "refund", doc{"orderId": "o"}), key()).OK(t).At("id").Text()
		w.reaches(t, run, "WAITING_APPROVAL")
		return run
	}
	mine, twins, byOperator := asks(c, ids[0]), asks(twin, ids[0]), asks(w.operator, ids[0])
	w.operator.Put("/teams/refunds", teamOf(ids, teamStep("r", ids[0], "refund", doc{"orderId": "o"}))).OK(t)
	team := w.operator.Post("/teams/refunds/runs", doc{"expectedRevision": 1, "mode": "DRY_RUN"}, key()).OK(t).At("id").Text()
	strange := []string{asks(w.operator, ids[1]), w.run(t, step("r", "refund", doc{"orderId": "o"})), team}
	for _, run := range strange {
		c.Get("/runs/"+run).Refused(t, "role_required")
		c.Get("/runs/"+run+"/events").Refused(t, "role_required")
		c.Post("/runs/"+run+"/cancel", doc{"reason": "r"}).Refused(t, "role_required")
	}
	for _, run := range []string{twins, byOperator} {
		c.Get("/runs/"+run).OK(t).Is(t, "agentId", ids[0])
		c.Post("/runs/"+run+"/cancel", doc{"reason": "r"}).Refused(t, "role_required", "started itself")
		w.reaches(t, run, "WAITING_APPROVAL")
	}
	c.Get("/runs/run-none").Refused(t, "not_found")
	c.Post("/runs/run-none/cancel", doc{"reason": "r"}).Refused(t, "not_found")
	if got := listedRuns(t, c, "/runs"); !slices.Equal(got, []string{byOperator, twins, mine}) {
		t.Errorf("it sees %q", got)
	}
	if got := listedRuns(t, c, "/runs?status=COMPLETED"); len(got) != 0 {
		t.Errorf("it sees %q", got)
	}
	plan := w.Admin.Get("/runs/" + strange[0]).OK(t).At("planId").Text()
	c.Get("/runs?planId="+plan).OK(t).Is(t, "total", 0)
	c.Post("/runs/"+mine+"/cancel", doc{"reason": "r"}).OK(t)
}

// listedRuns reads all pages of one run each and returns the ids; totals must agree.
func listedRuns(t *testing.T, c *harness.Client, path string) []string {
	t.Helper()
	ids := []string{}
	query := "?"
	if strings.Contains(path, "?") {
		query = "&"
	}
	total := c.Get(path).OK(t).At("total").Int()
	for offset := 0; ; offset++ {
		page := c.Get(fmt.Sprintf("%s%slimit=1&offset=%d", path, query, offset)).OK(t).Is(t, "total", total)
		for _, r := range page.At("items").Items() {
			ids = append(ids, r.At("id").Text())
		}
		if page.At("nextOffset").String() == "null" {
			break
		}
	}
	if len(ids) != total {
		t.Errorf("%s: %d runs of %d are listed", path, len(ids), total)
	}
	return ids
}

func TestAnAgentTokenPagesThroughItsRunsAmongOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := w.admitted(t, agentItem("clerk", "note", "refund"), agentItem("clerk2", "note", "refund"))
	c, _ := w.agentToken(t, ids[0])
	both, _ := w.agentToken(t, ids...)
	var mine, all []string
	for i := range 7 {
		agent := ids[i%2]
		run := w.operator.Post("/agents/"+agent+"/runs", agentRun("DRY_RUN", "note", nil), key()).OK(t).At("id").Text()
		if all = append(all, run); i%2 == 0 {
			mine = append(mine, run)
		}
		w.reaches(t, run, "COMPLETED")
		w.run(t, step("n", "note", nil))
	}
	slices.Reverse(mine)
	slices.Reverse(all)
	for _, path := range []string{"/runs", "/runs?status=COMPLETED"} {
		if got := listedRuns(t, c, path); path == "/runs" && !slices.Equal(got, mine) || len(got) != len(mine) {
			t.Errorf("%s shows %q; expected %q", path, got, mine)
		}
	}
	if got := listedRuns(t, both, "/runs"); !slices.Equal(got, all) {
		t.Errorf("a token of both shows %q; expected %q", got, all)
	}
	c.Get("/runs?limit=2&offset=2").OK(t).Is(t, "items.0.id", mine[2]).Is(t, "items.1.id", mine[3]).Is(t, "nextOffset", nil)
}

func TestAnAgentTokensStartsAreRefusedWhileItsAgentIsNotAdmitted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.expects(t)
	id := w.sync(t, agentItem("clerk", "note", "refund"))[0]
	c, _ := w.agentToken(t, id) // before the agent is admitted
	a := w.enters(t, c, id)
	start := func() *harness.Answer {
		revision := c.Get("/agents/" + id).OK(t).At("revision").Int()
		return c.Post("/agents/"+id+"/runs", harness.With(agentRun("DRY_RUN", "note", nil), "expectedRevision", revision), key())
	}
	refused := func(when string) {
		t.Helper()
		start().Refused(t, "agent_not_admitted")
		a.refuses("note", doc{}, "agent_not_admitted")
		if tools := a.tools(); len(tools) != 1 {
			t.Errorf("%s the tools are %v", when, tools)
		}
		c.Post("/agents/"+id+"/heartbeat", beat(when, 1, "IDLE")).OK(t)
	}
	refused("before its admission")
	w.Admin.Post("/agents/"+id+"/admit", doc{"reason": "known"}).OK(t)
	run := start().OK(t).At("id").Text()
	w.reaches(t, run, "COMPLETED")
	w.Admin.Post("/agents/"+id+"/suspend", doc{"reason": "odd"}).OK(t)
	refused("suspended")
	w.Admin.Post("/agents/"+id+"/admit", doc{"reason": "known"}).OK(t)
	w.sync(t, harness.With(harness.With(agentItem("clerk", "note", "refund"), "goal", "help more"), "sourceRevision", 2))
	refused("with a changed manifest")
	w.Admin.Post("/agents/"+id+"/admit", doc{"reason": "known"}).OK(t)
	w.Admin.Post("/agents/"+id+"/retire", doc{"reason": "replaced"}).OK(t)
	c.Post("/agents/"+id+"/runs", agentRun("DRY_RUN", "note", nil), key()).Refused(t, "state_conflict", "retired")
	a.refuses("note", doc{}, "state_conflict", "retired")
	c.Get("/agents/"+id).OK(t).Is(t, "retired", true)
	if got := listedRuns(t, c, "/runs"); !slices.Equal(got, []string{run}) { // its earlier runs stay readable
		t.Errorf("it sees %q", got)
	}
	w.tenantAdmin.Post("/tokens", doc{"name": "n", "roles": []string{"OPERATOR"}, "agentIds": []string{id}}).Refused(t, "state_conflict", "retired")
}

func TestAnAgentTokenEntersItsAgentsDoorsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.expects(t)
	ids := w.admitted(t, agentItem("clerk", "note", "refund"), agentItem("clerk2", "note", "refund"))
	c, made := w.agentToken(t, ids[0])
	a := w.enters(t, c, ids[0])
	if tools := a.tools(); len(tools) != 2 || !tools["note"].Exists() {
		t.Errorf("the tools are %v", tools)
	}
	w.shop.On("POST", "/notes", harness.Answering(200, `{"ok":true}`))
	run := a.runs("note", doc{"task": "note-1"}).At("runId").Text()
	w.reaches(t, run, "COMPLETED").Is(t, "requestedBy", "token:"+made.At("id").Text())
	a.runs("run_status", doc{"runId": run}).Is(t, "status", "COMPLETED")
	other := w.operator.Post("/agents/"+ids[1]+"/runs", agentRun("DRY_RUN", "note", nil), key()).OK(t).At("id").Text()
	for _, unknown := range []string{other, "run-none"} { // the answers don't reveal which one exists
		a.refuses("run_status", doc{"runId": unknown}, "not_found", "there is no run "+unknown)
	}
	as := harness.Header("Authorization: Bearer " + c.Token())
	for _, agent := range []string{ids[1], "agent-none"} {
		if res, answer := w.knock(t, "POST", agent, listing, as); res.StatusCode != 403 || answer.At("error").Text() != "role_required" {
			t.Errorf("%s: %d %s", agent, res.StatusCode, answer)
		}
	}
}

func TestAnAgentTokenFindsNoStrangersRunByItsKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	c, _ := w.agentToken(t, id)
	k := key()
	plan := w.ready(t, planOf(step("n", "note", nil)))
	run := w.operator.Post("/runs", doc{"planId": plan}, k).OK(t).At("id").Text()
	a := c.Post("/agents/"+id+"/runs", agentRun("DRY_RUN", "note", nil), k).Refused(t, "idempotency_conflict")
	if strings.Contains(fmt.Sprint(a), run) {
		t.Errorf("it names run %s: %s", run, a)
	}
}

func TestAgentTokensThatCannotBeMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.sync(t, agentItem("clerk", "note", "refund"))[0]
	good := doc{"name": "n", "roles": []string{"OPERATOR"}, "agentIds": []string{id}}
	for _, c := range []struct {
		field string
		value any
	}{
		{"agentIds", []string{}}, {"agentIds", nil}, {"agentIds", id}, {"agentIds", []string{""}}, {"agentIds", []string{"agent-none"}}, {"agentIds", []string{id, "agent-none"}},
		{"agentIds", []string{id, id}}, {"agentIds", []string{id + "/x"}}, {"projectIds", []string{shop}},
		{"roles", []string{"ADMIN"}}, {"roles", []string{"VIEWER"}}, {"roles", []string{"APPROVER"}}, {"roles", []string{"OPERATOR", "APPROVER"}}, {"roles", []string{"OPERATOR", "VIEWER"}},
	} {
		w.tenantAdmin.Post("/tokens", harness.With(good, c.field, c.value)).Refused(t, "invalid_request", c.field)
	}
	w.tenantAdmin.Post("/tokens", good).OK(t)
	dry := w.As(w.tenantAdmin.Post("/tokens", harness.With(good, "modes", []string{"DRY_RUN"})).OK(t).Is(t, "modes", []string{"DRY_RUN"}).At("token").Text())
	w.Admin.Post("/agents/"+id+"/admit", doc{"reason": "known"}).OK(t)
	dry.Post("/agents/"+id+"/runs", agentRun("LIVE", "note", nil), key()).Refused(t, "role_required", "DRY_RUN")
	dry.Post("/agents/"+id+"/runs", agentRun("DRY_RUN", "note", nil), key()).OK(t)
}

// TestAnAgentTokenIsForAgentsOfItsTenant: a realm administrator can't name an agent of another tenant either.
func TestAnAgentTokenIsForAgentsOfItsTenant(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	id := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	w.Admin.Post("/tokens", doc{"name": "n", "roles": []string{"OPERATOR"}, "agentIds": []string{id}, "tenantId": "acme"}).Refused(t, "invalid_request", "agentIds[0]", "acme")
	foreign, _ := w.token(t, doc{"roles": []string{"ADMIN"}, "tenantId": "acme"})
	foreign.Post("/tokens", doc{"name": "n", "roles": []string{"OPERATOR"}, "agentIds": []string{id}}).Refused(t, "invalid_request", "agentIds[0]")
}

func TestTheRefusalsOfAnAgentTokenAreAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	c, made := w.agentToken(t, id)
	w.tenantAdmin.Get("/audit?action=tokens.create&limit=1").OK(t).Has(t, "items.0.after", "OPERATOR", "agents ["+id+"]")
	c.Post("/plans", planOf(step("n", "note", nil))).Refused(t, "role_required")
	c.Get("/plans").Refused(t, "role_required")
	w.tenantAdmin.Get("/audit?actor=token:"+made.At("id").Text()).OK(t).Is(t, "total", 1).Is(t, "items.0.action", "plans.create").
		Is(t, "items.0.outcome", "refused: role_required")
}
