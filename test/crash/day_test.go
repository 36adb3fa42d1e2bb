package crash

import (
	"errors"
	"fmt"
	"strings"

	"github.com/countersign/countersign/test/harness"
)

// day performs every kind of change, one after the other. Each act reports whether the service is still running. What
// the service acknowledged is remembered as a promise.
func (l *life) day() []func() bool {
	return []func() bool{
		l.administer, l.edits, l.plansAndProjects, l.crew, l.heartbeat,
		l.rehearse, l.longRun, l.quickRun, l.rejectedRun, l.cancelledRun, l.uncertainRun, l.crewRuns, l.refusals,
	}
}

// play performs acts until the last one, or until the service has died.
func (l *life) play(acts []func() bool) {
	for _, act := range acts {
		if !act() {
			return
		}
	}
}

// change sends requests that each change something, and stops at the first one without success.
func (l *life) change(action string, holds func(*picture) error, who *harness.Client, method, path string, body any) *harness.Answer {
	a := l.ask(who, method, path, body)
	if a == nil {
		return nil
	}
	if a.Status/100 != 2 {
		l.fault("%s", a)
		return nil
	}
	l.promise(a, action, method+" "+path, holds)
	return a
}

// there is the promise that a path can be read and its answer contains a text.
func (l *life) there(path, text string) func(*picture) error {
	return func(*picture) error {
		if a := l.Admin.Get(path); a.Status != 200 || !strings.Contains(a.Raw, text) {
			return fmt.Errorf("%s; expected %s", a, text)
		}
		return nil
	}
}

func (l *life) administer() bool {
	if l.change("", l.there("/tenants", `"Acme"`), l.Admin, "PUT", "/tenants/acme", doc{"name": "Acme"}) == nil { // recorded in the realm's log
		return false
	}
	made := l.change("tokens.create", nothing, l.Admin, "POST", "/tokens", doc{"name": "day", "roles": []string{"VIEWER"}})
	if made == nil {
		return false
	}
	holder, id := l.As(made.At("token").Text()), made.At("id").Text()
	if l.ask(holder, "GET", "/models", nil) == nil {
		return false
	}
	user := l.there("/users", `"ann@example.com"`)
	if l.change("users.write", nothing, l.Admin, "PUT", "/users/ann@example.com", doc{"roles": []string{"VIEWER"}}) == nil ||
		l.change("users.delete", func(p *picture) error { return not(user(p)) }, l.Admin, "DELETE", "/users/ann@example.com", nil) == nil {
		return false
	}
	return l.change("tokens.revoke", func(*picture) error {
		if a := holder.Get("/models"); a.Status != 401 {
			return fmt.Errorf("the revoked token is answered %s", a)
		}
		return nil
	}, l.Admin, "DELETE", "/tokens/"+id, nil) != nil
}

func not(err error) error {
	if err == nil {
		return errors.New("it is there")
	}
	return nil
}

func nothing(*picture) error { return nil }

func (l *life) edits() bool {
	write := func(revision int) doc {
		return doc{"document": harness.Model("day"), "expectedRevision": revision}
	}
	return l.change("models.write", nothing, l.operator, "PUT", "/models/day", write(0)) != nil &&
		l.change("models.suspend", l.there("/models/day", `"revision":2`), l.Admin, "POST", "/models/day/suspend", doc{"reason": "r"}) != nil &&
		l.change("models.resume", l.there("/models/day", `"suspended":false`), l.Admin, "POST", "/models/day/resume", doc{"reason": "r"}) != nil
}

func (l *life) plansAndProjects() bool {
	compile := doc{"scenarioId": "small", "actionBindings": doc{
		"check": doc{"projectId": project, "capability": "lookup", "input": doc{"resourceId": "o"}},
		"pay":   doc{"projectId": project, "capability": "note", "input": doc{"n": 1}},
	}}
	conformance := doc{"expectedRevision": 1, "capability": "note", "target": "https://sandbox.example", "rules": []any{doc{"name": "twins", "verdict": "HOLDS"}}}
	const other, path = "default-other", "/projects/default-other"
	on := func(enabled string) func(*picture) error { return l.there(path, `"enabled":`+enabled) }
	return l.change("plans.compile", nothing, l.operator, "POST", "/models/refund/compile-plan", compile) != nil &&
		l.change("plans.create", nothing, l.operator, "POST", "/plans", planOf("LIVE", livePlans()[0])) != nil &&
		l.change("projects.write", l.there(path, other), l.Admin, "PUT", path, harness.Project(l.shop.Origin())) != nil &&
		l.change("projects.health_check", l.there(path, `"healthy":true`), l.Admin, "POST", path+"/health-check", nil) != nil &&
		l.change("projects.conformance", l.there(path, `"target":"https://sandbox.example"`), l.Admin, "POST", path+"/conformance", conformance) != nil &&
		l.change("projects.toggle", nothing, l.Admin, "POST", path+"/enable", doc{"expectedRevision": 1}) != nil &&
		l.change("projects.toggle", on("false"), l.Admin, "POST", path+"/disable", doc{"expectedRevision": 1}) != nil
}

