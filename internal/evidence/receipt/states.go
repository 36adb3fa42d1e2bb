package receipt

import (
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/precondition"
)

// What a precondition read is that on which it was approved, and was read before it was sent: as far
// as the log has it. Masking leaves it out.

// checkStates compares the states of approvals and steps with the log.
func (c *claims) checkStates() string {
	if c.masked() {
		return ""
	}
	for _, a := range c.approvals.list() {
		if problem := c.asRead(a); problem != "" {
			return "approval " + a.at("id").text() + " " + problem
		}
	}
	for _, s := range c.steps() {
		if pre := c.capability(s).at("precondition"); pre.exists() && c.live() {
			if problem := c.sentOnState(s, pre); problem != "" {
				return "step " + s.at("id").text() + " " + problem
			}
		}
	}
	return ""
}

// asRead checks the state of an approval by its digest, by those of its decisions, and by the record
// of the last.
func (c *claims) asRead(a node) string {
	digest, state := a.at("stateDigest").text(), a.at("state")
	if state.exists() != (digest != "") || digest != "" && stateDigestOf(state) != digest {
		return "shows another state than the one of its stateDigest"
	}
	if digest != "" && !c.capability(c.byID[a.at("stepId").text()]).at("precondition").exists() {
		return "shows a state, and its capability has no precondition"
	}
	for _, d := range a.at("decisions").list() {
		if !d.at("left").isTrue() && d.at("by").text() != countersign.SystemPrincipal && d.at("stateDigest").text() != digest {
			return "counts a decision on another state"
		}
	}
	if i, ok := c.decidedBy[a.at("id").text()]; ok && c.proven[i].at("action").text() == "approvals.decide" && c.proven[i].at("stateDigest").text() != digest {
		return "was decided on another state, as the log says"
	}
	return ""
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

// sentOnState checks that each sending of a step rests on a look of ten seconds before at most, and
// where it needed approval on one of the very state that the look found.
func (c *claims) sentOnState(s, pre node) string {
	id, sending, last := s.at("id").text(), int64(0), ""
	for _, l := range s.at("looks").list() {
		if l.has("values") && stateDigestOf(l) != l.at("stateDigest").text() {
			return "shows another state than the one of its look's stateDigest"
		}
	}
	for i, p := range c.proven {
		if !p.about("step.send", id) {
			continue
		}
		sending++
		last = p.at("stateDigest").text()
		switch {
		case last == "" || !c.lookedBefore(id, last, i):
			return "was sent, and the log does not say that this state was read within ten seconds before"
		case c.gated(s) && !c.approvedOn(s, sending, last, i):
			return "was sent on another state than the one that was approved"
		}
	}
	if last != s.at("stateDigest").text() {
		return "says that it was sent on another state than the log"
	}
	if last == "" {
		return ""
	}
	for _, l := range s.at("looks").list() {
		if l.has("values") && l.at("stateDigest").text() == last {
			return holdsOver(pre, l)
		}
	}
	return "does not show the state on which it was sent"
}

func holdsOver(pre, look node) string {
	if !pre.at("when").exists() {
		return ""
	}
	when := condition(pre.at("when"))
	if holds, known := precondition.Holds(cost.New(nil, cost.Most, 0), &countersign.Precondition{When: &when}, valuesOf(look.at("values"))); !holds || !known {
		return "was sent on a state in which what must be so does not hold"
	}
	return ""
}

// lookedBefore reports that the last look before a sending found this state, and began ten seconds
// before at most.
func (c *claims) lookedBefore(id, digest string, sending int) bool {
	for i := sending - 1; i >= 0; i-- {
		p := c.proven[i]
		if !p.about("steps.looked", id) || p.at("actor").text() != countersign.SystemPrincipal {
			continue
		}
		key, _, _ := strings.Cut(p.at("reason").text(), ": ")
		return p.at("stateDigest").text() == digest && c.beganBefore(id, key, i, sending)
	}
	return false
}

func (c *claims) beganBefore(id, key string, looked, sending int) bool {
	for i := looked - 1; i >= 0; i-- {
		if p := c.proven[i]; p.about("steps.look", id) && p.at("reason").text() == key {
			began, err := time.Parse(time.RFC3339Nano, p.at("at").text())
			sent, err2 := time.Parse(time.RFC3339Nano, c.proven[sending].at("at").text())
			return err == nil && err2 == nil && sent.Sub(began) <= countersign.MaxLookAge
		}
	}
	return false
}

// approvedOn reports an approval of this state that was decided before the sending, and that no other
// one has taken the place of.
func (c *claims) approvedOn(s node, attempt int64, digest string, sending int) bool {
	for _, a := range c.letOut(s, attempt) {
		decided, ok := c.decidedBy[a.at("id").text()]
		if ok && decided < sending && a.at("stateDigest").text() == digest && !a.at("superseded").isTrue() {
			return true
		}
	}
	return false
}
