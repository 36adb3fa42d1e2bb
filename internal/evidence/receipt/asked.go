package receipt

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// Each approval must belong to a step of this run and show the request of its digest.

// checkApprovals compares the approvals with the run and its steps.
func (c *claims) checkApprovals() string {
	known := map[string]bool{}
	for _, a := range c.approvals.list() {
		id := a.at("id").text()
		if known[id] {
			return "approval " + id + " stands there twice"
		}
		known[id] = true
		if problem := c.ofRun(a); problem != "" {
			return "approval " + id + " " + problem
		}
	}
	latest := append([]node{c.run}, c.steps()...)
	for i, by := range latest {
		id := by.at("approvalId").text()
		ofIt := func(a node) bool {
			return a.at("id").text() == id && (i == 0 || a.at("stepId").text() == by.at("id").text())
		}
		if id != "" && !slices.ContainsFunc(c.approvals.list(), ofIt) {
			return "approval " + id + ", which " + by.at("id").text() + " names, is missing"
		}
	}
	return ""
}

func (c *claims) ofRun(a node) string {
	s, known := c.byID[a.at("stepId").text()]
	attempt, status := a.at("attempt").whole(), a.at("status").text()
	switch {
	case a.at("runId").text() != c.run.at("id").text():
		return "is of another run"
	case !c.live():
		return "was asked for in a rehearsal"
	case !known:
		return "is of no step of the run"
	case a.at("planId").text() != c.run.at("planId").text():
		return "is of another plan"
	case a.at("projectId").text() != s.at("projectId").text() || a.at("capability").text() != s.at("capability").text():
		return "is of another capability than its step"
	case attempt < 1 || attempt > s.at("attempt").whole()+1:
		return "is of an attempt that its step did not come to"
	case a.at("requestedBy").text() == "" || a.at("requestedBy").text() != c.run.at("requestedBy").text(),
		!a.at("identity").equal(c.run.at("identity")), !a.at("onBehalfOf").equal(c.run.at("onBehalfOf")):
		return "was requested by somebody else than the run"
	case status != string(countersign.ApprovalApproved) && status != string(countersign.ApprovalRejected):
		return "is not decided, though the run has ended"
	case a.at("decidedBy").text() == "":
		return "was decided by nobody"
	}
	for _, name := range []string{"requestedAt", "expiresAt", "decidedAt"} {
		if a.at(name).moment() == "" {
			return "has a " + name + " that is no time in UTC"
		}
	}
	if at := a.at("restoredAt"); a.has("restoredAt") && (at.moment() == "" || c.run.at("restoredAt").before(at) || !c.run.has("restoredAt")) {
		return "is of a restore that the run was not of"
	}
	return checkDecisions(a)
}

// checkAsked compares what an approval shows with its step and its plan.
func (c *claims) checkAsked() string {
	for _, a := range c.approvals.list() {
		if problem := c.asAsked(a); problem != "" {
			return "approval " + a.at("id").text() + " " + problem
		}
	}
	return ""
}

func (c *claims) asAsked(a node) string {
	s := c.byID[a.at("stepId").text()]
	sameRequest := a.at("requestDigest").text() != "" && a.at("requestDigest").text() == s.at("requestDigest").text()
	if sameRequest && !a.at("inputSnapshot").equal(s.at("input")) {
		return "shows other inputs than its step"
	}
	if a.at("requestedByName").text() != c.run.at("requestedByName").text() {
		return "has another requestedByName than the run"
	}
	if !a.at("agentWords").equal(c.run.at("agentWords")) {
		return "quotes other words of the agent than the run"
	}
	if a.at("runReason").text() != c.run.at("reason").text() {
		return "quotes another reason than the run"
	}
	if !a.at("sharedMaker").isTrue() && haveCommonMaker(a) {
		return "denies the maker that who asked and who decided share"
	}
	if problem := c.asksFor(a); problem != "" {
		return problem
	}
	if c.masked() {
		return ""
	}
	planned := c.planned(s)
	if a.at("expectation").exists() && !a.at("expectation").equal(shownExpectation(c.expectations(s, planned))) {
		return "shows another expectation than the plan"
	}
	if !a.has("sources") {
		return ""
	}
	bindings := planned.at("inputBindings")
	seen := map[string]bool{}
	for _, from := range a.at("sources").list() {
		b := bindings.at(from.at("input").text())
		if !b.exists() || b.at("stepId").text() != from.at("stepId").text() || b.at("field").text() != from.at("field").text() {
			return "shows other sources than the plan"
		}
		seen[from.at("input").text()] = true
	}
	if len(seen) != len(bindings.members()) {
		return "shows other sources than the plan"
	}
	return ""
}

