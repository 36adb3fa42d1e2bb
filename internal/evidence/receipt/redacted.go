package receipt

import (
	"strings"

	"github.com/countersign/countersign"
)

// A redacted run has its digests, and not what they are of: its receipt is masked, and says that it
// is redacted. Reasons stand in the log alone, which proves who redacted the run, and when.

func (c *claims) redacted() bool { return c.statement.at("redacted").isTrue() }

// checkRedacted compares what the statement says of a redaction with the run and the log.
func (c *claims) checkRedacted() string {
	by, says := c.run.at("redacted"), c.statement.has("redacted")
	switch {
	case says && (!c.redacted() || !c.masked() || c.format == Format):
		return "redacted can only be true, of a masked receipt of a later format"
	case by.exists() != says:
		return "it says otherwise than the run whether that was redacted"
	case says && by.at("at").moment() == "":
		return "the run was redacted at no time in UTC"
	}
	return ""
}

// checkRedaction finds the record of the redaction, one of each run that was redacted.
func (c *claims) checkRedaction() string {
	by, found := c.run.at("redacted"), 0
	for _, p := range c.proven {
		if !p.about("runs.redact", "") {
			continue
		}
		found++
		if !c.redacted() || p.at("actor").text() != by.at("by").text() || p.at("at").text() != by.at("at").text() {
			return "the log does not say that the run was redacted so"
		}
	}
	if c.redacted() && found != 1 {
		return "the log does not say that the run was redacted so"
	}
	return ""
}

// saysReason reports that a record has the reason that is shown, or that redaction has left none of it.
func (c *claims) saysReason(p proven, shown string) bool {
	return p.at("reason").text() == shown || c.redacted() && shown == countersign.RedactedText
}

// saysAround is saysReason for a reason with something before and behind it.
func (c *claims) saysAround(p proven, before, shown, behind string) bool {
	said := p.at("reason").text()
	if c.redacted() && shown == countersign.RedactedText {
		return len(said) >= len(before)+len(behind) && strings.HasPrefix(said, before) && strings.HasSuffix(said, behind)
	}
	return said == before+shown+behind
}

// reasonOf is the reason that somebody gave with a decision: where redaction has left none, the one
// that its record has.
func (c *claims) reasonOf(a, d node) string {
	shown := d.at("reason").text()
	if !c.redacted() || shown != countersign.RedactedText {
		return shown
	}
	for _, p := range c.proven {
		if p.says("approvals.decide", a.at("stepId").text(), a.at("requestDigest").text()) && p.at("actor").text() == d.at("by").text() &&
			p.at("at").moment() == d.at("at").moment() && sameAssertion(p.node, d) {
			return p.at("reason").text()
		}
	}
	return shown
}
