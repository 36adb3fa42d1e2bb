package receipt

import (
	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/gate"
)

// No step is sent without an approval that it needs: the receipt of a run is valid only
// if it contains this approval, given in time, for the request that was sent, and by the
// person in the log.

func (c *claims) steps() []node { return c.run.at("steps").list() }

func (c *claims) sent(s node) bool { return c.live() && s.at("attempt").whole() > 0 }

// hides reports a step whose request is masked.
func (c *claims) hides(s node) bool {
	return c.masked() && s.at("request").exists() && !s.has("requestDigest")
}

// capability finds the capability of a step in the plan's snapshot.
func (c *claims) capability(s node) node {
	for _, p := range c.plan.at("projectSnapshots").list() {
		if p.at("id").text() != s.at("projectId").text() {
			continue
		}
		for _, found := range p.at("capabilities").list() {
			if found.at("name").text() == s.at("capability").text() {
				return found
			}
		}
	}
	return node{}
}

// gated reports a step that needs approval: by its own record or by its capability, whose
// rules may let it out.
func (c *claims) gated(s node) bool {
	v, known := c.verdict(s)
	return s.at("approvalRequired").isTrue() || v.Asks() && (known || !mayAllow(c.capability(s)))
}

// hasEffect is countersign.Capability.HasSideEffect.
func hasEffect(capability node) bool {
	if effect, told := capability.at("sideEffect").v.(bool); told {
		return effect
	}
	return capability.at("method").text() != "GET"
}

// asksApproval is countersign.Capability.NeedsApprovalBy the plan's edition.
func (c *claims) asksApproval(capability node) bool {
	switch capability.at("approval").text() {
	case countersign.ApprovalNone:
		return false
	case countersign.ApprovalRiskBased:
		ruled := c.edition() == gate.Now && len(capability.at("approvalRules").list()) > 0
		return hasEffect(capability) && (ruled || !capability.at("idempotent").isTrue() || capability.at("method").text() == "DELETE")
	case countersign.ApprovalAlways:
		return true
	}
	return hasEffect(capability)
}

// checkGate requires an approval for each sending of each step that needs one.
func (c *claims) checkGate() string {
	for _, s := range c.steps() {
		if !c.sent(s) || !c.gated(s) {
			continue
		}
		for attempt := int64(1); attempt <= s.at("attempt").whole(); attempt++ {
			if len(c.letOut(s, attempt)) == 0 {
				return "step " + s.at("id").text() + " needs approval and was sent without one that was given in time for what it sent"
			}
		}
	}
	return ""
}

// letOut lists the approvals that permit one sending of a step. There may be several:
// an approval that expires before its step starts is requested again.
func (c *claims) letOut(s node, attempt int64) (found []node) {
	for _, a := range c.approvals.list() {
		same := a.at("stepId").text() == s.at("id").text() && a.at("attempt").whole() == attempt &&
			a.at("requestDigest").text() == s.at("requestDigest").text()
		by := a.at("decidedBy").text()
		person := by != "" && by != countersign.SystemPrincipal
		if same && person && a.at("status").text() == string(countersign.ApprovalApproved) && a.at("decidedAt").before(a.at("expiresAt")) && enough(a) {
			found = append(found, a)
		}
	}
	return found
}

// checkSent finds the record of each sending of a step and, if it needs approval, the
// record of the decision before it.
func (c *claims) checkSent(s node) string {
	id := s.at("id").text()
	if !c.live() || c.hides(s) {
		return ""
	}
	for _, p := range c.proven {
		if p.about("step.send", id) && !p.says("step.send", id, s.at("requestDigest").text()) {
			return "the log says that step " + id + " sent another request"
		}
	}
	var sendings []int
	for i, p := range c.proven {
		if p.says("step.send", id, s.at("requestDigest").text()) {
			sendings = append(sendings, i)
		}
	}
	if int64(len(sendings)) != s.at("attempt").whole() {
		return "the log does not say that step " + id + " sent this request, and as often as it says"
	}
	if n := len(sendings); n > 0 && c.proven[sendings[n-1]].at("at").text() != s.at("startedAt").text() {
		return "the log does not say that step " + id + " was last sent when it says"
	}
	for n, at := range sendings {
		if c.gated(s) && !c.approvedBefore(s, int64(n)+1, at) {
			return "the log does not say that step " + id + " was approved, in time, before it was sent"
		}
	}
	return ""
}

// approvedBefore reports that an approval was decided before the sending, by the order
// of the records, and had not expired by then.
func (c *claims) approvedBefore(s node, attempt int64, sending int) bool {
	for _, a := range c.letOut(s, attempt) {
		decided, ok := c.decidedBy[a.at("id").text()]
		if ok && decided < sending && c.proven[sending].at("at").before(a.at("expiresAt")) {
			return true
		}
	}
	return false
}
