package evaluator

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// run is one run of one step. Its status is the API's, HELD while a stop holds it.
type run struct {
	name       string
	door       string
	capability *Capability
	mode       string
	inputs     map[string]any
	content    string // the canonical inputs
	task       string

	status   string
	code     string // of the step's error
	attempt  int    // how often it was sent, or tried to be
	resent   bool   // CONFIRMED_NOT_EXECUTED was said of it
	happened bool   // mayHaveHappened
	denied   bool   // by rule, budget or rejection
	endedAs  int    // the how manieth to end

	approval    *approval
	changes     int  // new approvals of this attempt because of a change
	askedAgain  bool // the approval is of what was rejected before
	openAtStart []*run
	wouldBe     string
}

type approval struct {
	needed   int
	groups   []string
	deciders []string
	approved bool
	pending  bool
	state    map[string]any // that it is asked for
	changed  []string       // since the approval before
}

func (r *run) byAgent() bool { return r.door == "agent" || r.door == "tool" }

func (r *run) over() bool {
	return r.status == "COMPLETED" || r.status == "FAILED" || r.status == "CANCELLED"
}

func (e *Evaluator) end(r *run, status, code string) {
	e.ended++
	r.status, r.code, r.endedAs = status, code, e.ended
	if r.resent && status != "COMPLETED" && e.follows("resent-may-have") {
		r.happened = true
	}
	if r.approval != nil {
		r.approval.pending = false
	}
}

// begin takes a run as far as it goes: it is asked about, denied, held by a stop, or sent.
func (e *Evaluator) begin(r *run) {
	if r.mode == "DRY_RUN" {
		r.wouldBe = map[string]string{"ALLOW": "ALLOW", "ASK": "ASK", "DENY": "DENIED"}[e.byRules(r).then]
		e.end(r, "COMPLETED", "")
		return
	}
	if e.stopped && e.follows("stop-holds") {
		r.status, e.held = "HELD", append(e.held, r)
		return
	}
	e.passes(r, e.gate(r))
}

// passes is what the gate's verdict makes of a run.
func (e *Evaluator) passes(r *run, v verdict) {
	var now map[string]any
	held := "" // by the state
	if c := r.capability.Precondition; c != nil {
		now, held = e.looks(c)
	}
	approved := r.approval != nil && r.approval.approved
	switch {
	case v.then == "DENY":
		r.denied = true
		if held != "" {
			held = "|" + held // which of the two is told, the contract leaves open
		}
		e.end(r, "FAILED", v.code+held)
	case held != "":
		e.end(r, "FAILED", held)
	case v.then == "ASK" && !approved:
		e.ask(r, v, now)
	case approved && r.capability.Precondition != nil && e.hasChanged(r, v, now):
	default:
		r.approval, r.changes = nil, 0 // one approval lets one request out
		e.send(r)
	}
}

func (e *Evaluator) ask(r *run, v verdict, state map[string]any) {
	r.status, r.approval = "WAITING_APPROVAL", &approval{needed: v.needed, groups: v.groups, pending: true, state: state}
	r.askedAgain = r.door == "tool" && e.rejections(r) > 0
}

// send is section 6's table.
func (e *Evaluator) send(r *run) {
	r.attempt++
	if e.answer == "unreachable" {
		e.end(r, "FAILED", "not_sent")
		return
	}
	e.seen++
	switch e.meaning(e.answer, r.attempt) {
	case "done":
		if r.capability.Expects && e.answer != "ok" && e.follows("expectation-judges") {
			r.happened = r.capability.sideEffect()
			e.end(r, "FAILED", map[string]string{"other": "expectation_not_met", "missing": "expectation_not_met|output_missing", "empty": "expectation_not_met|output_missing"}[e.answer])
			return
		}
		e.end(r, "COMPLETED", "")
	case "refused":
		e.end(r, "FAILED", "receiver_refused")
	default:
		if r.capability.sideEffect() == e.follows("reads-fail") {
			r.status, r.code = "RECOVERY_REQUIRED", "outcome_unknown"
			return
		}
		e.end(r, "FAILED", "outcome_unknown")
	}
}

