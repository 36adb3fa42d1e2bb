package receipt

import (
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/assertion"
)

// Where an approval asks for it, each approval of it is signed with a passkey, whose
// registration the log has. What it asks for is what the log says that it asked for: no later
// change of the tenant's settings makes a receipt valid without the signatures.

// assertionOf reads the assertion of a decision or of its record.
func assertionOf(d node) *countersign.Assertion {
	a := d.at("assertion")
	return &countersign.Assertion{
		SignedAnswer: countersign.SignedAnswer{
			CredentialID: a.at("credentialId").text(), AuthenticatorData: a.at("authenticatorData").text(),
			ClientDataJSON: a.at("clientDataJSON").text(), Signature: a.at("signature").text(),
		},
		PublicKey: a.at("publicKey").text(), RPID: a.at("rpId").text(),
	}
}

// signed lists the decisions of all approvals that are signed.
func (c *claims) signed() (out []node) {
	for _, a := range c.approvals.list() {
		for _, d := range a.at("decisions").list() {
			if d.has("assertion") {
				out = append(out, d)
			}
		}
	}
	return out
}

// sameAssertion reports that a record and a decision have the same assertion, or none.
func sameAssertion(record, decision node) bool {
	a, b := record.at("assertion"), decision.at("assertion")
	if a.exists() != b.exists() {
		return false
	}
	for _, name := range []string{"credentialId", "authenticatorData", "clientDataJSON", "signature", "publicKey", "rpId"} {
		if a.at(name).text() != b.at(name).text() {
			return false
		}
	}
	return true
}

// registers reports the record in which a passkey was registered that signed a decision.
func (c *claims) registers(p proven) bool {
	return slices.ContainsFunc(c.signed(), func(d node) bool { return isRegistration(p, d) })
}

// isRegistration reports the record of the registration of a decision's passkey, by whoever
// decided.
func isRegistration(p proven, d node) bool {
	by, a, key := d.at("by").text(), d.at("assertion"), p.at("passkey")
	return p.seq == a.at("registration").whole() && p.about("passkeys.create", "") && p.at("actor").text() == by && p.at("subject").text() == subjectOf(by) &&
		key.at("credentialId").text() == a.at("credentialId").text() && key.at("publicKey").text() == a.at("publicKey").text() && key.at("rpId").text() == a.at("rpId").text()
}

// subjectOf is a user as a record names them as its subject; a token signs nothing.
func subjectOf(principal string) string {
	email, user := strings.CutPrefix(principal, "user:")
	if !user || email == "" {
		return "of nobody"
	}
	return "user/" + email
}

// lastDecision is the one that an approval names as its own; none of an earlier release.
func lastDecision(a node) node {
	given := a.at("decisions").list()
	if len(given) == 0 {
		return node{}
	}
	return given[len(given)-1]
}

// checkSigned checks the assertions of an approval whose digest is shown, and that none is
// missing. c.askedBy has the record of its request.
func (c *claims) checkSigned(a node) string {
	id, wants := a.at("id").text(), a.at("decisionAssertion")
	switch {
	case !c.proven[c.askedBy[id]].at("decisionAssertion").equal(wants):
		return "the log does not say that approval " + id + " asked for signatures so"
	case wants.exists() && wants.text() != countersign.DecisionAssertionPasskey:
		return "approval " + id + " asks for signatures of an unknown kind"
	case wants.exists() && ofOlder(a):
		return "approval " + id + " asks for signatures and lacks its decisions"
	}
	for _, d := range a.at("decisions").list() {
		if problem := c.checkAssertion(a, d, wants.exists()); problem != "" {
			return "the decision of " + d.at("by").text() + " on approval " + id + " " + problem
		}
	}
	return ""
}

func (c *claims) checkAssertion(a, d node, wanted bool) string {
	decision := countersign.ApprovalStatus(d.at("decision").text())
	if !d.has("assertion") {
		if wanted && decision == countersign.ApprovalApproved {
			return "is not signed with a passkey, as it must be"
		}
		return ""
	}
	_, err := assertion.Check(assertion.Decision{
		ApprovalID: a.at("id").text(), RequestDigest: a.at("requestDigest").text(), StateDigest: d.at("stateDigest").text(), Decision: decision, Reason: c.reasonOf(a, d),
	}, assertionOf(d))
	switch {
	case err != nil:
		return "has a signature that does not hold: " + err.Error()
	case !c.registeredBefore(a, d):
		return "is signed with a passkey whose registration by them the log does not prove before it"
	}
	return ""
}

// registeredBefore reports that the log has the registration of a decision's passkey before
// the decision.
func (c *claims) registeredBefore(a, d node) bool {
	registered := false
	for _, p := range c.proven {
		registered = registered || isRegistration(p, d)
		if p.says("approvals.decide", a.at("stepId").text(), a.at("requestDigest").text()) && sameAssertion(p.node, d) {
			return registered
		}
	}
	return false
}
