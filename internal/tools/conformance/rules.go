// Package conformance plays the service against a project's sandbox and says
// which of the rules that receivers owe it hold (specification 4 rule 7, 5.2 and
// 7). It makes its calls with the same [request.Build] and [signature.Sign] as the
// service, and some of them wrong on purpose.
//
// A rule HOLDS or is BROKEN by what was seen, and is NOT_TRIED where what was seen
// shows neither: a receiver that refuses everything doesn't prove that it checks
// signatures.
package conformance

import (
	"slices"

	"github.com/countersign/countersign"
)

// Rule is one rule, the words for it, and what came of it.
type Rule struct {
	Name     string `json:"name"`
	Sentence string `json:"sentence"`
	Verdict  string `json:"verdict"`
	Seen     string `json:"seen"`
}

// sentences say what each rule asks of a receiver.
var sentences = map[string]string{
	countersign.RuleAcceptsSigned:          "A right call is answered with 2xx and JSON, or nothing, within the capability's time.",
	countersign.RuleRefusesUnsigned:        "A call without a signature is refused.",
	countersign.RuleRefusesWrongSignature:  "A call signed with another secret is refused.",
	countersign.RuleRefusesChangedBody:     "A call whose body is not the signed one is refused.",
	countersign.RuleRefusesChangedTarget:   "A call whose path or query is not the signed one is refused.",
	countersign.RuleRefusesOldTimestamp:    "A call signed ten minutes ago is refused.",
	countersign.RuleRefusesFutureTimestamp: "A call signed ten minutes ahead is refused.",
	countersign.RuleRefusesNoCredential:    "A call without the credential is refused.",
	countersign.RuleRefusesWrongCredential: "A call with another credential is refused.",
	countersign.RuleSameKeySameBody:        "The same key and body get the same answer again.",
	countersign.RuleSameKeyOtherBody:       "The same key with another body gets 409.",
	countersign.RuleSlowAnswer:             "Whoever hung up before the answer gets it under the same key, and no second effect.",
	countersign.RuleTwins:                  "Two calls at once under one key get one answer: both the same, or one of them 409.",
	countersign.RuleEffectOnce:             "The capability's probe reads the same after the repeats as before.",
}

// rulesFor are the rules that a capability's receiver is tried by, in the order
// of the report.
func rulesFor(c *countersign.Capability, auths []countersign.Auth) []string {
	names := []string{countersign.RuleAcceptsSigned}
	for _, f := range forgeriesOf(auths) {
		if !slices.Contains(names, f.rule) {
			names = append(names, f.rule)
		}
	}
	if c.HasSideEffect() {
		names = append(names, countersign.RuleSameKeySameBody, countersign.RuleSameKeyOtherBody,
			countersign.RuleSlowAnswer, countersign.RuleTwins, countersign.RuleEffectOnce)
	}
	return names
}

// Report is what a check came to.
type Report struct {
	Capability string `json:"capability"`
	Target     string `json:"target"`
	RunID      string `json:"runId"`      // begins every key that was sent
	SideEffect bool   `json:"sideEffect"` // of a read no rule of repetition is tried
	Proven     bool   `json:"proven"`
	Rules      []Rule `json:"rules"`
}

// newReport has every rule still untried.
func newReport(names []string) *Report {
	r := &Report{}
	for _, name := range names {
		r.Rules = append(r.Rules, Rule{Name: name, Sentence: sentences[name], Verdict: countersign.VerdictNotTried})
	}
	return r
}

// finding is a verdict and what led to it.
type finding struct{ verdict, seen string }

func holds(seen string) finding    { return finding{countersign.VerdictHolds, seen} }
func broken(seen string) finding   { return finding{countersign.VerdictBroken, seen} }
func notTried(seen string) finding { return finding{countersign.VerdictNotTried, seen} }

// of is the rule of a name, which the report must have.
func (r *Report) of(name string) *Rule {
	for i := range r.Rules {
		if r.Rules[i].Name == name {
			return &r.Rules[i]
		}
	}
	panic("conformance: the report has no rule " + name)
}

func (r *Report) set(name string, f finding) {
	rule := r.of(name)
	rule.Verdict, rule.Seen = f.verdict, f.seen
}

// Broken reports that the receiver breaks a rule.
func (r *Report) Broken() bool {
	for _, rule := range r.Rules {
		if rule.Verdict == countersign.VerdictBroken {
			return true
		}
	}
	return false
}

// Verdicts are the rules as the service records them.
func (r *Report) Verdicts() []countersign.RuleVerdict {
	out := make([]countersign.RuleVerdict, len(r.Rules))
	for i, rule := range r.Rules {
		out[i] = countersign.RuleVerdict{Name: rule.Name, Verdict: rule.Verdict, Seen: rule.Seen}
	}
	return out
}