// Answers are the ways in which the receiver answers.
var Answers = []string{"ok", "other", "missing", "empty", "400", "404", "422", "409", "409 in_progress", "409 in_doubt", "408", "500", "503", "302", "hang up", "no JSON", "cut", "unreachable"}

func (e *Evaluator) meaning(answer string, attempt int) string {
	switch answer {
	case "ok", "other", "missing", "empty":
		return "done"
	case "400", "404", "422":
		return "refused"
	case "409":
		if (attempt == 1) == e.follows("second-409") {
			return "refused"
		}
	case "409 in_progress", "409 in_doubt":
		if !e.follows("in-doubt-409") {
			return "refused"
		}
	case "408":
		if !e.follows("408") {
			return "refused"
		}
	case "302", "500", "503":
		if !e.follows("5xx-3xx") {
			return "refused"
		}
	case "no JSON", "cut":
		if !e.follows("unreadable") {
			return "refused"
		}
	case "hang up":
		if !e.follows("lost") {
			return "refused"
		}
	}
	return "uncertain"
}

// decide: four eyes (3), approvals and groups (11).
func (e *Evaluator) decide(r *run, op Operation) Expected {
	a := r.approval
	if op.Reason == " " {
		return refused(400, "invalid_request")
	}
	if a == nil || !a.pending {
		if op.By == "oda" || len(groupsOf(r)) > 0 {
			return Expected{"status": "403|409"}
		}
		return refused(409, "state_conflict")
	}
	if op.By == "oda" && r.door != "tool" && e.follows("four-eyes") {
		return refused(403, "self_approval")
	}
	if len(a.groups) > 0 && len(memberOf(op.By, a.groups)) == 0 && e.follows("members-decide") {
		return refused(403, "role_required")
	}
	if slices.Contains(a.deciders, op.By) && e.follows("once-each") {
		return refused(409, "state_conflict")
	}
	a.deciders = append(a.deciders, op.By)
	out := Expected{"status": "200"}
	switch {
	case op.Decision == "REJECTED" && e.follows("one-rejects"):
		r.denied = true
		e.end(r, "FAILED", "approval_rejected")
		r.denied = e.follows("rejected-is-denied")
	case op.Decision == "APPROVED" && e.enough(a):
		a.approved, a.pending = true, false
		e.begin(r)
	}
	return e.shown(r, out)
}

func groupsOf(r *run) (out []string) {
	for _, rule := range r.capability.Rules {
		out = append(out, rule.Groups...)
	}
	return out
}

func memberOf(who string, groups []string) (in []string) {
	for _, g := range groups {
		if slices.Contains(Groups[g], who) {
			in = append(in, g)
		}
	}
	return in
}

func (e *Evaluator) enough(a *approval) bool {
	if len(a.deciders) < a.needed && e.follows("enough-approve") {
		return false
	}
	for _, g := range a.groups {
		if !slices.ContainsFunc(a.deciders, func(who string) bool { return slices.Contains(Groups[g], who) }) && e.follows("each-group") {
			return false
		}
	}
	return true
}

// reconcile is section 6, for a project without settlement.
func (e *Evaluator) reconcile(r *run, op Operation) Expected {
	if op.Reason == " " {
		return refused(400, "invalid_request")
	}
	self := op.By == "oda" && r.door != "tool" && e.follows("four-eyes")
	if r.status != "RECOVERY_REQUIRED" {
		if self {
			return Expected{"status": "403|409"}
		}
		return refused(409, "state_conflict")
	}
	if self {
		return refused(403, "self_approval")
	}
	switch op.Decision {
	case "CONFIRMED_COMPLETED":
		if r.capability.Expects && !isOK(op.Output) && e.follows("confirmed-judged") {
			return refused(409, "expectation_not_met")
		}
		e.end(r, "COMPLETED", "")
	case "CONFIRMED_NOT_EXECUTED":
		r.resent, r.status, r.code, r.approval, r.changes = true, "", "", nil, 0
		if e.follows("resends") {
			e.begin(r)
		} else {
			e.end(r, "FAILED", "not_executed")
		}
	default:
		e.end(r, "CANCELLED", "abandoned")
	}
	return e.shown(r, Expected{"status": "200"})
}

