package receipt

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/countersign/countersign"
)

// What a precondition read is that on which it was approved, and was read before it was sent: as far
// as the log has it. Masking leaves it out.

// checkStates compares the states that approvals show with what was read, with each other and with
// the log.
func (c *claims) checkStates() string {
	if c.masked() {
		return ""
	}
	for _, a := range c.approvals.list() {
		if problem := cmp.Or(c.asRead(a), c.asChanged(a), c.asDecidedOn(a)); problem != "" {
			return "approval " + a.at("id").text() + " " + problem
		}
	}
	return ""
}

// asRead checks the state of an approval by its digest, and by the look that it is of.
func (c *claims) asRead(a node) string {
	s := c.byID[a.at("stepId").text()]
	pre, digest, state := c.capability(s).at("precondition"), a.at("stateDigest").text(), a.at("state")
	switch {
	case pre.exists() != state.exists() || state.exists() != (digest != ""):
		return "shows a state where there is no precondition, or none where there is one"
	case !state.exists():
		return ""
	case !c.isState(pre, state) || stateDigestOf(state) != digest:
		return "shows another state than the one of its stateDigest"
	case c.lookOf(s, a) < 0:
		return "shows a state that no look of its step has found"
	case state.at("request").at("body").exists(), !sameQuery(state.at("request").at("query"), state.at("request").at("url").text()), digestOf(c.readOf(s, state)) != state.at("requestDigest").text():
		return "shows another read than the one of its state's requestDigest"
	}
	return ""
}

// isState reports values of exactly the fields that the precondition reads.
func (c *claims) isState(pre, state node) bool {
	fields, values := texts(pre.at("fields")), state.at("values").members()
	return state.at("capability").text() == pre.at("capability").text() && len(values) == len(fields) &&
		!slices.ContainsFunc(fields, func(name string) bool { return !state.at("values").has(name) })
}

// lookOf is the place of the look whose state an approval shows, -1 for none.
func (c *claims) lookOf(s, a node) int {
	state := a.at("state")
	return slices.IndexFunc(s.at("looks").list(), func(l node) bool {
		return l.at("at").text() == state.at("at").text() && l.at("stateDigest").text() == a.at("stateDigest").text() && l.at("requestDigest").text() == state.at("requestDigest").text() &&
			l.at("statusCode").equal(state.at("statusCode"))
	})
}

// readOf is the request of a state, as a request of the section has it: of a read, which has no body.
func (c *claims) readOf(s, state node) node {
	r, headers := state.at("request"), ""
	if r.at("headers").exists() {
		headers = string(r.at("headers").value().Canonical())
	}
	return node{map[string]any{
		"method": r.at("method").v, "url": r.at("url").v, "projectId": s.at("projectId").v, "projectRevision": json.Number(c.revision(s.at("projectId").text())),
		"capability": state.at("capability").v, "headers": headers,
	}}
}

// asChanged checks that an approval names the one in whose place it was asked for, and what had
// changed since; that this one is superseded, and none else.
func (c *claims) asChanged(a node) string {
	same := func(b node) bool {
		return b.at("stepId").text() == a.at("stepId").text() && b.at("attempt").equal(a.at("attempt"))
	}
	var before, after node
	past := true
	for _, b := range c.approvals.list() {
		switch id := b.at("id").text(); {
		case id == a.at("id").text():
			past = false
		case past && id == a.at("previousApprovalId").text() && same(b):
			before = b
		case !past && b.at("previousApprovalId").text() == a.at("id").text():
			after = b
		}
	}
	approved := a.at("status").text() == string(countersign.ApprovalApproved)
	again, was := max(0, a.at("askedAgain").whole()), max(0, before.at("askedAgain").whole())
	changed := c.differences(a, before)
	switch {
	case (a.at("previousApprovalId").text() != "") != before.exists():
		return "names an approval before it that there is not"
	case a.at("superseded").isTrue() != (after.exists() && approved):
		return "says otherwise than the one that was asked for in its place whether it lets anything out"
	case !node{changed}.equal(node{a.at("changed").anyList()}):
		return "says that something else has changed than the states show"
	case again != was && (again != was+1 || len(changed) == 0), again > countersign.MaxAskedAgain:
		return "says that it was asked for anew as often as it was not"
	}
	return ""
}

// differences are what `changed` of an approval says, computed from its state and the one before.
func (c *claims) differences(a, before node) []any {
	out := []any{}
	if !before.exists() {
		return out
	}
	then, now := before.at("state").at("values"), a.at("state").at("values")
	for _, name := range texts(c.capability(c.byID[a.at("stepId").text()]).at("precondition").at("fields")) {
		if !then.at(name).equal(now.at(name)) {
			out = append(out, map[string]any{"field": name, "then": then.at(name).v, "now": now.at(name).v})
		}
	}
	return out
}

// asDecidedOn compares the state of an approval with those of its decisions, and of the records of
// its request and its decisions.
func (c *claims) asDecidedOn(a node) string {
	digest := a.at("stateDigest").text()
	for _, d := range a.at("decisions").list() {
		on := d.at("stateDigest").text()
		switch by := d.at("by").text(); {
		case by == countersign.SystemPrincipal:
		case !d.at("left").isTrue() && on != digest:
			return "counts a decision on another state"
		case !c.decidedSo(a, by, d.at("at").moment(), on):
			return "was decided on another state, as the log says"
		}
	}
	if i, ok := c.decidedBy[a.at("id").text()]; ok && c.proven[i].at("action").text() == "approvals.decide" && c.proven[i].at("stateDigest").text() != digest {
		return "was decided on another state, as the log says"
	}
	s := c.byID[a.at("stepId").text()]
	shown := c.lookOf(s, a)
	again := shown >= 0 && s.at("looks").list()[shown].at("by").text() != "" // by somebody who looked again
	if i, ok := c.askedBy[a.at("id").text()]; ok && !again && c.proven[i].at("stateDigest").text() != digest {
		return "was asked for on another state, as the log says"
	}
	return ""
}

// decidedSo reports a record of somebody's decision at a time, on a state.
func (c *claims) decidedSo(a node, by, moment, stateDigest string) bool {
	return slices.ContainsFunc(c.proven, func(p proven) bool {
		return p.about("approvals.decide", a.at("stepId").text()) && p.at("actor").text() == by && p.at("at").moment() == moment && p.at("stateDigest").text() == stateDigest
	})
}

func stateDigestOf(n node) string {
	return countersign.StateDigest(n.at("capability").text(), valuesOf(n.at("values")))
}

func valuesOf(n node) map[string]countersign.Value {
	values := map[string]countersign.Value{}
	for name, v := range n.members() {
		values[name] = node{v}.value()
	}
	return values
}
