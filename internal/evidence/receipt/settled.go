package receipt

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
)

// What a receiver said of a step's key, each time with its signature, and the statement that ended
// the step (contract 12.6).

// checkStatements compares the statements of a step with their signatures and with the log.
func (c *claims) checkStatements(s node) string {
	last := int64(0)
	for _, r := range s.at("settlements").list() {
		n := r.at("n").whole()
		if n <= last || n > s.at("questions").whole() || !c.live() {
			return "has a statement whose number no question has"
		}
		if last = n; r.at("at").moment() == "" {
			return "has a statement at no time in UTC"
		}
		if r.at("valid").isTrue() == r.has("error") {
			return "has a statement that is valid and isn't"
		}
		if !r.at("valid").isTrue() {
			continue
		}
		if !r.at("signed").exists() || c.hides(s) {
			c.unshown++
			continue
		}
		if problem := c.checkSaid(s, r); problem != "" {
			return problem
		}
	}
	return ""
}

// checkSaid verifies one statement: its signature, and that the record says what it does.
func (c *claims) checkSaid(s, r node) string {
	name := "statement " + r.at("n").number()
	key, method, ending := s.at("idempotencyKey").text(), "GET", ""
	asked := key + "~settle-" + r.at("n").number()
	if r.at("withdrawing").isTrue() {
		asked, method, ending = key+"~withdraw", "POST", "/withdraw"
	}
	sent, err := time.Parse(time.RFC3339Nano, s.at("startedAt").text())
	target := c.settlementPath(s) + "/" + key + ending + "?sent=" + strconv.FormatInt(sent.Unix(), 10)
	if err != nil || r.at("target").text() != target {
		return "has " + name + " to another question than is asked about its key"
	}
	before := c.question(s, asked)
	if before < 0 {
		return "has " + name + ", and the log has no such question"
	}
	found, from, body, problem := c.verify(evidence{
		signed: r.at("signed"), key: asked, method: method, target: target, status: 200,
		project: s.at("projectId").text(), claimsKeyID: r.at("keyId").text(), before: before,
	})
	if problem != "" {
		return problem
	}
	value, ok := readAnswer(body)
	if header := r.at("signed").at("signature").text(); !ok || !strings.HasSuffix(header, " "+r.at("signature").text()) {
		return "has " + name + " with another signature or body than its own"
	}
	said := run.Statement(request.Outcome{
		Certainty: request.Returned, AnsweredBy: &countersign.AnsweredBy{KeyID: found.KeyID, At: found.At}, Response: &countersign.Response{StatusCode: 200}, Body: value,
	}, key, sent)
	if !said.Valid || !sameStatement(r, said) {
		return "has " + name + ", which says something else than its receiver signed"
	}
	c.answers = append(c.answers, SignedAnswer{StepID: s.at("id").text(), Statement: r.at("n").whole(), KeyID: found.KeyID, KeyFrom: from})
	return ""
}

func sameStatement(r node, said countersign.SettlementRecord) bool {
	since := ""
	if !said.Since.IsZero() {
		since = momentOf(said.Since)
	}
	return r.at("state").text() == said.State && r.at("said").text() == said.Said && r.at("since").moment() == since && r.has("since") == (since != "") &&
		max(0, r.at("statusCode").whole()) == said.StatusCode && r.at("text").text() == said.Text && r.at("output").equal(asNode(said.Output)) && !r.has("error")
}

func momentOf(at time.Time) string { return node{at.UTC().Format(time.RFC3339Nano)}.moment() }

// settlementPath is where the plan says that a step's receiver answers about keys.
func (c *claims) settlementPath(s node) string {
	for _, p := range c.plan.at("projectSnapshots").list() {
		if p.at("id").text() == s.at("projectId").text() {
			return p.at("settlement").at("path").text()
		}
	}
	return ""
}

