package receipt

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/precondition"
)

// The reads that were made for a step's precondition: each has its records, and each sending rests on
// the last of them.

// checkLooks compares the looks of each step with its precondition and with the log.
func (c *claims) checkLooks() string {
	if c.masked() {
		return ""
	}
	for _, s := range c.steps() {
		if problem := cmp.Or(c.asLooked(s), c.lookRecords(s)); problem != "" {
			return "step " + s.at("id").text() + " " + problem
		}
	}
	return ""
}

// checkSendings compares what was sent with what was looked at, and on what it was approved.
func (c *claims) checkSendings() string {
	if c.masked() {
		return ""
	}
	for _, s := range c.steps() {
		if problem := c.sentOnState(s); problem != "" {
			return "step " + s.at("id").text() + " " + problem
		}
	}
	return ""
}

// asLooked checks the looks of a step by themselves.
func (c *claims) asLooked(s node) string {
	pre, would := c.capability(s).at("precondition"), s.at("wouldCheck")
	simulated := s.at("status").text() == string(countersign.StepSimulated)
	looks := s.at("looks").list()
	switch {
	case would.exists() != (pre.exists() && simulated):
		return "says what would be looked at where nothing would, or doesn't say it"
	case would.exists() && (would.at("capability").text() != pre.at("capability").text() || !would.at("fields").equal(pre.at("fields")) || !would.at("when").equal(pre.at("when"))):
		return "says that something else would be looked at than its precondition"
	case (len(looks) > 0 || s.at("stateDigest").text() != "" || s.at("askedAgain").whole() > 0) && (!c.live() || !pre.exists()):
		return "was looked at, and its capability has no precondition"
	}
	for i, l := range looks {
		digest := l.at("stateDigest").text()
		switch {
		case l.at("n").whole() != int64(i)+1 || l.at("capability").text() != pre.at("capability").text() || l.at("at").moment() == "":
			return "has a look that is not one of its precondition, with a number and at a time"
		case l.has("values") && (!c.isState(pre, l) || stateDigestOf(l) != digest):
			return "shows another state than the one of its look's stateDigest"
		case digest != "" && c.found(s, digest).v == nil:
			return "has a look whose state it does not show"
		case digest == "" && l.at("error").text() == "" && l.at("statusCode").whole() > 0:
			return "has a look that was answered, and does not say what it found"
		}
	}
	if max(0, s.at("askedAgain").whole()) != c.askedAgain(s) {
		return "says that it was asked for anew as often as it was not"
	}
	return ""
}

// found is the first look of a step that shows a state.
func (c *claims) found(s node, digest string) node {
	for _, l := range s.at("looks").list() {
		if l.has("values") && l.at("stateDigest").text() == digest {
			return l
		}
	}
	return node{}
}

// askedAgain is how often approval of a step's next sending was asked for anew since the state had
// changed.
func (c *claims) askedAgain(s node) (n int64) {
	for _, a := range c.approvals.list() {
		if a.at("stepId").text() == s.at("id").text() && a.at("attempt").whole() == s.at("attempt").whole()+1 {
			n = max(0, a.at("askedAgain").whole())
		}
	}
	return n
}

// lookRecords compares each look with the records of its intent and of what came of it; there are
// no others.
func (c *claims) lookRecords(s node) string {
	id, intents, ends := s.at("id").text(), 0, 0
	for _, p := range c.proven {
		if p.about("steps.look", id) || p.about("approvals.look", id) {
			intents++
		} else if p.about("steps.looked", id) {
			ends++
		}
	}
	for _, l := range s.at("looks").list() {
		key := s.at("idempotencyKey").text() + "~look-" + l.at("n").number()
		action, actor, came := "steps.look", countersign.SystemPrincipal, l.at("error").text()
		if by := l.at("by").text(); by != "" {
			action, actor = "approvals.look", by
		}
		if came == "" {
			came = "answered " + l.at("statusCode").number()
		}
		begun := c.lookRecord(0, action, id, actor, key, l, "")
		if begun < 0 || c.proven[begun].at("at").moment() != l.at("at").moment() {
			return "has a look of which the log does not say that it was let out so"
		}
		if l.at("error").text() == "" && l.at("stateDigest").text() == "" {
			continue // nobody knows what came of it
		}
		if c.lookRecord(begun, "steps.looked", id, actor, key+": "+came, l, l.at("stateDigest").text()) < 0 {
			return "has a look that found something else than the log says"
		}
		ends--
	}
	if intents != len(s.at("looks").list()) || ends != 0 {
		return "was looked at more often than it says, as the log has it"
	}
	return ""
}

