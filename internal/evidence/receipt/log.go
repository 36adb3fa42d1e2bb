package receipt

import (
	"cmp"
	"crypto/ed25519"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign/countersign"
)

// proven is a record of the log whose inclusion was verified.
type proven struct {
	node
	seq int64
}

func (p proven) says(action, step, digest string) bool {
	return p.done() && p.at("action").text() == action && p.at("step").text() == step && p.at("digest").text() == digest
}

func (p proven) done() bool { return p.at("outcome").text() == countersign.AuditDone }

var signatureValue = regexp.MustCompile(`^[0-9a-f]{128}$`)

// checkAudit verifies the signed tree head, the inclusion proof of each record, and
// that the records agree with the run.
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
	for _, check := range []func() string{func() string { return c.checkInclusion(head) }, c.checkHistory, c.checkCosigned} {
		if problem := check(); problem != "" {
			return problem
		}
	}
	return ""
}

func (c *claims) checkInclusion(head node) string {
	size, last := head.at("size").whole(), int64(-1)
	root, ok := hash(head.at("root").text())
	if !ok || size < 0 {
		return "the tree head is of no tree"
	}
	for _, r := range c.audit.at("records").list() {
		text := r.at("text").text()
		seq := seqOf(text)
		record := proven{parse([]byte(text)), seq}
		path, ok := pathOf(r)
		if seq <= last || seq >= size || !ok || tlog.CheckRecord(path, size, root, seq, tlog.RecordHash([]byte(text))) != nil {
			return "a record is not proven to stand in the log at its place: " + strconv.FormatInt(seq, 10)
		}
		if !c.isAbout(record.at("subject").text()) && !c.registers(record) && !c.registersAnswers(record) {
			return "a record is about something else: " + strconv.FormatInt(seq, 10)
		}
		if record.at("at").moment() == "" {
			return "a record has no time in UTC: " + strconv.FormatInt(seq, 10)
		}
		last = seq
		c.proven = append(c.proven, record)
	}
	return ""
}

var seqForm = regexp.MustCompile(`^\{"seq":(0|[1-9][0-9]{0,14}),`)

// seqOf is the sequence number at the start of a record's text, -1 for none.
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

// hash parses lowercase hex only.
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

// checkHistory compares the log with the sections: the plan, the end, what was sent,
// and who approved and reconciled, and why.
func (c *claims) checkHistory() string {
	for _, check := range []func() string{c.checkStarted, c.checkRecords, c.checkEnd} {
		if problem := check(); problem != "" {
			return problem
		}
	}
	c.decidedBy, c.askedBy = map[string]int{}, map[string]int{}
	for _, a := range c.approvals.list() {
		if problem := c.checkDecision(a); problem != "" {
			return problem
		}
	}
	for i, p := range c.proven {
		if p.done() && p.at("action").text() == "approval.request" && !takes(c.askedBy, i) {
			return "the log says that an approval was asked for at step " + p.at("step").text() + ", which is missing"
		}
	}
	for _, s := range c.steps() {
		if problem := c.checkStep(s); problem != "" {
			return problem
		}
	}
	return ""
}

// checkStep compares the records of a step with what it sent and how it was
// reconciled.
func (c *claims) checkStep(s node) string {
	if problem := c.checkSent(s); problem != "" {
		return problem
	}
	return cmp.Or(c.checkReconciled(s), c.checkOutcome(s), c.checkSettling(s))
}

// checkReconciled compares the reconciliation of a step with its last record.
func (c *claims) checkReconciled(s node) string {
	id, r := s.at("id").text(), s.at("reconciliation")
	if c.hides(s) {
		return ""
	}
	var last *proven
	for i, p := range c.proven {
		if p.about("runs.reconcile", id) {
			last = &c.proven[i]
		}
	}
	switch {
	case last == nil && !r.exists():
		return ""
	case last == nil, last.at("digest").text() != s.at("requestDigest").text(), !c.saysAround(*last, r.at("resolution").text()+": ", r.at("evidence").text(), differsWords(r)),
		last.at("actor").text() != r.at("by").text(), last.at("at").text() != r.at("at").text():
		return "the log does not say that step " + id + " was reconciled so"
	}
	return ""
}

// checkDecision finds exactly one record of the request and one of the decision for
// each approval.
func (c *claims) checkDecision(a node) string {
	by, status := a.at("decidedBy").text(), a.at("status").text()
	if status == string(countersign.ApprovalApproved) {
		c.approved++
	}
	digest := a.at("requestDigest").text()
	if digest == "" { // masking left it out, and the record with it: see checkRequests
		if status == string(countersign.ApprovalApproved) || by != countersign.SystemPrincipal {
			c.unlogged++
		}
		return ""
	}
	find := func(taken map[string]int, matches func(p proven) bool) bool {
		for i, p := range c.proven {
			if matches(p) && !takes(taken, i) {
				taken[a.at("id").text()] = i
				return true
			}
		}
		return false
	}
	if !find(c.askedBy, func(p proven) bool {
		return p.says("approval.request", a.at("stepId").text(), digest) && p.at("at").moment() == a.at("requestedAt").moment()
	}) {
		return "the log does not say that approval " + a.at("id").text() + " was asked for so"
	}
	action := "approvals.decide"
	if by == countersign.SystemPrincipal {
		if action = "approval.close"; c.masked() && c.leftOut() {
			return c.checkSigned(a) // the record's reason may quote what must not be seen
		}
	}
	if !find(c.decidedBy, func(p proven) bool {
		return p.says(action, a.at("stepId").text(), digest) && p.at("after").text() == status &&
			(by == countersign.SystemPrincipal || p.at("actor").text() == by) && c.saysReason(p, a.at("decisionReason").text()) &&
			p.at("at").moment() == a.at("decidedAt").moment() && sameAssertion(p.node, lastDecision(a))
	}) {
		return "the log does not say that approval " + a.at("id").text() + " was decided so"
	}
	return cmp.Or(c.checkEarlier(a), c.checkSigned(a))
}

// takes reports a record that is that of another approval.
func takes(taken map[string]int, record int) bool {
	for _, other := range taken {
		if other == record {
			return true
		}
	}
	return false
}
