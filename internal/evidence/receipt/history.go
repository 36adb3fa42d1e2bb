package receipt

import (
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// about reports a record of an action on a step.
func (p proven) about(action, step string) bool {
	return p.done() && p.at("action").text() == action && p.at("step").text() == step
}

// leftOut reports that the service omitted records.
func (c *claims) leftOut() bool { return c.audit.at("leftOut").whole() > 0 }

// checkStarted compares the record of the run's start with the run: mode, plan,
// requester and reason. Who asked by an identity is the run's agent, and nobody else acts for
// a person.
func (c *claims) checkStarted() string {
	identity, behalf := c.run.at("identity"), c.run.at("onBehalfOf")
	agent, byAgent := strings.CutPrefix(c.run.at("requestedBy").text(), "agent:")
	if byAgent != identity.exists() || byAgent && agent != c.run.at("agentId").text() || behalf.exists() && !byAgent {
		return "the run has an identity that is not that of the agent who asked"
	}
	digest := c.run.at("planDigest").text()
	reason := c.run.at("mode").text() + " of plan " + c.run.at("planId").text()
	if team, agent := c.run.at("teamId").text(), c.run.at("agentId").text(); team != "" {
		reason += " by team " + team
	} else if agent != "" {
		reason += " by agent " + agent
	}
	why := c.run.at("reason").text()
	if why != "" {
		reason += ": "
	}
	starts := 0
	for _, p := range c.proven {
		if !p.about("runs.start", "") {
			continue
		}
		starts++
		if p.at("digest").text() != digest || !c.saysAround(p, reason, why, "") || p.at("actor").text() != c.run.at("requestedBy").text() ||
			!p.at("identity").equal(identity) || !p.at("onBehalfOf").equal(behalf) {
			return "the log says that another run was started: another plan, mode, requester or reason"
		}
	}
	if starts > 1 || starts == 0 && digest != "" {
		return "the log has no start of this run with this plan"
	}
	return ""
}

// liveActions never occur in a rehearsal, rehearsalActions never in a LIVE run.
var (
	liveActions      = []string{"step.send", "step.complete", "step.restart", "steps.late", "runs.reconcile", "runs.probe", "steps.ask", "steps.withdraw", "steps.statement", "steps.settle", "runs.settle", "approval.request", "approvals.decide", "approval.close"}
	rehearsalActions = []string{"step.simulate"}
)

// checkRecords checks that each record is about a step of the run and is an action of
// the run's mode.
func (c *claims) checkRecords() string {
	none := liveActions
	if c.live() {
		none = rehearsalActions
	}
	for _, p := range c.proven {
		if !p.done() {
			continue
		}
		step, action := p.at("step").text(), p.at("action").text()
		_, known := c.byID[step]
		switch {
		case step != "" && !known, step == "" && strings.HasPrefix(action, "step."):
			return "the log says " + action + " of step " + step + ", which the run has not"
		case slices.Contains(none, action):
			return "the log says " + action + ", which no run does that is " + c.run.at("mode").text()
		}
	}
	return ""
}

var endings = []string{"run.complete", "run.fail", "run.cancel"}

// checkEnd compares the end of the run and its cancel request with the log. If masking
// omitted records, those may be among them.
func (c *claims) checkEnd() string {
	var end *proven
	cancel := false
	for i, p := range c.proven {
		if p.done() && slices.Contains(endings, p.at("action").text()) {
			end = &c.proven[i]
		}
		cancel = cancel || p.about("runs.cancel", "")
	}
	asked := c.run.at("cancelRequested").isTrue()
	switch unknown := c.masked() && c.leftOut(); {
	case end == nil && !unknown, end != nil && end.at("after").text() != c.run.at("status").text():
		return "the log does not say that the run ended " + c.run.at("status").text()
	case end != nil && end.at("at").text() != c.run.at("completedAt").text():
		return "the log does not say that the run ended when it says"
	case end != nil && !c.masked() && end.at("reason").text() != c.run.at("error").text():
		return "the log does not say that the run ended for this error"
	case cancel != asked && (cancel || !unknown):
		return "the log does not say that cancelling the run was asked for, or says so"
	}
	return ""
}

// checkOutcome compares the status of a step with the last record that determines it.
// A masked receipt lacks some of these records.
func (c *claims) checkOutcome(s node) string {
	if c.masked() && c.leftOut() {
		return ""
	}
	id, status := s.at("id").text(), s.at("status").text()
	var last *proven
	for i, p := range c.proven {
		for _, action := range []string{"step.send", "step.complete", "step.simulate", "runs.reconcile", "steps.settle"} {
			if p.about(action, id) {
				last = &c.proven[i]
			}
		}
	}
	var settled, action string
	if last != nil {
		action = last.at("action").text()
		if after := last.at("after").text(); slices.Contains(endedSteps, after) {
			settled = after
		}
	}
	said := slices.Contains([]string{string(countersign.StepCompleted), string(countersign.StepSimulated), string(countersign.StepAbandoned)}, status)
	verification := s.at("verification").at("status").text()
	switch {
	case settled != "" && settled != status, settled == "" && said:
		return "the log does not say that step " + id + " is " + status
	case action == "step.complete" && last.at("reason").text() != verification:
		return "the log does not say that step " + id + " was verified as " + verification
	case action == "step.simulate" && last.at("digest").text() != s.at("requestDigest").text():
		return "the log does not say that step " + id + " rehearsed this request"
	case settled != "" && last.at("at").text() != s.at("completedAt").text(), action == "step.simulate" && last.at("at").text() != s.at("startedAt").text():
		return "the log does not say that step " + id + " ended when it says"
	}
	return c.checkProbes(s)
}

// checkProbes compares the probes of a step with their records.
func (c *claims) checkProbes(s node) string {
	var by []string
	for _, p := range c.proven {
		if p.about("runs.probe", s.at("id").text()) {
			by = append(by, p.at("actor").text())
		}
	}
	var shown []string
	for _, p := range s.at("probes").list() {
		shown = append(shown, p.at("by").text())
	}
	if !slices.Equal(by, shown) {
		return "the log does not say that step " + s.at("id").text() + " was probed so"
	}
	return ""
}
