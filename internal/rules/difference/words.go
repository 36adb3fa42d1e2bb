package difference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// Told are the places in which a change differs from what stands, what weakens first. weaker are
// the paths that weaken, each with what is below it; where none of them meets a place that differs,
// each counts: what weakens must not be shown as if it didn't.
func Told(was, now countersign.Value, weaker []string) []countersign.ChangeDifference {
	all := Between(was, now)
	any := slices.ContainsFunc(all, func(d Difference) bool { return weakens(d.Path, weaker) })
	out := make([]countersign.ChangeDifference, len(all))
	for i, d := range all {
		out[i] = countersign.ChangeDifference{Path: d.Path, Was: d.Was, Now: d.Now, Weakens: !any || weakens(d.Path, weaker), Text: d.words()}
	}
	slices.SortStableFunc(out, func(a, b countersign.ChangeDifference) int { return order(a.Weakens) - order(b.Weakens) })
	return out
}

func order(weakens bool) int {
	if weakens {
		return 0
	}
	return 1
}

func weakens(path string, weaker []string) bool {
	return slices.ContainsFunc(weaker, func(w string) bool {
		return path == w || strings.HasPrefix(path, w+".") || strings.HasPrefix(w, path+".")
	})
}

// labels are what the last name of a path is called. What isn't here is called by its path.
var labels = map[string]string{
	"approval": "whether a person is asked", "approvalRules": "the approval rules", "budgets": "the budgets", "expectation": "what the answer must say",
	"baseUrl": "where calls go", "headers": "the fixed headers", "auth": "how calls are authenticated", "probe": "the read that finds out",
	"sideEffect": "whether it changes something", "idempotent": "whether a repeat does nothing more", "sensitive": "what is hidden from viewers",
	"answerKeys": "the keys that sign answers", "settlement": "how unknown outcomes are settled", "roles": "the roles", "projectIds": "the projects",
	"members": "the members", "claim": "the provider's claim whose users are members", "decisionAssertion": "whether approvals are signed with a passkey",
	"weakening": "who decides changes that weaken", "identities": "by whose tokens a caller is the agent", "inputSchema": "the inputs",
	"delegate": "who decides in their place", "until": "until when", "from": "from when", "modes": "the modes", "agentIds": "the agents",
	"expiresInDays": "how many days it lives", "userEmail": "the user behind it", "name": "the name", "link": "the sign-in link",
	"hold": "the hold that keeps the run", "redacted": "what the run holds",
}

// values are what some values mean, by the last name of their path.
var values = map[string]map[string]string{
	"approval": {`"NONE"`: "nobody is asked", `"RISK_BASED"`: "a person is asked where a repeat may do harm", `"ALWAYS"`: "a person is asked each time"},
	"redacted": {`true`: "removed for good", `false`: "all of it is there"},
}

// words say a difference to people: what will be, then what is today.
func (d Difference) words() string {
	place, last := d.place()
	if d.Was.IsZero() {
		return fmt.Sprintf("%s: %s. Today there is none.", place, said(last, d.Now))
	}
	if d.Now.IsZero() {
		return fmt.Sprintf("%s: none any more. Today %s.", place, said(last, d.Was))
	}
	return fmt.Sprintf("%s: %s. Today %s.", place, said(last, d.Now), said(last, d.Was))
}

// place names a path, and the last name in it that has a label.
func (d Difference) place() (text, last string) {
	parts := d.names
	if len(parts) == 0 {
		return "all of it", ""
	}
	if parts[0] == "capabilities" && len(parts) > 1 {
		text, parts = safetext.Escaped(parts[1])+", ", parts[2:]
		if len(parts) == 0 {
			return "the capability " + strings.TrimSuffix(text, ", "), ""
		}
	}
	label, known := labels[parts[0]]
	switch {
	case known && len(parts) == 1:
		return text + label, parts[0]
	case known:
		return text + label + " (" + safetext.Escaped(strings.Join(parts[1:], ".")) + ")", parts[len(parts)-1]
	}
	return text + safetext.Escaped(strings.Join(parts, ".")), parts[len(parts)-1]
}

func said(last string, v countersign.Value) string {
	if word, known := values[last][v.Raw()]; known {
		return word
	}
	return safetext.Escaped(short(v.Raw()))
}
