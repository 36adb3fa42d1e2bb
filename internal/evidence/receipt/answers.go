package receipt

import (
	"crypto/ed25519"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/signature"
)

// An answer that its receiver has signed is more than the service's word: its bytes are in the
// receipt, and what the step says of it is computed from them (contract 12.6).

// SignedAnswer is an answer that is verified to be its receiver's own.
type SignedAnswer struct {
	StepID    string `json:"stepId"`
	Statement int64  `json:"statement,omitempty"` // of what the receiver said of the step's key: its number
	KeyID     string `json:"keyId"`
	KeyFrom   string `json:"keyFrom"`
}

// Where the key of a signed answer was taken from.
const (
	KeyFromLog    = "log"    // the audit record that registered it
	KeyFromReader = "reader" // the reader knew it
)

// checkAnswers verifies each signed answer, and that the step is what follows from it. It comes
// after checkAudit: the log has the keys.
func (c *claims) checkAnswers() string {
	for _, s := range c.steps() {
		for _, check := range []func(node) string{c.claimsNothingUnsigned, c.checkAnswer, c.checkStatements, c.checkSettled} {
			if problem := check(s); problem != "" {
				return "step " + s.at("id").text() + " " + problem
			}
		}
	}
	return c.signsSomething()
}

// signsSomething: a reader who knows the keys of an API is shown an answer that one of them signed,
// where answers ended steps.
func (c *claims) signsSomething() string {
	if len(c.known.AnswerKeys) == 0 || len(c.answers) > 0 || c.unshown > 0 || !c.live() {
		return ""
	}
	for _, s := range c.steps() {
		if endedByAnswer(s) && !endedByPerson(s) && !s.at("settledBy").exists() && c.lastSending(s) >= 0 {
			return "step " + s.at("id").text() + " was ended by an answer, and the receipt has none that one of the given keys signed"
		}
	}
	return ""
}

// evidence is what shows that a receiver signed an answer, beside its request.
type evidence struct {
	signed               node // {timestamp, signature, bodyBase64}
	key, method, target  string
	requestBody          string
	status               int
	project, claimsKeyID string
	before               int // the key is registered by a record before this one
}

// verify says by which key an answer was signed, and gives its body.
func (c *claims) verify(e evidence) (by signature.AnsweredBy, from string, body []byte, problem string) {
	text := e.signed.at("bodyBase64").text()
	body, err := base64.StdEncoding.DecodeString(text)
	if err != nil || base64.StdEncoding.EncodeToString(body) != text {
		return by, "", nil, "has an answer whose body is not in base64"
	}
	keys, from := c.known.AnswerKeys, KeyFromReader
	if len(keys) == 0 {
		keys, from = c.registered(e.project, e.before), KeyFromLog
	}
	by, err = signature.VerifyAnswer(keys, signature.Answer{
		IdempotencyKey: e.key, Timestamp: e.signed.at("timestamp").text(), Method: e.method, PathAndQuery: e.target,
		BodySHA256: countersign.SHA256Hex([]byte(e.requestBody)), Status: e.status, AnswerSHA256: countersign.SHA256Hex(body),
	}, []string{e.signed.at("signature").text()})
	switch {
	case err == nil && by.KeyID == e.claimsKeyID:
		return by, from, body, ""
	case from == KeyFromReader:
		return by, "", nil, "has an answer that none of the given keys signed as it says"
	default:
		return by, "", nil, "has an answer that no key signed as it says which the log registers before it"
	}
}