// question is the record of the question with a key, -1 for none.
func (c *claims) question(s node, key string) int {
	return slices.IndexFunc(c.proven, func(p proven) bool {
		asks := p.about("steps.ask", s.at("id").text()) || p.about("steps.withdraw", s.at("id").text())
		return asks && p.at("reason").text() == key && p.at("digest").text() == s.at("requestDigest").text()
	})
}

// checkSettled compares the end of a settled step with the statement that the log names.
func (c *claims) checkSettled(s node) string {
	by := s.at("settledBy")
	if !by.exists() || c.masked() {
		return ""
	}
	n, _ := settledIn(c.proven, s) // checkSettling has found it
	for _, r := range s.at("settlements").list() {
		if r.at("n").whole() != n {
			continue
		}
		switch {
		case !r.at("valid").isTrue() || r.at("keyId").text() != by.at("keyId").text():
			return "was settled by a statement that its receiver didn't sign"
		case r.at("state").text() == countersign.KeyWithdrawn:
			return c.asSettled(s, meant{status: countersign.StepFailed, code: countersign.CodeWithdrawn})
		case r.at("state").text() != countersign.KeyDone:
			return "was settled by a statement that decides nothing"
		}
		if s.at("response").at("statusCode").number() != r.at("statusCode").number() {
			return "has another response than the statement that settled it"
		}
		body, kept := r.at("text").text(), r.at("output")
		if r.has("output") {
			body = kept.value().Raw()
		}
		return c.asSettled(s, c.answerMeans(s, int(r.at("statusCode").whole()), []byte(body), 1))
	}
	return "was settled by a statement that isn't there"
}

// asSettled is asMeant: where a cancel was asked, what failed is CANCELLED.
func (c *claims) asSettled(s node, m meant) string {
	switch {
	case m.status == "":
		return "was settled by an answer that doesn't say what became of it"
	case m.status == countersign.StepFailed && c.run.at("cancelRequested").isTrue():
		m.status = countersign.StepCancelled
	}
	return c.asMeant(s, m)
}

// checkSettling compares what the log says of the questions about a step's key, and of its
// settling, with the step.
func (c *claims) checkSettling(s node) string {
	if c.hides(s) || c.masked() && c.leftOut() {
		return ""
	}
	var logged, shown []string
	for _, p := range c.proven {
		if p.about("steps.statement", s.at("id").text()) {
			logged = append(logged, p.at("at").text()+" "+p.at("reason").text())
		}
	}
	for _, r := range s.at("settlements").list() {
		state := r.at("state").text()
		if state == "" {
			state = "no statement"
		}
		shown = append(shown, r.at("at").text()+" "+r.at("n").number()+": "+state)
	}
	if !slices.Equal(logged, shown) {
		return "the log does not say that the receiver of step " + s.at("id").text() + " said so"
	}
	by := s.at("settledBy")
	n, settled := settledIn(c.proven, s)
	if settled.exists() != by.exists() {
		return "the log does not say that step " + s.at("id").text() + " was settled, or says so"
	}
	if !settled.exists() {
		return ""
	}
	words := "statement " + strconv.FormatInt(n, 10) + " of the receiver: "
	for _, r := range s.at("settlements").list() {
		if r.at("n").whole() != n {
			continue
		}
		if words += r.at("state").text(); r.at("state").text() == countersign.KeyDone {
			words += " " + r.at("statusCode").number()
		}
	}
	if settled.at("reason").text() != words+", signed with answer key "+by.at("keyId").text() || settled.at("at").text() != by.at("at").text() ||
		settled.at("actor").text() != countersign.SystemPrincipal || settled.at("digest").text() != s.at("requestDigest").text() {
		return "the log does not say that step " + s.at("id").text() + " was settled so"
	}
	return ""
}

// settledIn is the last record of a step's settling, and the number of the statement that it names.
func settledIn(log []proven, s node) (n int64, record node) {
	for _, p := range log {
		if p.about("steps.settle", s.at("id").text()) {
			record = p.node
			number, _, _ := strings.Cut(strings.TrimPrefix(p.at("reason").text(), "statement "), " ")
			n = node{json.Number(number)}.whole()
		}
	}
	return n, record
}
