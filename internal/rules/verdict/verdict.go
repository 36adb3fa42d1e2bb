// Package verdict combines what approval policies, rules and budgets say of a step. It is
// pure.
package verdict

import "github.com/countersign/countersign"

// What may be said of a step, the mildest first.
const (
	Allow = "ALLOW"
	Ask   = "ASK"
	Deny  = "DENY"
)

// Verdict is what one of them says, and why. Code is the error of a denied step.
type Verdict struct {
	Then    string
	Code    countersign.Code
	Reasons []string
}

var severity = map[string]int{Allow: 0, Ask: 1, Deny: 2}

// Severest combines verdicts: DENY over ASK over ALLOW. Of equal ones all reasons count,
// and the code of the first. Without any it is ALLOW.
func Severest(all ...Verdict) Verdict {
	out := Verdict{Then: Allow}
	for _, v := range all {
		switch {
		case severity[v.Then] > severity[out.Then]:
			out = Verdict{v.Then, v.Code, append([]string(nil), v.Reasons...)}
		case v.Then == out.Then:
			if out.Code == "" {
				out.Code = v.Code
			}
			out.Reasons = append(out.Reasons, v.Reasons...)
		}
	}
	return out
}