func (l *life) crew() bool {
	synced := l.change("agents.sync", nothing, l.operator, "POST", "/systems/"+project+"/agents/sync", manifest(agentItem("search", 1)))
	if synced == nil {
		return false
	}
	path := "/agents/" + synced.At("items.0.id").Text()
	return l.change("agents.admit", nothing, l.Admin, "POST", path+"/admit", doc{"reason": "r"}) != nil &&
		l.change("agents.suspend", l.there(path, `"suspended":true`), l.Admin, "POST", path+"/suspend", doc{"reason": "r"}) != nil &&
		l.change("teams.write", nothing, l.operator, "PUT", "/teams/day", l.team()) != nil &&
		l.change("teams.suspend", l.there("/teams/day", `"revision":2`), l.Admin, "POST", "/teams/day/suspend", doc{"reason": "r"}) != nil &&
		l.change("teams.resume", l.there("/teams/day", `"suspended":false`), l.Admin, "POST", "/teams/day/resume", doc{"reason": "r"}) != nil
}

func (l *life) heartbeat() bool { return l.beaters[0].act(l.rand) }

// begin starts a run and returns its id, "" if the service has died.
func (l *life) begin(path string, body doc) string {
	s := l.starters[0]
	s.n++
	s.open = &start{path: path, body: body, key: fmt.Sprintf("day-%d", s.n)}
	if st := s.open; s.send(st) {
		return st.runID
	}
	return ""
}

func (l *life) beginPlan(id string) string { return l.begin("/runs", doc{"planId": id}) }

// reaches waits until a run has the expected status; it returns false if the service has died.
func (l *life) reaches(id, status string) (run json, ok bool) {
	if id == "" {
		return run, false
	}
	harness.Until(l.t, "run "+id+" to be "+status, func() bool {
		a := l.ask(l.operator, "GET", "/runs/"+id, nil)
		if a == nil {
			return true
		}
		run, ok = a.JSON, a.At("status").Text() == status
		l.saw(run)
		return ok || ended(run.At("status").Text())
	})
	if run.Exists() && !ok && ended(run.At("status").Text()) {
		l.fault("run %s is %s; expected %s", id, run, status)
	}
	return run, ok
}

// decides waits for the approval of a run and decides it.
func (l *life) decides(id, decision string) bool {
	run, ok := l.reaches(id, "WAITING_APPROVAL")
	if !ok {
		return false
	}
	approval := run.At("approvalId").Text()
	if a := l.ask(l.reviewer, "GET", "/approvals/"+approval, nil); a != nil {
		l.sawWaiting(a.JSON)
	}
	reason := l.word()
	return l.change("approvals.decide", approvalIs(approval, decision, reason), l.reviewer, "POST", "/approvals/"+approval+"/decision", doc{"decision": decision, "reason": reason}) != nil
}

func (l *life) completes(id string) bool {
	_, ok := l.reaches(id, "COMPLETED")
	return ok
}

func (l *life) rehearse() bool { return l.completes(l.beginPlan(l.rehearsal)) }

func (l *life) longRun() bool {
	id := l.beginPlan(l.plans[2])
	first := l.decides(id, "APPROVED") // the plan has two approvals
	return first && l.decides(id, "APPROVED") && l.completes(id)
}

// quickRun is started twice under one key.
func (l *life) quickRun() bool {
	id := l.beginPlan(l.plans[0])
	return l.completes(id) && l.starters[0].send(l.starters[0].latest[len(l.starters[0].latest)-1])
}

func (l *life) rejectedRun() bool {
	id := l.beginPlan(l.plans[1])
	if !l.decides(id, "REJECTED") {
		return false
	}
	_, ok := l.reaches(id, "FAILED")
	return ok
}

func (l *life) cancelledRun() bool {
	id := l.beginPlan(l.plans[1])
	if _, ok := l.reaches(id, "WAITING_APPROVAL"); !ok {
		return false
	}
	return l.change("runs.cancel", cancelIs(id), l.operator, "POST", "/runs/"+id+"/cancel", doc{"reason": "r"}) != nil
}

// uncertainRun is completed after a probe and the confirmation that nothing was executed.
func (l *life) uncertainRun() bool {
	l.shop.behave(once("/refunds", answering(500, `{}`)), func() {})
	id := l.beginPlan(l.plans[1])
	if !l.decides(id, "APPROVED") {
		return false
	}
	run, ok := l.reaches(id, "RECOVERY_REQUIRED")
	return ok && l.change("runs.probe", l.there("/runs/"+id, `"probes"`), l.reviewer, "POST", "/runs/"+id+"/probe", doc{"stepId": "refund"}) != nil &&
		l.judge(run, "CONFIRMED_NOT_EXECUTED") && l.decides(id, "APPROVED") && l.completes(id)
}

func (l *life) crewRuns() bool {
	note := l.begin("/agents/"+l.agents[1]+"/runs", agentRun("note", doc{"n": 1}, "ok", true))
	if !l.completes(note) {
		return false
	}
	team := l.begin("/teams/crew/runs", doc{"expectedRevision": 1, "mode": "LIVE"})
	return l.decides(team, "APPROVED") && l.completes(team)
}

// refusals makes refused requests, which are audited too.
func (l *life) refusals() bool {
	a := l.ask(l.operator, "PUT", "/models/day", doc{"document": harness.Model("day"), "expectedRevision": 1})
	if a != nil && a.At("error").Text() != "revision_conflict" {
		l.fault("%s", a)
	}
	return a != nil
}
