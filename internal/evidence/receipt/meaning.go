package receipt

import (
	"crypto/ed25519"
	"encoding/hex"
	"slices"

	"github.com/countersign/countersign"
)

// meaning checks the sections against each other: the last part of a verification, on
// a receipt with a valid signature.
func meaning(whole opened, known Known, v Verdict) Verdict {
	public, _ := hex.DecodeString(whole.publicKey) // its form was checked
	c := &claims{format: whole.format, known: known, key: ed25519.PublicKey(public)}
	for i, read := range []*node{&c.approvals, &c.audit, &c.plan, &c.requests, &c.run, &c.statement} {
		*read = parse(whole.sections[i])
	}
	c.planText = planContent(whole.sections[slices.Index(Sections, Plan)])
	for _, check := range []struct {
		section string
		problem func() string
	}{
		{Statement, c.checkStatement}, {Statement, c.checkRedacted}, {Run, c.checkRun}, {Plan, c.checkPlan}, {Run, c.checkSteps}, {Approvals, c.checkApprovals},
		{Requests, c.checkRequests}, {Approvals, c.checkAsked}, {Approvals, c.checkGate}, {Audit, c.checkAudit}, {Audit, c.checkRedaction}, {Run, c.checkAnswers},
		{Approvals, c.checkStates}, {Run, c.checkLooks}, {Approvals, c.checkSendings},
	} {
		if problem := check.problem(); problem != "" {
			return v.failed(check.section, problem)
		}
	}
	return c.addDetails(v)
}

// claims is the parsed content of a receipt.
type claims struct {
	format                                           string
	known                                            Known
	key                                              ed25519.PublicKey
	approvals, audit, plan, requests, run, statement node

	planText   []byte          // the text of the plan's digest
	planHidden bool            // the plan is masked, so its digest can't be computed
	byID       map[string]node // the steps by their ids

	digests   map[string]node // the requests by their digests
	proven    []proven        // records of the log
	decidedBy map[string]int  // the record of each approval's decision, by the approval's id
	askedBy   map[string]int  // the record of each approval's request
	approved  int
	unlogged  int // decisions whose record masking omitted
	hidden    int // requests whose digest can't be computed
	witnessed *Witnessed

	answers []SignedAnswer
	unshown int // answers that are said to be signed, without what shows it
}

func (c *claims) masked() bool { return c.statement.at("masked").isTrue() }

func (c *claims) live() bool { return c.run.at("mode").text() == countersign.ModeLive }

func (c *claims) checkStatement() string {
	if masked, ok := c.statement.at("masked").v.(bool); !ok || masked != c.masked() {
		return "masked must be true or false"
	}
	if at := c.statement.at("issuedAt"); at.moment() == "" || at.text() != c.audit.at("head").at("at").text() {
		return "issuedAt must be a time in UTC, that of the tree head"
	}
	if c.statement.at("runId").text() == "" || c.statement.at("runId").text() != c.run.at("id").text() {
		return "it is about another run than the section run"
	}
	return ""
}

// checkRequests recomputes each digest, and requires a request for each digest
// referred to.
func (c *claims) checkRequests() string {
	c.digests = map[string]node{}
	for _, r := range c.requests.list() {
		digest := r.at("digest").text()
		if _, again := c.digests[digest]; again {
			return "the request " + digest + " stands there twice"
		}
		if r.at("projectRevision").number() != c.revision(r.at("projectId").text()) {
			return "the request " + digest + " is of another revision of its project than the plan"
		}
		switch hidden := r.at("masked").isTrue() && c.masked(); {
		case hidden:
			c.hidden++
		case digestOf(r) != digest:
			return "the digest " + digest + " is not that of the request beside it"
		}
		c.digests[digest] = r
	}
	hidden, used := map[string]bool{}, map[string]bool{} // steps, digests
	for _, s := range c.steps() {
		digest := s.at("requestDigest").text()
		switch {
		case digest == "" && c.live() && !c.masked() && s.at("request").exists():
			return "step " + s.at("id").text() + " shows a request without its digest"
		case digest != "" && (!s.at("request").exists() || !c.requested(digest, s)):
			return "the request of step " + s.at("id").text() + " is missing"
		case digest != "" && !c.shows(s):
			return "step " + s.at("id").text() + " shows another request than the one of its digest"
		}
		hidden[s.at("id").text()], used[digest] = c.hides(s), true
	}
	for _, a := range c.approvals.list() {
		if digest := a.at("requestDigest").text(); !c.requested(digest, a) && (digest != "" || !hidden[a.at("stepId").text()]) {
			return "the request of approval " + a.at("id").text() + " is missing"
		}
		if digest := a.at("requestDigest").text(); digest != "" && !c.shows(a) {
			return "approval " + a.at("id").text() + " shows another request than the one of its digest"
		}
		used[a.at("requestDigest").text()] = true
	}
	for digest := range c.digests {
		if !used[digest] {
			return "the request " + digest + " is of no step and no approval"
		}
	}
	return ""
}

// requested reports that a request of this digest exists, by the capability of the
// step or approval.
func (c *claims) requested(digest string, by node) bool {
	r, ok := c.digests[digest]
	if !ok || r.at("projectId").text() != by.at("projectId").text() || r.at("capability").text() != by.at("capability").text() {
		return false
	}
	return r.at("masked").isTrue() && c.masked() || r.at("method").text() == c.capability(by).at("method").text()
}

// digestOf is the requestDigest of contract 6, over the texts as they stand: see
// request.Digest, which takes them from a request.
func digestOf(r node) string {
	var b []byte
	texts := []string{
		r.at("method").text(), r.at("url").text(), r.at("body").text(), r.at("projectId").text(), r.at("projectRevision").number(), r.at("capability").text(),
	}
	if headers := r.at("headers").text(); headers != "" {
		texts = append(texts, headers)
	}
	for _, text := range texts {
		b = appendNetstring(b, text)
	}
	return countersign.SHA256Hex(b)
}

// addDetails adds the details of a valid receipt to the verdict.
func (c *claims) addDetails(v Verdict) Verdict {
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
	v.Redacted = c.redacted()
	v.Cosigned, v.Answers, v.Unshown = c.witnessed, c.answers, c.unshown
	v.Summary = v.epoch() + v.summary(c.planHidden)
	return v
}
