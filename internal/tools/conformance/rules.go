// Package conformance calls a project's sandbox as the service would, and reports which of
// the rules for receivers hold (specification 4 rule 7, 5.2 and 7). It makes its calls with
// the same [request.Build] and [signature.Sign] as the service, and makes some of them wrong
// on purpose.
//
// The verdict on a rule is HOLDS or BROKEN if the answers show it, and NOT_TRIED if they show
// neither: a receiver that refuses everything doesn't prove that it verifies signatures.
package conformance

import (
	"slices"

	"github.com/countersign/countersign"
)

// Rule is one rule with its sentence and its verdict.
type Rule struct {
	Name     string `json:"name"`
	Sentence string `json:"sentence"`
	Verdict  string `json:"verdict"`
	Seen     string `json:"seen"`
}

// sentences say what each rule requires of a receiver.
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
	countersign.RuleSignsAnswers:           "The answer to a right call, a repeated one and a refusal by its handler are signed with an answer key of the project; what anybody could draw from it, 401 and the like, is not.",
	countersign.RuleTellsFate:              "Asked what became of a key, it says DONE with the answer that it gave, and UNSEEN of a key that it never saw, with signatures, and since when its memory has forgotten nothing.",
	countersign.RuleWithdraws:              "A key that it never saw is withdrawn for ever: a later call under it gets 410 key_withdrawn. A key that it knows isn't.",
	countersign.RuleEffectOnce:             "The capability's probe reads the same after the repeats as before.",
}

// rulesFor returns the rules that apply to a capability's receiver, in the order of the
// report.
func rulesFor(p *countersign.Project, c *countersign.Capability, auths []countersign.Auth) []string {
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
	if len(p.AnswerKeys) > 0 {
		names = append(names, countersign.RuleSignsAnswers)
	}
	if p.Settlement != nil && c.HasSideEffect() {
		names = append(names, countersign.RuleTellsFate, countersign.RuleWithdraws)
	}
	return names
}

// Report is the result of a check.
type Report struct {
	Capability string `json:"capability"`
	Target     string `json:"target"`
	RunID      string `json:"runId"`      // every idempotency key begins with it
	SideEffect bool   `json:"sideEffect"` // without it the rules for repeated requests are not tried
	Proven     bool   `json:"proven"`
	Rules      []Rule `json:"rules"`
}

// newReport makes a report with every rule NOT_TRIED.
func newReport(names []string) *Report {
	r := &Report{}
	for _, name := range names {
		r.Rules = append(r.Rules, Rule{Name: name, Sentence: sentences[name], Verdict: countersign.VerdictNotTried})
	}
	return r
}

// finding is a verdict and its reason.
type finding struct{ verdict, seen string }

func holds(seen string) finding    { return finding{countersign.VerdictHolds, seen} }
func broken(seen string) finding   { return finding{countersign.VerdictBroken, seen} }
func notTried(seen string) finding { return finding{countersign.VerdictNotTried, seen} }

// of returns the rule of a name, which must be in the report.
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

// Broken reports whether the receiver breaks a rule.
func (r *Report) Broken() bool {
	for _, rule := range r.Rules {
		if rule.Verdict == countersign.VerdictBroken {
			return true
		}
	}
	return false
}

// Verdicts are the verdicts in the form in which the service records them.
func (r *Report) Verdicts() []countersign.RuleVerdict {
	out := make([]countersign.RuleVerdict, len(r.Rules))
	for i, rule := range r.Rules {
		out[i] = countersign.RuleVerdict{Name: rule.Name, Verdict: rule.Verdict, Seen: rule.Seen}
	}
	return out
}