func isOK(output string) bool {
	v, _ := parse(output)
	object, ok := v.(map[string]any)
	return ok && object["ok"] == true
}

// cancel is section 6's table.
func (e *Evaluator) cancel(r *run) Expected {
	switch r.status {
	case "COMPLETED", "FAILED", "RECOVERY_REQUIRED":
		if e.follows("cancel-too-late") {
			return refused(409, "state_conflict")
		}
	case "WAITING_APPROVAL", "HELD":
		e.end(r, "CANCELLED", "cancelled")
	}
	return e.shown(r, Expected{"status": "200"})
}

// shown adds what a run shows.
func (e *Evaluator) shown(r *run, out Expected) Expected {
	if out["status"] == "202" || out["status"] == "200" {
		out["error"] = Absent
	}
	out["requests"] = fmt.Sprint(e.seen)
	set := func(name, value string) {
		if value == "" {
			value = Absent
		}
		out[r.name+" "+name] = value
	}
	set("waits", map[string]string{"WAITING_APPROVAL": "approval", "RECOVERY_REQUIRED": "reconcile", "HELD": "stop"}[r.status])
	if r.status != "HELD" {
		set("run", r.status)
	}
	if r.status == "FAILED" {
		set("code", r.code)
	}
	if r.over() && r.code != "abandoned" {
		set("happened", map[bool]string{true: "true"}[r.happened])
	}
	if r.status == "WAITING_APPROVAL" {
		if r.capability.Precondition != nil {
			set("changed", strings.Join(r.approval.changed, " "))
		}
		set("needed", fmt.Sprint(r.approval.needed))
		set("groups", strings.Join(r.approval.groups, " "))
		if r.door == "tool" {
			set("asked again", map[bool]string{true: "yes"}[r.askedAgain && e.follows("asked-again")])
		}
	}
	if r.mode == "DRY_RUN" && len(r.capability.Rules) > 0 {
		set("would be", r.wouldBe)
	}
	if r.byAgent() {
		set("outcome", e.outcome(r))
	}
	return out
}

// outcome is 12.2.
func (e *Evaluator) outcome(r *run) string {
	switch r.status {
	case "WAITING_APPROVAL":
		return "WAITING_FOR_A_PERSON"
	case "HELD":
		return "HELD"
	case "RECOVERY_REQUIRED":
		return "UNKNOWN"
	case "COMPLETED":
		return map[string]string{"DRY_RUN": "REHEARSED", "LIVE": "DONE"}[r.mode]
	case "CANCELLED":
		if r.attempt > 0 && e.follows("cancelled-after-sending") {
			return "UNKNOWN"
		}
		return "STOPPED"
	}
	notAsExpected := strings.HasPrefix(r.code, "expectation_not_met")
	switch {
	case r.resent && notAsExpected:
		return "UNKNOWN|NOT_AS_EXPECTED" // 12.1 says the one, 12.2 the other
	case r.resent && e.follows("resent-is-unknown"):
		return "UNKNOWN"
	case r.code == "outcome_unknown":
		return "REFUSED|UNKNOWN|NOT_AS_EXPECTED" // of a read: the contract doesn't say
	case r.happened, notAsExpected:
		return "NOT_AS_EXPECTED"
	default:
		return "REFUSED"
	}
}

func sum(runs []*run, input string) *big.Rat {
	total := new(big.Rat)
	for _, r := range runs {
		if n, ok := number(r.inputs[input]); ok {
			total.Add(total, n)
		}
	}
	return total
}
