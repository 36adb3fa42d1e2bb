package receipt

import (
	"crypto/ed25519"
	"encoding/hex"

	"github.com/countersign/countersign"
)

// meaning checks what the sections say of each other: the last part of a
// verification, on a receipt that is what was signed.
func meaning(whole opened, v Verdict) Verdict {
	public, _ := hex.DecodeString(whole.publicKey) // its form was checked
	c := &claims{key: ed25519.PublicKey(public)}
	for i, read := range []*node{&c.approvals, &c.audit, &c.plan, &c.requests, &c.run, &c.statement} {
		*read = parse(whole.sections[i])
	}
	for _, check := range []struct {
		section string
		problem func() string
	}{
		{Statement, c.checkStatement}, {Run, c.checkRun}, {Plan, c.checkPlan}, {Run, c.checkSteps}, {Approvals, c.checkApprovals},
		{Requests, c.checkRequests}, {Approvals, c.checkGate}, {Audit, c.checkAudit},
	} {
		if problem := check.problem(); problem != "" {
			return v.failed(check.section, problem)
		}
	}
	return c.told(v)
}

// claims is what a receipt says.
type claims struct {
	key                                              ed25519.PublicKey
	approvals, audit, plan, requests, run, statement node

	digests   map[string]node // the requests by their digests
	proven    []proven        // records of the log
	decidedBy map[string]int  // the record of each approval's decision, by the approval's id
	approved  int
	unlogged  int // decisions whose record masking left out
	hidden    int // requests whose digest can't be computed
}

func (c *claims) masked() bool { return c.statement.at("masked").isTrue() }

func (c *claims) live() bool { return c.run.at("mode").text() == countersign.ModeLive }

func (c *claims) checkStatement() string {
	if masked, ok := c.statement.at("masked").v.(bool); !ok || masked != c.masked() {
		return "masked must be true or false"
	}
	if c.statement.at("runId").text() == "" || c.statement.at("runId").text() != c.run.at("id").text() {
		return "it is about another run than the section run"
	}
	return ""
}

func (c *claims) checkRun() string {
	if !countersign.RunStatus(c.run.at("status").text()).IsTerminal() {
		return "the run has not ended"
	}
	return ""
}

func (c *claims) checkPlan() string {
	if c.plan.at("id").text() != c.run.at("planId").text() || c.plan.at("planDigest").text() != c.run.at("planDigest").text() {
		return "it is another plan than the run's"
	}
	if c.run.at("planDigest").text() == "" && !c.masked() {
		return "its digest is missing"
	}
	return ""
}

func (c *claims) checkApprovals() string {
	known := map[string]bool{}
	for _, a := range c.approvals.list() {
		id := a.at("id").text()
		if a.at("runId").text() != c.run.at("id").text() {
			return "approval " + id + " is of another run"
		}
		if known[id] {
			return "approval " + id + " stands there twice"
		}
		known[id] = true
	}
	return ""
}

// checkRequests computes each digest anew and finds one for each that is referred to.
func (c *claims) checkRequests() string {
	c.digests = map[string]node{}
	for _, r := range c.requests.list() {
		digest := r.at("digest").text()
		switch hidden := r.at("masked").isTrue() && c.masked(); {
		case hidden:
			c.hidden++
		case digestOf(r) != digest:
			return "the digest " + digest + " is not that of the request beside it"
		}
		c.digests[digest] = r
	}
	hidden := map[string]bool{} // steps
	for _, s := range c.steps() {
		if d := s.at("requestDigest").text(); d != "" && s.at("request").exists() && !c.requested(d, s) {
			return "the request of step " + s.at("id").text() + " is missing"
		}
		hidden[s.at("id").text()] = c.hides(s)
	}
	for _, a := range c.approvals.list() {
		if digest := a.at("requestDigest").text(); !c.requested(digest, a) && (digest != "" || !hidden[a.at("stepId").text()]) {
			return "the request of approval " + a.at("id").text() + " is missing"
		}
	}
	return ""
}

// requested reports that the request of this digest is there, and by the capability of
// the step or approval.
func (c *claims) requested(digest string, by node) bool {
	r, ok := c.digests[digest]
	return ok && r.at("projectId").text() == by.at("projectId").text() && r.at("capability").text() == by.at("capability").text()
}

// digestOf is the requestDigest of contract 6, over the texts as they stand: see
// request.Digest, which takes them from a request.
func digestOf(r node) string {
	var b []byte
	for _, text := range []string{
		r.at("method").text(), r.at("url").text(), r.at("body").text(), r.at("projectId").text(), r.at("projectRevision").number(), r.at("capability").text(),
	} {
		b = appendNetstring(b, text)
	}
	return countersign.SHA256Hex(b)
}

// told adds what is worth telling of a receipt that holds.
func (c *claims) told(v Verdict) Verdict {
	head := c.audit.at("head")
	v.OK = true
	v.RunID, v.Status, v.Mode = c.run.at("id").text(), c.run.at("status").text(), c.run.at("mode").text()
	v.Tenant, v.IssuedAt, v.Masked = c.statement.at("tenantId").text(), c.statement.at("issuedAt").text(), c.masked()
	v.TreeSize, v.TreeRoot = head.at("size").whole(), head.at("root").text()
	v.Records, v.LeftOut = len(c.proven), int(c.audit.at("leftOut").whole())
	for _, s := range c.steps() {
		if c.hides(s) {
			c.hidden++
			v.Requests++
		}
	}
	v.Requests += len(c.digests)
	v.Hidden, v.Approved, v.Unlogged = c.hidden, c.approved, c.unlogged
	v.Summary = v.summary(c.run.at("planDigest").text() == "")
	return v
}
