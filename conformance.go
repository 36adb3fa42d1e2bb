package countersign

import (
	"slices"
	"time"
)

// The rules of a receiver (specification 4, rules 7 and 8, and 5.2) that
// `countersign check-receiver` tries. Their names are stable.
const (
	RuleAcceptsSigned          = "accepts-signed"
	RuleRefusesUnsigned        = "refuses-unsigned"
	RuleRefusesWrongSignature  = "refuses-wrong-signature"
	RuleRefusesChangedBody     = "refuses-changed-body"
	RuleRefusesChangedTarget   = "refuses-changed-target"
	RuleRefusesOldTimestamp    = "refuses-old-timestamp"
	RuleRefusesFutureTimestamp = "refuses-future-timestamp"
	RuleRefusesNoCredential    = "refuses-no-credential"
	RuleRefusesWrongCredential = "refuses-wrong-credential"
	RuleSameKeySameBody        = "same-key-same-body"
	RuleSameKeyOtherBody       = "same-key-other-body"
	RuleSlowAnswer             = "slow-answer"
	RuleTwins                  = "twins"
	RuleEffectOnce             = "effect-once"
	RuleSignsAnswers           = "signs-answers"
	RuleTellsFate              = "tells-fate"
	RuleWithdraws              = "withdraws"
)

// Verdicts on a rule.
const (
	VerdictHolds    = "HOLDS"
	VerdictBroken   = "BROKEN"
	VerdictNotTried = "NOT_TRIED"
)

// RuleVerdict says whether a receiver keeps one rule.
type RuleVerdict struct {
	Name    string `json:"name" enum:"accepts-signed,refuses-unsigned,refuses-wrong-signature,refuses-changed-body,refuses-changed-target,refuses-old-timestamp,refuses-future-timestamp,refuses-no-credential,refuses-wrong-credential,same-key-same-body,same-key-other-body,slow-answer,twins,effect-once,signs-answers,tells-fate,withdraws"`
	Verdict string `json:"verdict" enum:"HOLDS,BROKEN,NOT_TRIED"`
	Seen    string `json:"seen,omitempty" maxLength:"500" doc:"statuses and digests, or why it was not tried; never a secret"`
}

// ConformanceWrite is the body of POST /projects/{id}/conformance: what somebody
// saw when they tried one capability's receiver.
type ConformanceWrite struct {
	ExpectedRevision int64         `json:"expectedRevision" minimum:"1" doc:"the project's present revision"`
	Capability       string        `json:"capability" minLength:"1" maxLength:"128"`
	Target           string        `json:"target" maxLength:"300" doc:"origin of the sandbox that was tried"`
	Rules            []RuleVerdict `json:"rules" minItems:"1" maxItems:"20" nullable:"false"`
}

// Conformance is what is known of a capability's receiver at one revision of its
// project. Without one, `idempotent` is only declared.
type Conformance struct {
	Capability    string        `json:"capability"`
	Proven        bool          `json:"proven" doc:"the rules show that the receiver deduplicates"`
	CheckedAt     time.Time     `json:"checkedAt" doc:"when it was recorded, by the server's clock"`
	CheckedBy     string        `json:"checkedBy" doc:"who recorded it"`
	CheckedByName string        `json:"checkedByName,omitempty" since:"3" doc:"a token's name, or a user's"`
	Target        string        `json:"target"`
	Rules         []RuleVerdict `json:"rules" nullable:"false"`
}

// Proves reports whether the verdicts show that a receiver deduplicates: it took
// the call, and each rule of repetition holds. An effect that nothing can read
// isn't held against it; one that was seen twice is.
func Proves(rules []RuleVerdict) bool {
	for _, name := range []string{RuleAcceptsSigned, RuleSameKeySameBody, RuleSameKeyOtherBody, RuleSlowAnswer, RuleTwins} {
		if verdictOn(rules, name) != VerdictHolds {
			return false
		}
	}
	return verdictOn(rules, RuleEffectOnce) != VerdictBroken
}

// verdictOn is that on the rule of this name, "" where there is none.
func verdictOn(rules []RuleVerdict, name string) string {
	i := slices.IndexFunc(rules, func(r RuleVerdict) bool { return r.Name == name })
	if i < 0 {
		return ""
	}
	return rules[i].Verdict
}

// ConformanceOf finds what is known of a capability's receiver, nil for nothing.
func (p *Project) ConformanceOf(capability string) *Conformance {
	for i := range p.Conformance {
		if p.Conformance[i].Capability == capability {
			return &p.Conformance[i]
		}
	}
	return nil
}
