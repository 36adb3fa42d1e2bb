package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/test/harness"
	"github.com/countersign/countersign/test/judge/evaluator"
)

// seen is what was seen of an operation: the value of each thing by name, as a prediction has it.
type seen map[string]string

// player plays one sequence in a bed.
type player struct {
	*bed
	t        *testing.T
	world    evaluator.World
	name     string // of the sequence in this bed: s17
	project  string
	agent    string
	revision any // of the agent
	stopped  bool
	ids      map[string]string // of runs, by the name of the start
	names    map[string]string // of the start that made a run, by its id
	doors    map[string]string // by the name of the start that made the run
	held     []string          // names of runs that the stop holds
	lines    []string          // what was sent and answered, to be printed
}

// plays begins a sequence in a project of its own.
func (b *bed) plays(t *testing.T, w evaluator.World) *player {
	t.Helper()
	b.sequences++
	p := &player{bed: b, t: t, world: w, name: fmt.Sprintf("s%d", b.sequences), ids: map[string]string{}, names: map[string]string{}, doors: map[string]string{}}
	p.project = b.tenant + "-" + p.name
	b.receiver.begins(t, "/"+p.name+"/")
	p.set("admin", "PUT", "/projects/"+p.project, p.projectDoc())
	p.set("admin", "POST", "/projects/"+p.project+"/health-check", nil)
	p.set("admin", "POST", "/projects/"+p.project+"/enable", doc{"expectedRevision": 1})
	var names []string
	for _, c := range w.Capabilities[:2] { // without the read of the state
		names = append(names, c.Name)
	}
	agent := doc{"externalAgentId": "clerk", "sourceRevision": 1, "name": "Clerk", "role": "clerk", "goal": "help", "capabilities": names}
	synced := p.set("oda", "POST", "/systems/"+p.project+"/agents/sync", doc{"schemaVersion": "1.0", "agents": []any{agent}})
	p.agent = synced.text("items.0.id")
	admit := doc{"reason": "known"}
	if len(w.AgentBudgets) > 0 {
		admit["budgets"] = w.AgentBudgets
	}
	p.revision = p.set("admin", "POST", "/agents/"+p.agent+"/admit", admit).at("revision")
	b.tokens["agent"] = p.set("admin", "POST", "/tokens", doc{"name": "agent", "roles": []string{"OPERATOR"}, "agentIds": []string{p.agent}}).text("token")
	return p
}

func (p *player) projectDoc() doc {
	var capabilities []any
	for _, c := range p.world.Capabilities {
		d := parsed(p.t, []byte(written(p.t, c))).(doc)
		d["path"] = "/" + p.name + "/" + c.Name
		if c.Expects {
			d["expectation"] = doc{"field": "ok", "equals": true}
		}
		capabilities = append(capabilities, d)
	}
	return doc{"name": p.name, "adapter": "HTTP_JSON", "baseUrl": p.receiver.origin(), "healthPath": "/health", "auth": doc{"type": "HMAC", "credentialEnv": harness.SecretEnv}, "capabilities": capabilities}
}

func (p *player) set(by, method, path string, body any) answer {
	p.t.Helper()
	r := request{by: by, method: method, path: "/v1" + path}
	if body != nil {
		r.body = written(p.t, body)
	}
	a := p.do(p.t, r)
	p.lines = append(p.lines, r.String())
	if a.status > 299 {
		p.lines = append(p.lines, "#   "+a.String())
		p.t.Fatalf("the sequence could not begin:\n%s", strings.Join(p.lines, "\n"))
	}
	return a
}

// send sends a request, and keeps it to be printed.
func (p *player) send(r request) answer {
	p.t.Helper()
	a := p.do(p.t, r)
	p.lines = append(p.lines, fmt.Sprintf("%s\n#   %s", r, a))
	return a
}

// ends leaves the tenant as the next sequence expects it.
func (p *player) ends() {
	p.t.Helper()
	if p.stopped {
		p.must(p.t, "admin", "POST", "/go", doc{"reason": "the sequence is over"})
	}
}

