package evaluator

import (
	"fmt"
	"slices"
	"strings"
)

// start is a start by any door.
func (e *Evaluator) start(op Operation) Expected {
	c := e.world.capability(op.Capability)
	r := &run{name: op.Run, door: op.Door, capability: c, mode: op.Mode, task: strings.Join(strings.Fields(op.Task), " ")}
	if op.Door == "tool" {
		r.mode = "LIVE"
	}
	if op.Door == "rehearsal" {
		r.mode = "DRY_RUN"
	}
	v, _ := parse(op.Inputs)
	inputs, ok := v.(map[string]any)
	if ok {
		inputs, ok = e.fits(c, inputs)
	}
	r.inputs, r.content = inputs, canonical(inputs)
	if op.Door == "tool" || op.Door == "rehearsal" {
		return e.call(r, op, ok)
	}
	var wrong []string
	if !ok {
		wrong = append(wrong, "invalid_request")
	}
	if op.Door == "agent" && r.mode == "LIVE" && !c.Expects && e.follows("agent-expects") {
		wrong = append(wrong, "expectation_required")
	}
	content := strings.Join([]string{op.Door, op.Capability, r.mode, r.content}, "\n")
	before, is := e.keys[op.Key]
	if len(wrong) > 0 {
		out := refused(400, strings.Join(wrong, "|"))
		if is { // 12.1: "other well-formed content": whether inputs that don't fit are, it leaves open
			out["status"], out["error"] = "400|409", out["error"]+"|idempotency_conflict"
		}
		return out
	}
	if is {
		if before.content != content && e.follows("other-content") {
			return refused(409, "idempotency_conflict")
		}
		return e.found(op, before.run)
	}
	out := e.made(r)
	e.keys[op.Key] = used{content, r}
	return out
}

// fits checks inputs by the schema, and leaves out what null says is left out (12.1).
func (e *Evaluator) fits(c *Capability, inputs map[string]any) (map[string]any, bool) {
	out := map[string]any{}
	for name, v := range inputs {
		in, declared := c.Inputs[name]
		if !declared {
			return nil, false
		}
		if v == nil && !in.Required && e.follows("null-is-absent") {
			continue
		}
		if kind(v) != in.Type && !slices.Contains(in.OrTypes, kind(v)) {
			return nil, false
		}
		out[name] = v
	}
	for name, in := range c.Inputs {
		if _, is := out[name]; in.Required && !is {
			return nil, false
		}
	}
	return out, true
}

// call is a start by MCP (11, 12.2).
func (e *Evaluator) call(r *run, op Operation, fits bool) Expected {
	live := r.mode == "LIVE"
	var wrong []string
	if !fits || strings.TrimSpace(op.Again) == "" && op.Again != "" {
		wrong = append(wrong, "invalid_request")
	}
	if live && r.capability.sideEffect() && !r.capability.Expects && e.follows("expectation-required") {
		wrong = append(wrong, "expectation_required")
	}
	if len(wrong) > 0 {
		return Expected{"status": "200", "error": strings.Join(wrong, "|"), "outcome": "REFUSED"}
	}
	if op.Again == "" || !e.follows("again-is-new") {
		if before := e.repeated(r); before != nil {
			return e.found(op, before)
		}
	} else if open := e.openAlike(r); live && len(open) > 0 && e.follows("again-while-open") {
		return Expected{"status": "200", "error": "state_conflict", "outcome": "UNKNOWN"}
	}
	if live && e.rejections(r) > 1 && e.follows("second-rejection") {
		return Expected{"status": "200", "error": "state_conflict", "outcome": "REFUSED"}
	}
	return e.made(r)
}

// repeated is the run that a call without `again` finds, the newest of those that can be found.
func (e *Evaluator) repeated(r *run) *run {
	for _, before := range slices.Backward(e.runs) {
		same := before.door == r.door && before.capability == r.capability && before.content == r.content &&
			(before.task == r.task || !e.follows("task-is-key"))
		if same && e.canBeFound(before) {
			return before
		}
	}
	return nil
}

func (e *Evaluator) canBeFound(r *run) bool {
	if !r.over() {
		return true
	}
	if !r.capability.sideEffect() {
		return !e.follows("reads-anew")
	}
	if r.mode == "DRY_RUN" {
		return true
	}
	sent := r.attempt > 0 && (r.code != "not_sent" || r.resent)
	if !sent && !r.denied {
		return !e.follows("nothing-sent-is-new")
	}
	return e.follows("ended-is-found")
}

// openAlike are the LIVE runs of which nobody knows, with the same capability and the same inputs or title (12.2).
func (e *Evaluator) openAlike(r *run) (out []*run) {
	for _, other := range e.runs {
		if other != r && other.mode == "LIVE" && other.status == "RECOVERY_REQUIRED" && e.alike(r, other) {
			out = append(out, other)
		}
	}
	return out
}

func (e *Evaluator) alike(a, b *run) bool {
	if a.capability != b.capability {
		return false
	}
	title := e.title(a)
	return a.content == b.content || title != "" && title == e.title(b) && e.follows("same-title")
}

// title is the capability's, filled. Of the worlds that are drawn, it has one place, for a text.
func (e *Evaluator) title(r *run) string {
	if r.capability.Title == "" {
		return ""
	}
	who, _ := r.inputs["who"].(string)
	return strings.Replace(r.capability.Title, "{who}", who, 1)
}

// rejections counts those of the same inputs or title (12.2).
func (e *Evaluator) rejections(r *run) (n int) {
	for _, other := range e.runs {
		if other.code == "approval_rejected" && e.alike(r, other) {
			n++
		}
	}
	return n
}

func (e *Evaluator) found(op Operation, before *run) Expected {
	e.names[op.Run] = before
	out := Expected{"status": "202", "replayed": "true", "same": before.name}
	if op.Door == "tool" || op.Door == "rehearsal" {
		out["status"] = "200"
	}
	return e.shown(before, out)
}

func (e *Evaluator) made(r *run) Expected {
	e.names[r.name], e.runs = r, append(e.runs, r)
	r.openAtStart = e.openAlike(r)
	e.begin(r)
	out := Expected{"status": "202", "replayed": Absent, "same": r.name}
	if r.door == "tool" || r.door == "rehearsal" {
		out["status"], out["replayed"] = "200", "false"
	}
	if r.mode == "LIVE" {
		open := Absent
		if len(r.openAtStart) > 0 && e.follows("open-is-named") {
			open = fmt.Sprint(len(r.openAtStart))
		}
		out[r.name+" open"] = open
	}
	return e.shown(r, out)
}
