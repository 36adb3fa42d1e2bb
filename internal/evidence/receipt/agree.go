package receipt

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// The sections must be consistent: the plan's content matches its digest, which is in
// the log, and the run has the steps of the plan.

// equal compares two values. The sections are canonical, so equal numbers have the
// same digits.
func (n node) equal(other node) bool {
	a, errA := json.Marshal(n.v)
	b, errB := json.Marshal(other.v)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

func (n node) members() map[string]any {
	m, _ := n.v.(map[string]any)
	return m
}

// planContent is the text of which plan.digest takes the digest.
func planContent(section []byte) []byte {
	var plan map[string]json.RawMessage
	if json.Unmarshal(section, &plan) != nil {
		return nil
	}
	content := map[string]json.RawMessage{}
	for name, otherwise := range map[string]string{
		"modelId": `""`, "modelRevision": "0", "scenarioId": `""`, "planningInputs": "null", "steps": "null", "projects": "null", "team": "", "agents": "", "gate": "",
	} {
		value, ok := plan[name]
		if !ok || name == "planningInputs" && string(value) == "{}" {
			value = json.RawMessage(otherwise)
		}
		if len(value) > 0 {
			content[name] = value
		}
	}
	var parts []string
	for _, name := range []string{"agents", "gate", "modelId", "modelRevision", "planningInputs", "projects", "scenarioId", "steps", "team"} {
		if value, ok := content[name]; ok {
			parts = append(parts, `"`+name+`":`+string(value))
		}
	}
	return []byte("{" + strings.Join(parts, ",") + "}")
}

// checkPlan compares the plan with the run, with its digest and with its snapshots.
func (c *claims) checkPlan() string {
	digest := c.plan.at("planDigest").text()
	switch {
	case c.plan.at("id").text() != c.run.at("planId").text() || digest != c.run.at("planDigest").text():
		return "it is another plan than the run's"
	case digest == "" && !c.masked():
		return "its digest is missing"
	case c.plan.at("mode").text() != c.run.at("mode").text():
		return "its mode is not the run's"
	case c.plan.at("status").text() != countersign.PlanReady || len(c.plan.at("validationErrors").list()) > 0:
		return "it is not READY, so that no run of it could start"
	case c.plan.has("gate") && (c.format == Format || c.plan.at("gate").whole() != countersign.Gate):
		return "its gate is of no edition that this format has"
	}
	// The digest of a masked plan can't be computed.
	c.planHidden = digest == "" || c.masked() && countersign.SHA256Hex(c.planText) != digest
	if !c.planHidden && countersign.SHA256Hex(c.planText) != digest {
		return "its content does not come to its digest"
	}
	return c.checkSnapshots()
}

// checkSnapshots checks that the plan names the revisions of its snapshots.
func (c *claims) checkSnapshots() string {
	known := map[string]bool{}
	for _, p := range c.plan.at("projectSnapshots").list() {
		id := p.at("id").text()
		named := func(ref node) bool {
			return ref.at("id").text() == id && ref.at("revision").number() == p.at("revision").number()
		}
		if known[id] || !slices.ContainsFunc(c.plan.at("projects").list(), named) {
			return "it does not name this snapshot of project " + id
		}
		known[id] = true
		names := map[string]bool{}
		for _, capability := range p.at("capabilities").list() {
			name := capability.at("name").text()
			if names[name] {
				return "project " + id + " has the capability " + name + " twice"
			}
			names[name] = true
		}
	}
	for _, ref := range c.plan.at("projects").list() {
		if !known[ref.at("id").text()] {
			return "its snapshot of project " + ref.at("id").text() + " is missing"
		}
	}
	named := func(model node, by node) bool {
		return by.at("modelId").text() == model.at("id").text() && by.at("modelRevision").number() == model.at("revision").number()
	}
	if m := c.plan.at("modelSnapshot"); m.exists() && !named(m, c.plan) {
		return "it does not name this snapshot of model " + m.at("id").text()
	}
	for _, m := range c.plan.at("models").list() {
		if !slices.ContainsFunc(c.plan.at("agents").list(), func(a node) bool { return named(m, a) }) {
			return "it does not name this snapshot of model " + m.at("id").text()
		}
	}
	return ""
}

var endedSteps = []string{
	string(countersign.StepCompleted), string(countersign.StepSimulated), string(countersign.StepFailed),
	string(countersign.StepAbandoned), string(countersign.StepCancelled), string(countersign.StepSkipped),
}

// checkRun checks the run by itself.
func (c *claims) checkRun() string {
	mode := c.run.at("mode").text()
	switch {
	case !countersign.RunStatus(c.run.at("status").text()).IsTerminal():
		return "the run has not ended"
	case mode != countersign.ModeLive && mode != countersign.ModeDryRun:
		return "its mode must be DRY_RUN or LIVE"
	case c.run.at("waitingFor").exists():
		return "it has ended and waits for nothing"
	case c.run.noTime("createdAt", "updatedAt", "completedAt", "restoredAt") != "":
		return c.run.noTime("createdAt", "updatedAt", "completedAt", "restoredAt") + " must be a time in UTC"
	}
	return ""
}

// checkSteps compares the steps with the plan: they are its steps, in its order, and
// what it says of a step's capability is what the gate went by.
func (c *claims) checkSteps() string {
	planned := c.plan.at("steps").list()
	if len(planned) != len(c.steps()) {
		return "its steps are not those of the plan"
	}
	c.byID = map[string]node{}
	for i, s := range c.steps() {
		id := s.at("id").text()
		if _, again := c.byID[id]; again || id == "" {
			return "its steps must have ids, each once"
		}
		c.byID[id] = s
		for _, check := range []func(s, planned node) string{c.asPlanned, c.asCapable, c.asSent, c.asDiffering} {
			if problem := check(s, planned[i]); problem != "" {
				return "step " + id + " " + problem
			}
		}
	}
	return c.checkWhole()
}

// asPlanned compares a step with that of the plan. Masking may hide an input of the one
// and not of the other.
func (c *claims) asPlanned(s, planned node) string {
	for _, name := range []string{"id", "name", "projectId", "capability", "actionId", "agentId"} {
		if s.at(name).text() != planned.at(name).text() {
			return "has another " + name + " than in the plan"
		}
	}
	if !(node{s.at("dependsOn").anyList()}).equal(node{planned.at("dependsOn").anyList()}) {
		return "has another dependsOn than in the plan"
	}
	if s.at("idempotencyKey").text() != c.run.at("id").text()+"."+s.at("id").text() {
		return "has another idempotencyKey than the run's id, a dot and its own id"
	}
	if c.masked() {
		return ""
	}
	for name, value := range planned.at("input").members() {
		if !planned.at("inputBindings").has(name) && !(node{value}).equal(s.at("input").at(name)) {
			return "has another input " + name + " than in the plan"
		}
	}
	for name := range s.at("input").members() {
		if !planned.at("input").has(name) && !planned.at("inputBindings").has(name) {
			return "has an input " + name + " that the plan has not"
		}
	}
	return asVerified(s, c.expectations(s, planned))
}

func (n node) anyList() []any {
	list, _ := n.v.([]any)
	if list == nil {
		return []any{}
	}
	return list
}

// asCapable compares a step with the snapshot of its capability.
func (c *claims) asCapable(s, _ node) string {
	capability := c.capability(s)
	switch {
	case !capability.exists():
		return "calls the capability " + s.at("capability").text() + ", which the plan has not"
	case s.at("sideEffect").isTrue() != hasEffect(capability):
		return "has another sideEffect than its capability"
	}
	return c.asJudged(s)
}

// asSent compares the sendings of a step with its status and the mode of the run.
func (c *claims) asSent(s, _ node) string {
	status := s.at("status").text()
	simulated := status == string(countersign.StepSimulated)
	completed := status == string(countersign.StepCompleted) || status == string(countersign.StepAbandoned)
	answered := s.at("response").exists() || s.at("reconciliation").exists() || s.at("late").exists() || len(s.at("probes").list()) > 0
	attempt := s.at("attempt").whole()
	switch {
	case !slices.Contains(endedSteps, status):
		return "has a status that no ended run leaves"
	case attempt < 0:
		return "doesn't say how often it was sent"
	case !c.live() && (attempt > 0 || completed || answered || s.at("approvalId").exists()):
		return "was sent, though the run is a rehearsal"
	case c.live() && simulated:
		return "was simulated, though the run is LIVE"
	case attempt == 0 && (completed || answered || s.at("startedAt").exists() && c.live()):
		return "is " + status + " and was never sent"
	case status == string(countersign.StepFailed) && !c.masked() && s.at("error").at("code").text()+": "+s.at("error").at("message").text() != c.run.at("error").text():
		return "failed for another error than the run"
	case s.noTime("startedAt", "completedAt") != "":
		return "has a " + s.noTime("startedAt", "completedAt") + " that is no time in UTC"
	}
	return ""
}

// checkWhole compares the run with its steps.
func (c *claims) checkWhole() string {
	unverified, mayHaveHappened := int64(0), false
	for _, s := range c.steps() {
		status := s.at("status").text()
		done := status == string(countersign.StepCompleted) || status == string(countersign.StepSimulated)
		if c.run.at("status").text() == string(countersign.RunCompleted) && !done {
			return "it is COMPLETED, and step " + s.at("id").text() + " is not"
		}
		if status == string(countersign.StepCompleted) && s.at("verification").at("status").text() == countersign.VerificationNotRequested {
			unverified++
		}
		mayHaveHappened = mayHaveHappened || s.at("mayHaveHappened").isTrue()
	}
	agent, team := "", c.plan.at("team").at("id").text()
	if agents := c.plan.at("agents").list(); len(agents) == 1 && !c.plan.at("team").exists() {
		agent = agents[0].at("id").text()
	}
	switch {
	case c.run.at("unverifiedSteps").whole() != unverified:
		return "unverifiedSteps is not how many steps nothing was asked of"
	case c.run.at("mayHaveHappened").isTrue() != mayHaveHappened:
		return "mayHaveHappened is not what its steps say"
	case c.run.at("teamId").text() != team || c.run.at("agentId").text() != agent:
		return "it is of another agent or team than its plan"
	}
	return ""
}
