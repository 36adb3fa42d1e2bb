package crash

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/countersign/countersign/test/harness"
)

// starter starts runs of every kind. It repeats a start without an answer under its key, as every client should.
type starter struct {
	*life
	name   string
	n      int
	open   *start // not answered yet
	latest []*start
}

type start struct {
	key, path string
	body      doc
	runID     string // set by the answer
}

func (s *starter) act(r *rand.Rand) bool {
	switch draw := r.IntN(20); {
	case s.open != nil:
		return s.send(s.open)
	case draw == 0:
		return s.makePlan(r)
	case draw == 1 && len(s.latest) > 0:
		return s.send(s.latest[r.IntN(len(s.latest))])
	default:
		s.n++
		s.open = s.draw(r)
		s.open.key = fmt.Sprintf("key-%s-%d", s.name, s.n)
		return s.send(s.open)
	}
}

func (s *starter) draw(r *rand.Rand) *start {
	switch n := r.IntN(20); {
	case n < 12:
		return &start{path: "/runs", body: doc{"planId": s.plans[r.IntN(len(s.plans))]}}
	case n < 14:
		return &start{path: "/runs", body: doc{"planId": s.rehearsal}}
	case n < 16:
		return &start{path: "/agents/" + s.agents[1] + "/runs", body: agentRun("note", doc{"n": n}, "ok", true)}
	case n < 18:
		return &start{path: "/agents/" + s.agents[2] + "/runs", body: agentRun("refund", doc{"orderId": "o-2"}, "status", "refunded")}
	default:
		return &start{path: "/teams/crew/runs", body: doc{"expectedRevision": 1, "mode": "LIVE"}}
	}
}

// send starts a run or repeats its start; a repeated start returns the same run.
func (s *starter) send(st *start) bool {
	a := s.ask(s.operator, "POST", st.path, st.body, harness.Header("Idempotency-Key: "+st.key))
	switch {
	case a == nil:
		return false
	case a.Status == 503:
		s.pause()
		return true
	case a.Status != 202:
		s.fault("the start under %s was answered %s", st.key, a)
		return false
	}
	id, replayed := a.At("id").Text(), a.Header.Get("Idempotency-Replayed") == "true"
	switch {
	case st.runID == "":
		st.runID, s.open = id, nil
		s.latest = append(s.latest, st)
		action := "runs.start"
		if replayed {
			action = "" // the audit record belongs to the request without an answer
		}
		s.promise(a, action, "run "+id+" under "+st.key, runIs(id, st.key))
	case st.runID != id || !replayed:
		s.fault("S3: %s started run %s and, once more, %s (replayed %t)", st.key, st.runID, id, replayed)
	}
	s.saw(a.JSON)
	return true
}

// pause is a shortened Retry-After.
func (l *life) pause() { time.Sleep(5 * time.Millisecond) }

func (s *starter) makePlan(r *rand.Rand) bool {
	list := livePlans()
	a := s.ask(s.operator, "POST", "/plans", planOf("LIVE", list[r.IntN(len(list))]))
	if a != nil && a.Status == 201 {
		s.promise(a, "plans.create", "plan "+a.At("id").Text(), s.planIs(a.At("id").Text()))
	}
	return a != nil
}

// decide is a reviewer who decides approvals.
func (l *life) decide(r *rand.Rand) bool {
	list := l.ask(l.reviewer, "GET", "/approvals?status=PENDING&limit=20", nil)
	if list == nil {
		return false
	}
	for _, a := range list.At("items").Items() {
		l.sawWaiting(a)
		if r.IntN(3) == 0 {
			continue // left to another reviewer
		}
		decision, reason := "APPROVED", l.word()
		if r.IntN(8) == 0 {
			decision = "REJECTED"
		}
		id := a.At("id").Text()
		answer := l.ask(l.reviewer, "POST", "/approvals/"+id+"/decision", doc{"decision": decision, "reason": reason})
		if answer == nil {
			return false
		}
		if answer.Status == 200 {
			l.promise(answer, "approvals.decide", "the decision on "+id, approvalIs(id, decision, reason))
		}
	}
	l.pause()
	return true
}

// whatWasConfirmed meets every expectation of the plans.
var whatWasConfirmed = doc{"status": "refunded", "ok": true, "id": "x", "result": doc{"n": 1}}

// reconcile is a reviewer who reconciles uncertain steps.
func (l *life) reconcile(r *rand.Rand) bool {
	list := l.ask(l.reviewer, "GET", "/runs?status=RECOVERY_REQUIRED&limit=20", nil)
	if list == nil {
		return false
	}
	for _, run := range list.At("items").Items() {
		if r.IntN(2) == 0 || run.At("waitingFor.kind").Text() != "reconcile" {
			continue
		}
		if !l.judge(run, []string{"CONFIRMED_NOT_EXECUTED", "CONFIRMED_NOT_EXECUTED", "CONFIRMED_COMPLETED", "ABANDON"}[r.IntN(4)]) {
			return false
		}
	}
	l.pause()
	return true
}