// registered are the answer keys that the log registers for a project before a record.
func (c *claims) registered(project string, before int) (keys []ed25519.PublicKey) {
	for _, p := range c.proven[:max(0, before)] {
		if !p.done() || p.at("subject").text() != "project/"+project {
			continue
		}
		for _, text := range p.at("answerKeys").list() {
			if key, err := signature.ParseAnswerKey(text.text()); err == nil {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// registersAnswers reports a record that registered a key by which an answer in the receipt is
// said to be signed.
func (c *claims) registersAnswers(p proven) bool {
	return p.done() && slices.ContainsFunc(c.steps(), func(s node) bool {
		return p.at("subject").text() == "project/"+s.at("projectId").text() && slices.ContainsFunc(p.at("answerKeys").list(), func(text node) bool {
			key, err := signature.ParseAnswerKey(text.text())
			return err == nil && slices.Contains(answerKeyIDs(s), signature.AnswerKeyID(key))
		})
	})
}

// answerKeyIDs are the keys that a step names for answers whose evidence it shows.
func answerKeyIDs(s node) (ids []string) {
	if s.at("response").at("signed").exists() {
		ids = append(ids, s.at("answeredBy").at("keyId").text())
	}
	for _, r := range s.at("settlements").list() {
		if r.at("valid").isTrue() && r.at("signed").exists() {
			ids = append(ids, r.at("keyId").text())
		}
	}
	return ids
}

// lastSending is the record of a step's last sending, -1 for none.
func (c *claims) lastSending(s node) int {
	last := -1
	for i, p := range c.proven {
		if p.about("step.send", s.at("id").text()) {
			last = i
		}
	}
	return last
}

// ofStep is the evidence of the answer to a step's own request.
func (c *claims) ofStep(s node) evidence {
	response := s.at("response")
	return evidence{
		signed: response.at("signed"), key: s.at("idempotencyKey").text(), method: s.at("request").at("method").text(), target: targetOf(s.at("request").at("url").text()),
		requestBody: c.digests[s.at("requestDigest").text()].at("body").text(), status: int(response.at("statusCode").whole()),
		project: s.at("projectId").text(), claimsKeyID: s.at("answeredBy").at("keyId").text(), before: c.lastSending(s),
	}
}

// targetOf is the path and query of a url as they stand in the request line.
func targetOf(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return ""
}

// checkAnswer verifies the answer to a step's last sending.
func (c *claims) checkAnswer(s node) string {
	by, response := s.at("answeredBy"), s.at("response")
	switch {
	case !by.exists() && !response.at("signed").exists():
		return ""
	case !by.exists():
		return "has a signed answer and doesn't say by whom"
	case !c.live() || by.at("keyId").text() == "" || by.at("at").moment() == "":
		return "doesn't say by whom it was answered, and when"
	case !response.at("signed").exists() || c.hides(s):
		c.unshown++
		return ""
	}
	found, from, body, problem := c.verify(c.ofStep(s))
	switch {
	case problem != "":
		return problem
	case by.at("at").moment() != momentOf(found.At):
		return "was answered at another time than its receiver signed"
	case response.at("bodySha256").text() != countersign.SHA256Hex(body) || response.at("bytes").number() != strconv.Itoa(len(body)):
		return "has another bodySha256 or length than the answer that was signed"
	}
	c.answers = append(c.answers, SignedAnswer{StepID: s.at("id").text(), KeyID: found.KeyID, KeyFrom: from})
	return c.asAnswered(s, body)
}

// claimsNothingUnsigned: where the log says that an answer counts only if it is signed, one that
// ended the step is.
func (c *claims) claimsNothingUnsigned(s node) string {
	code := s.at("error").at("code").text()
	settled := s.at("settledBy").exists()
	if code == string(countersign.CodeWithdrawn) && !settled && !s.at("answeredBy").exists() {
		return "is said to be withdrawn, which no receiver has signed"
	}
	sent := c.lastSending(s)
	if sent < 0 || settled || endedByPerson(s) || !endedByAnswer(s) {
		return ""
	}
	wanted := texts(c.proven[sent].at("answerKeys"))
	signs := func(text string) bool {
		key, err := signature.ParseAnswerKey(text)
		return err == nil && signature.AnswerKeyID(key) == s.at("answeredBy").at("keyId").text()
	}
	if len(wanted) > 0 && !slices.ContainsFunc(wanted, signs) {
		return "was sent where only a signed answer counts, and ended by one that none of the keys of then signed"
	}
	return ""
}

// endedByAnswer reports a step whose status only an answer gives.
func endedByAnswer(s node) bool {
	switch countersign.Code(s.at("error").at("code").text()) {
	case countersign.CodeReceiverRefused, countersign.CodeOutputMissing, countersign.CodeExpectationNotMet, countersign.CodeWithdrawn:
		return true
	}
	return s.at("status").text() == string(countersign.StepCompleted)
}

// endedByPerson reports a step that a person's resolution ended, and no answer.
func endedByPerson(s node) bool {
	status := s.at("status").text()
	switch s.at("reconciliation").at("resolution").text() {
	case countersign.ConfirmedNotExecuted: // else it was sent again
		return status == string(countersign.StepCancelled) && s.at("error").at("code").text() == "" || s.at("error").at("code").text() == string(countersign.CodeNotExecuted)
	case "":
		return false
	}
	return status == string(countersign.StepCompleted) || status == string(countersign.StepAbandoned)
}