// lookRecord is the place of a record about a look, from another place on; -1 for none.
func (c *claims) lookRecord(from int, action, step, actor, reason string, look node, stateDigest string) int {
	i := slices.IndexFunc(c.proven[from:], func(p proven) bool {
		return p.says(action, step, look.at("requestDigest").text()) && p.at("actor").text() == actor && p.at("reason").text() == reason && p.at("stateDigest").text() == stateDigest
	})
	if i < 0 {
		return -1
	}
	return from + i
}

// sentOnState checks that each sending of a step rests on a look of ten seconds before at most, on what
// must be so, and where it needed approval on one of the very state that the look found.
func (c *claims) sentOnState(s node) string {
	pre := c.capability(s).at("precondition")
	id, sending, last := s.at("id").text(), int64(0), ""
	for i, p := range c.proven {
		if !p.about("step.send", id) {
			continue
		}
		sending++
		last = p.at("stateDigest").text()
		switch {
		case !pre.exists() && last == "":
		case !pre.exists():
			return "was sent on a state, as the log says, and its capability has no precondition"
		case last == "" || !c.lookedBefore(id, last, i):
			return "was sent, and the log does not say that this state was read within ten seconds before"
		case c.gated(s) && !c.approvedOn(s, sending, last, i):
			return "was sent on another state than the one that was approved"
		case !holdsOver(pre, c.found(s, last)):
			return "was sent on a state in which what must be so does not hold"
		}
	}
	if last != s.at("stateDigest").text() {
		return "says that it was sent on another state than the log"
	}
	return ""
}

func holdsOver(pre, look node) bool {
	if !pre.at("when").exists() {
		return look.exists()
	}
	when := condition(pre.at("when"))
	holds, known := precondition.Holds(cost.New(nil, cost.Most, 0), &countersign.Precondition{When: &when}, valuesOf(look.at("values")))
	return look.exists() && holds && known
}

// lookedBefore reports that the last look before a sending found this state, and began ten seconds
// before at most.
func (c *claims) lookedBefore(id, digest string, sending int) bool {
	for i := sending - 1; i >= 0; i-- {
		p := c.proven[i]
		if !p.about("steps.looked", id) || p.at("actor").text() != countersign.SystemPrincipal {
			continue
		}
		key, came, _ := strings.Cut(p.at("reason").text(), ": ")
		return p.at("stateDigest").text() == digest && strings.HasPrefix(came, "answered ") && c.beganBefore(id, key, i, sending)
	}
	return false
}

func (c *claims) beganBefore(id, key string, looked, sending int) bool {
	for i := looked - 1; i >= 0; i-- {
		if p := c.proven[i]; p.about("steps.look", id) && p.at("reason").text() == key {
			began, err := time.Parse(time.RFC3339Nano, p.at("at").text())
			sent, err2 := time.Parse(time.RFC3339Nano, c.proven[sending].at("at").text())
			return err == nil && err2 == nil && sent.Sub(began) <= countersign.MaxLookAge
		}
	}
	return false
}

// approvedOn reports an approval of this state that was decided before the sending, and that no other
// one has taken the place of.
func (c *claims) approvedOn(s node, attempt int64, digest string, sending int) bool {
	for _, a := range c.letOut(s, attempt) {
		decided, ok := c.decidedBy[a.at("id").text()]
		if ok && decided < sending && a.at("stateDigest").text() == digest && !a.at("superseded").isTrue() {
			return true
		}
	}
	return false
}
