package receipt

import (
	"crypto/ed25519"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
)

// proven is a record of the log whose inclusion was verified.
type proven struct{ node }

func (p proven) says(action, step, digest string) bool {
	return p.done() && p.at("action").text() == action && p.at("step").text() == step && p.at("digest").text() == digest
}

func (p proven) done() bool { return p.at("outcome").text() == countersign.AuditDone }

var signatureValue = regexp.MustCompile(`^[0-9a-f]{128}$`)

// checkAudit verifies the signed tree head, each record's way to it, and that the
// run is what the records say.
func (c *claims) checkAudit() string {
	head := c.audit.at("head")
	text := headText(head.at("tenantId").text(), head.at("size").number(), head.at("root").text(), head.at("at").text())
	signature := head.at("signature").text()
	switch {
	case !signatureValue.MatchString(signature) || !ed25519.Verify(c.key, text, unhex([]byte(signature))):
		return "the tree head is not signed by the key"
	case head.at("tenantId").text() != c.statement.at("tenantId").text():
		return "the tree head is of another tenant's log"
	case c.audit.at("leftOut").whole() < 0:
		return "leftOut must say how many records were left out"
	}
	if problem := c.checkInclusion(head); problem != "" {
		return problem
	}
	return c.checkCourse()
}

func (c *claims) checkInclusion(head node) string {
	size, last := head.at("size").whole(), int64(-1)
	root, ok := hash(head.at("root").text())
	if !ok || size < 0 {
		return "the tree head is of no tree"
	}
	for _, r := range c.audit.at("records").list() {
		text := r.at("text").text()
		record, seq := proven{parse([]byte(text))}, seqOf(text)
		path, ok := pathOf(r)
		if seq <= last || seq >= size || !ok || tlog.CheckRecord(path, size, root, seq, tlog.RecordHash([]byte(text))) != nil {
			return "a record is not proven to stand in the log at its place: " + strconv.FormatInt(seq, 10)
		}
		if !c.isAbout(record.at("subject").text()) {
			return "a record is about something else: " + strconv.FormatInt(seq, 10)
		}
		last = seq
		c.proven = append(c.proven, record)
	}
	return ""
}

var seqForm = regexp.MustCompile(`^\{"seq":(0|[1-9][0-9]{0,14}),`)

// seqOf is the number that a record's text begins with; -1 for none.
func seqOf(text string) int64 {
	found := seqForm.FindStringSubmatch(text)
	if found == nil {
		return -1
	}
	n, _ := strconv.ParseInt(found[1], 10, 64) // at most 15 digits
	return n
}

func pathOf(record node) (path tlog.RecordProof, ok bool) {
	for _, text := range record.at("proof").list() {
		h, ok := hash(text.text())
		if !ok {
			return nil, false
		}
		path = append(path, h)
	}
	return path, true
}

// hash reads lowercase hex and nothing else.
func hash(text string) (h tlog.Hash, ok bool) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != tlog.HashSize || hex.EncodeToString(b) != text {
		return h, false
	}
	return tlog.Hash(b), true
}

func (c *claims) isAbout(subject string) bool {
	if subject == "run/"+c.run.at("id").text() {
		return true
	}
	return slices.ContainsFunc(c.approvals.list(), func(a node) bool { return subject == "approval/"+a.at("id").text() })
}

// checkCourse compares what the log says of the run with what the sections say: its
// plan, its end, what was sent, who approved and who reconciled, and why.
func (c *claims) checkCourse() string {
	digest := c.run.at("planDigest").text()
	if digest != "" && !c.logged(func(p proven) bool { return p.says("runs.start", "", digest) }) {
		return "the log has no start of this run with this plan"
	}
	if ended, known := c.ended(); known && ended != c.run.at("status").text() {
		return "the log does not say that the run ended " + c.run.at("status").text()
	}
	c.decidedBy = map[string]int{}
	for _, a := range c.approvals.list() {
		if problem := c.checkDecision(a); problem != "" {
			return problem
		}
	}
	for _, s := range c.steps() {
		if problem := c.checkStep(s); problem != "" {
			return problem
		}
	}
	return ""
}

func (c *claims) logged(matches func(proven) bool) bool {
	return slices.ContainsFunc(c.proven, matches)
}

var endings = []string{"run.complete", "run.fail", "run.cancel"}

// ended is the status that the run ended with by the log. Where masking left records
// out, that one may be among them.
func (c *claims) ended() (status string, known bool) {
	for _, p := range slices.Backward(c.proven) {
		if p.done() && slices.Contains(endings, p.at("action").text()) {
			return p.at("after").text(), true
		}
	}
	return "", !c.masked() || c.audit.at("leftOut").whole() == 0
}

// checkStep finds the record of what a step sent, and of what was found out about it.
func (c *claims) checkStep(s node) string {
	if problem := c.checkSent(s); problem != "" {
		return problem
	}
	id, digest, r := s.at("id").text(), s.at("requestDigest").text(), s.at("reconciliation")
	resolved := func(p proven) bool {
		reason := r.at("resolution").text() + ": " + r.at("evidence").text()
		return p.says("runs.reconcile", id, digest) && p.at("reason").text() == reason && p.at("actor").text() == r.at("by").text()
	}
	if r.exists() && !c.hides(s) && !c.logged(resolved) {
		return "the log does not say that step " + id + " was reconciled so"
	}
	return ""
}

// checkDecision finds the record of what a person decided, one for each decision. What
// the system rejected lets nothing out.
func (c *claims) checkDecision(a node) string {
	by, status := a.at("decidedBy").text(), a.at("status").text()
	if status == string(countersign.ApprovalApproved) {
		c.approved++
	} else if by == "" || by == countersign.SystemPrincipal {
		return ""
	}
	digest := a.at("requestDigest").text()
	if digest == "" { // masking left it out, and the record with it: see checkRequests
		c.unlogged++
		return ""
	}
	for i, p := range c.proven {
		if p.says("approvals.decide", a.at("stepId").text(), digest) && p.at("after").text() == status &&
			p.at("actor").text() == by && p.at("reason").text() == a.at("decisionReason").text() &&
			p.at("at").moment().Equal(a.at("decidedAt").moment()) && !c.taken(i) {
			c.decidedBy[a.at("id").text()] = i
			return ""
		}
	}
	return "the log does not say that approval " + a.at("id").text() + " was decided so"
}

// taken reports a record that is that of another approval's decision.
func (c *claims) taken(record int) bool {
	for _, other := range c.decidedBy {
		if other == record {
			return true
		}
	}
	return false
}