// haveCommonMaker reports that the requester and the decider have a common maker among those the
// approval names, or that who decided is the person for whom an agent asked. Release 0.1 named
// none.
func haveCommonMaker(a node) bool {
	named := append(a.at("requestedByMakers").list(), a.at("decidedByMakers").list()...)
	deciders := append([]node{a.at("decidedBy")}, a.at("decidedByMakers").list()...)
	for _, d := range a.at("decisions").list() {
		named = append(named, d.at("byMakers").list()...)
		deciders = append(append(deciders, d.at("by")), d.at("byMakers").list()...)
	}
	askers := append([]node{a.at("requestedBy")}, a.at("requestedByMakers").list()...)
	if email := a.at("onBehalfOf").at("email").text(); email != "" {
		askers = append(askers, node{"user:" + email})
	}
	return len(named) > 0 && slices.ContainsFunc(askers, func(asker node) bool {
		return slices.ContainsFunc(deciders, func(d node) bool { return d.text() == asker.text() })
	})
}

func (c *claims) planned(s node) node {
	for _, p := range c.plan.at("steps").list() {
		if p.at("id").text() == s.at("id").text() {
			return p
		}
	}
	return node{}
}

// revision is the revision of a project in the plan, as digits.
func (c *claims) revision(projectID string) string {
	for _, ref := range c.plan.at("projects").list() {
		if ref.at("id").text() == projectID {
			return ref.at("revision").number()
		}
	}
	return ""
}

// shows reports that a step or approval shows the request of its digest. A masked
// request can't be compared.
func (c *claims) shows(by node) bool {
	shown, r := by.at("request"), c.digests[by.at("requestDigest").text()]
	if r.at("masked").isTrue() && c.masked() {
		return true
	}
	if shown.at("method").text() != r.at("method").text() || shown.at("url").text() != r.at("url").text() {
		return false
	}
	return sameBody(shown.at("headers"), r.at("headers").text()) && sameBody(shown.at("body"), r.at("body").text()) && sameQuery(shown.at("query"), r.at("url").text())
}

// sameBody compares a body, or headers, in canonical form with the text of the digest.
func sameBody(shown node, text string) bool {
	if text == "" {
		return !shown.exists()
	}
	return json.Valid([]byte(text)) && parse(countersign.RawValue(text).Canonical()).equal(shown)
}

// sameQuery compares a query with the query of the url.
func sameQuery(shown node, address string) bool {
	_, query, _ := strings.Cut(address, "?")
	seen := map[string]bool{}
	for _, pair := range strings.Split(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, errName := url.PathUnescape(name)
		value, errValue := url.PathUnescape(value)
		if pair == "" {
			continue
		}
		if errName != nil || errValue != nil || seen[name] || !shown.has(name) || !sameText(shown.at(name), value) {
			return false
		}
		seen[name] = true
	}
	return len(seen) == len(shown.members())
}

// sameText compares a value with its text in a url. Only strings, numbers and booleans
// are compared.
func sameText(shown node, text string) bool {
	switch v := shown.v.(type) {
	case string:
		return v == text
	case bool:
		return (text == "true") == v && (v || text == "false")
	case json.Number:
		return json.Valid([]byte(text)) && string(countersign.RawValue(text).Canonical()) == v.String()
	}
	return true
}

// shownExpectation is how an approval shows expectations: one as it is, several as an
// array.
func shownExpectation(expectations []node) node {
	if len(expectations) == 1 {
		return expectations[0]
	}
	list := []any{}
	for _, e := range expectations {
		list = append(list, e.v)
	}
	return node{list}
}