// judge reconciles an uncertain step.
func (l *life) judge(run json, resolution string) bool {
	id, evidence := run.At("id").Text(), l.word()
	body := doc{"resolution": resolution, "evidence": evidence}
	if resolution == "CONFIRMED_COMPLETED" {
		body["output"] = whatWasConfirmed
	}
	a := l.ask(l.reviewer, "POST", "/runs/"+id+"/reconcile", body)
	if a != nil && a.Status == 200 {
		l.promise(a, "runs.reconcile", "the reconcile of "+id, reconcileIs(id, resolution, evidence))
	}
	return a != nil
}

// cancel reads runs and cancels some.
func (l *life) cancel(r *rand.Rand) bool {
	page := l.ask(l.operator, "GET", "/runs?limit=10", nil)
	if page == nil {
		return false
	}
	for _, run := range page.At("items").Items() {
		l.saw(run)
		if ended(run.At("status").Text()) || r.IntN(12) != 0 {
			continue
		}
		id := run.At("id").Text()
		a := l.ask(l.operator, "POST", "/runs/"+id+"/cancel", doc{"reason": l.word()})
		if a == nil {
			return false
		}
		if a.Status == 200 {
			l.promise(a, "", "the cancel of "+id, cancelIs(id)) // a repeated cancel has no second audit record
		}
	}
	l.pause()
	return true
}

// watch reads lists and counts, each from one snapshot.
func (l *life) watch(r *rand.Rand) bool {
	l.pause()
	if r.IntN(2) == 0 {
		m := l.ask(l.Admin, "GET", "/metrics", nil)
		if m == nil {
			return false
		}
		l.active("/metrics", m.At("countersign_runs.READY").Int()+m.At("countersign_runs.RUNNING").Int())
		return true
	}
	page := l.ask(l.Admin, "GET", "/runs?limit=15", nil)
	if page == nil {
		return false
	}
	n := 0
	for _, run := range page.At("items").Items() {
		l.saw(run)
		if is := run.At("status").Text(); is == "READY" || is == "RUNNING" {
			n++
		}
	}
	l.active("/runs", n)
	return true
}

// editor is the only caller that writes its model.
type editor struct {
	*life
	model    string
	revision int
	unsure   bool // the latest write had no answer
}

func (e *editor) act(*rand.Rand) bool {
	if e.unsure && !e.look() {
		return false
	}
	name := e.word()
	a := e.ask(e.operator, "PUT", "/models/"+e.model, doc{"document": harness.With(harness.Model(e.model), "name", name), "expectedRevision": e.revision})
	switch {
	case a == nil:
		e.unsure = true
		return false
	case a.Status != 200 || a.At("revision").Int() != e.revision+1:
		e.fault("S4: the write of %s over revision %d was answered %s", e.model, e.revision, a)
		return false
	}
	e.revision++
	e.promise(a, "models.write", fmt.Sprintf("revision %d of %s", e.revision, e.model), e.modelIs(e.model, e.revision, name))
	e.pause()
	return true
}

// look finds out whether the latest write happened.
func (e *editor) look() bool {
	a := e.ask(e.operator, "GET", "/models/"+e.model, nil)
	if a == nil {
		return false
	}
	if now := a.At("revision").Int(); now != e.revision && now != e.revision+1 {
		e.fault("A1: model %s is at revision %d; %d was acknowledged and one more was asked for", e.model, now, e.revision)
	}
	e.revision, e.unsure = a.At("revision").Int(), false
	return true
}

// beater sends the heartbeats of one instance.
type beater struct {
	*life
	agent, instance string
	sequence        int // sent last
	acked           doc // acknowledged last
	unsure          bool
}

func (b *beater) act(r *rand.Rand) bool {
	b.sequence += 1 + r.IntN(3)
	beat := doc{"instanceId": b.instance, "sequence": b.sequence, "state": []string{"IDLE", "BUSY"}[r.IntN(2)], "timestamp": time.Now().UTC().Format(time.RFC3339Nano)}
	a := b.ask(b.operator, "POST", "/agents/"+b.agent+"/heartbeat", beat)
	switch {
	case a == nil:
		b.unsure = true
		return false
	case a.Status != 200:
		b.fault("S5: heartbeat %d of %s was answered %s", b.sequence, b.instance, a)
		return false
	}
	b.acked, b.unsure = beat, false
	return true
}

// check uses an acknowledged sequence once more: with other content it is refused, with the same it is a duplicate,
// unless a later heartbeat was accepted.
func (b *beater) check() {
	if b.acked == nil {
		return
	}
	path := "/agents/" + b.agent + "/heartbeat"
	other := harness.With(b.acked, "state", "ERROR")
	if a := b.operator.Post(path, other); a.At("error").Text() != "sequence_conflict" {
		b.fault("S5: sequence %v of %s was acknowledged and could be used again: %s", b.acked["sequence"], b.instance, a)
	}
	if a := b.operator.Post(path, b.acked); a.At("duplicate").String() != "true" && !b.unsure {
		b.fault("S5: heartbeat %v of %s was acknowledged and is not known: %s", b.acked["sequence"], b.instance, a)
	}
}