// plays plays an operation and says what it saw; false if it is about a run that isn't there.
func (p *player) operation(op evaluator.Operation) (seen, bool) {
	p.t.Helper()
	switch op.Kind {
	case "start":
		return p.start(op), true
	case "receiver":
		p.receiver.answers(p.t, op.Answer)
		p.lines = append(p.lines, "# from now on the receiver answers: "+op.Answer)
		return seen{}, true
	case "state":
		p.receiver.becomes(op.Answer)
		p.lines = append(p.lines, "# from now on the read of the state answers: "+op.Answer)
		return seen{}, true
	case "stop", "go":
		return p.stopOrGo(op.Kind), true
	case "budgets":
		return p.budgets(), true
	}
	id, is := p.ids[op.Run]
	if !is {
		return nil, false
	}
	reason := op.Reason
	if reason == "" {
		reason = "seen"
	}
	var a answer
	switch op.Kind {
	case "decide":
		run := p.do(p.t, request{by: "oda", method: "GET", path: "/v1/runs/" + id})
		approval := run.text("waitingFor.approvalId")
		if approval == "" {
			approval = run.text("steps.0.approvalId")
		}
		if approval == "" {
			return nil, false
		}
		a = p.send(request{by: op.By, method: "POST", path: "/v1/approvals/" + approval + "/decision", body: written(p.t, doc{"decision": op.Decision, "reason": reason})})
	case "reconcile":
		body := doc{"resolution": op.Decision, "evidence": reason}
		if op.Output != "" {
			body["output"] = json.RawMessage(op.Output)
		}
		a = p.send(request{by: op.By, method: "POST", path: "/v1/runs/" + id + "/reconcile", body: written(p.t, body)})
	case "cancel":
		a = p.send(request{by: "oda", method: "POST", path: "/v1/runs/" + id + "/cancel", body: written(p.t, doc{"reason": reason})})
	case "status":
		a = p.send(request{by: "oda", method: "GET", path: "/v1/runs/" + id})
	}
	return p.sees(a, id), true
}

// sees says what an answer about a run shows, and then the run when it has come to rest.
func (p *player) sees(a answer, id string) seen {
	p.t.Helper()
	out := seen{"status": fmt.Sprint(a.status), "error": orAbsent(a.text("error"))}
	if a.status < 300 {
		out["error"] = evaluator.Absent
	}
	if id != "" {
		p.rests(id, out)
	}
	out["requests"] = fmt.Sprint(p.receiver.seen())
	return out
}

func orAbsent(text string) string {
	if text == "" {
		return evaluator.Absent
	}
	return text
}

func (p *player) start(op evaluator.Operation) seen {
	p.t.Helper()
	if op.Door == "tool" || op.Door == "rehearsal" {
		return p.call(op)
	}
	r := request{by: "oda", method: "POST", path: "/v1/projects/" + p.project + "/runs", headers: []string{"Idempotency-Key: " + p.name + "-" + op.Key}}
	body := doc{"capability": op.Capability, "mode": op.Mode, "inputs": json.RawMessage(op.Inputs)}
	if op.Door == "agent" {
		r.path = "/v1/agents/" + p.agent + "/runs"
		body["expectedRevision"] = p.revision
	}
	r.body = written(p.t, body)
	a := p.send(r)
	id := ""
	if a.status < 300 {
		id = a.text("id")
		p.named(op, id)
	}
	out := p.sees(a, id)
	out["replayed"], out["same"] = orAbsent(a.header.Get("Idempotency-Replayed")), orAbsent(p.names[id])
	return out
}

// named keeps which run a start made or found.
func (p *player) named(op evaluator.Operation, id string) {
	p.ids[op.Run] = id
	if p.names[id] == "" {
		p.names[id], p.doors[op.Run] = op.Run, op.Door
	}
}

// call is a start over MCP.
func (p *player) call(op evaluator.Operation) seen {
	p.t.Helper()
	arguments := parsed(p.t, []byte(op.Inputs)).(doc)
	if op.Task != "" {
		arguments["task"] = op.Task
	}
	if op.Again != "" {
		arguments["again"] = op.Again
	}
	arguments["waitSeconds"] = 0
	path := "/mcp/agents/" + p.agent
	if op.Door == "rehearsal" {
		path += "/rehearsal"
	}
	a, content := p.tool(path, op.Capability, arguments)
	id, _ := content["runId"].(string)
	if content["status"] == nil { // it was refused, and there is no run of it
		return seen{"status": fmt.Sprint(a.status), "error": fmt.Sprint(content["error"]), "outcome": fmt.Sprint(content["outcome"]), "requests": fmt.Sprint(p.receiver.seen())}
	}
	p.named(op, id)
	out := p.sees(a, id)
	out["replayed"], out["same"] = fmt.Sprint(content["replayed"]), orAbsent(p.names[id])
	return out
}

func (p *player) tool(path, name string, arguments doc) (answer, doc) {
	p.t.Helper()
	call := doc{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": doc{"name": name, "arguments": arguments}}
	a := p.send(request{by: "agent", method: "POST", path: path, body: written(p.t, call)})
	content, _ := a.at("result.structuredContent").(doc)
	if content == nil {
		if text := a.text("result.content.0.text"); strings.HasPrefix(text, "{") {
			content, _ = parsed(p.t, []byte(text)).(doc)
		}
	}
	if content == nil {
		content = doc{"error": "no content: " + a.String()}
	}
	return a, content
}

func (p *player) stopOrGo(which string) seen {
	p.t.Helper()
	a := p.send(request{by: "admin", method: "POST", path: "/v1/" + which, body: written(p.t, doc{"reason": "as it was drawn"})})
	p.stopped = which == "stop"
	out := seen{"status": fmt.Sprint(a.status), "error": evaluator.Absent}
	if which == "go" {
		held := p.held
		p.held = nil
		for _, name := range held {
			p.rests(p.ids[name], out)
		}
	}
	out["requests"] = fmt.Sprint(p.receiver.seen())
	return out
}

func (p *player) budgets() seen {
	p.t.Helper()
	a := p.send(request{by: "oda", method: "GET", path: "/v1/budgets?projectId=" + p.project})
	out, n := seen{"status": fmt.Sprint(a.status)}, map[string]int{}
	items, _ := a.at("items").([]any)
	for _, item := range items {
		capability := fmt.Sprint(at(item, "capability"))
		used, _ := at(item, "used").(json.Number)
		out[fmt.Sprintf("used %s %d", capability, n[capability])] = evaluator.Number(used.String())
		n[capability]++
	}
	return out
}

// patience bounds a wait for what must come soon, so that a failure ends.
const patience = 2 * time.Minute

// rests waits until a run doesn't move by itself, and says what it shows.
func (p *player) rests(id string, out seen) {
	p.t.Helper()
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(pause*3/2, 50*time.Millisecond) {
		run := p.do(p.t, request{by: "oda", method: "GET", path: "/v1/runs/" + id})
		approval, rests := p.atRest(run)
		if rests {
			p.shows(run, approval, out)
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("run %s does not come to rest: %s\n%s", id, run, strings.Join(p.lines, "\n"))
		}
		time.Sleep(pause)
	}
}

func (p *player) atRest(run answer) (approval answer, rests bool) {
	p.t.Helper()
	if slices.Contains([]string{"COMPLETED", "FAILED", "CANCELLED"}, run.text("status")) {
		return approval, true
	}
	switch run.text("waitingFor.kind") {
	case "reconcile":
		return approval, true
	case "stop":
		return approval, p.stopped
	case "approval":
		approval = p.do(p.t, request{by: "oda", method: "GET", path: "/v1/approvals/" + run.text("waitingFor.approvalId")})
		return approval, approval.text("status") == "PENDING"
	}
	return approval, false
}

func (p *player) shows(run, approval answer, out seen) {
	p.t.Helper()
	id := run.text("id")
	name := p.names[id]
	set := func(what string, v any) {
		text := evaluator.Absent
		if v != nil && fmt.Sprint(v) != "" {
			text = fmt.Sprint(v)
		}
		out[name+" "+what] = text
	}
	set("run", run.at("status"))
	set("waits", run.at("waitingFor.kind"))
	set("code", run.at("steps.0.error.code"))
	set("happened", run.at("steps.0.mayHaveHappened"))
	if fmt.Sprint(run.at("mayHaveHappened")) != fmt.Sprint(run.at("steps.0.mayHaveHappened")) {
		set("happened", fmt.Sprintf("run %v, step %v", run.at("mayHaveHappened"), run.at("steps.0.mayHaveHappened")))
	}
	set("would be", run.at("steps.0.wouldBe"))
	if open, is := run.at("openAlike").([]any); is {
		set("open", len(open))
	} else {
		set("open", nil)
	}
	if approval.body != nil {
		set("needed", approval.at("approvalsNeeded"))
		var groups []string
		list, _ := approval.at("groups").([]any)
		for _, g := range list {
			groups = append(groups, fmt.Sprint(g))
		}
		slices.Sort(groups)
		set("groups", strings.Join(groups, " "))
		var changed []string
		list, _ = approval.at("changed").([]any)
		for _, c := range list {
			changed = append(changed, fmt.Sprint(at(c, "field")))
		}
		slices.Sort(changed)
		set("changed", strings.Join(changed, " "))
		asked := ""
		if approval.at("askedAgainAfter") != nil {
			asked = "yes"
		}
		set("asked again", asked)
	}
	if door := p.doors[name]; door == "agent" || door == "tool" {
		_, content := p.tool("/mcp/agents/"+p.agent, "run_status", doc{"runId": id, "waitSeconds": 0})
		set("outcome", content["outcome"])
	}
	p.lines = append(p.lines, fmt.Sprintf("# %s is then %s", name, describe(out, name)))
	if out[name+" waits"] == "stop" && !slices.Contains(p.held, name) {
		p.held = append(p.held, name)
	}
}

func describe(out seen, name string) string {
	var parts []string
	for what, v := range out {
		if rest, is := strings.CutPrefix(what, name+" "); is && v != evaluator.Absent {
			parts = append(parts, rest+": "+v)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
