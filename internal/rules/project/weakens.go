package project

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/gate"
)

// Weakens reports whether a project's edit permits requests that needed approval
// before, changes how they are checked, or what goes out with all of them unseen in their
// inputs: see the two tables below. known returns the capability of a name before this
// edit, the latest one if an earlier edit removed it; nil for a new one. Where the meter comes
// to its end before all is compared, the edit counts as one that weakens.
func Weakens(m *cost.Meter, before, after *countersign.Project, known func(name string) *countersign.Capability) bool {
	for _, weakens := range projectFields {
		if weakens != nil && weakens(before, after) {
			return true
		}
	}
	looser := func(was, now *countersign.Capability) bool { return looser(m, was, now) }
	for i := range after.Capabilities {
		now := &after.Capabilities[i]
		if !m.Take(compared(before, now), "capabilities") {
			return true
		}
		was := known(now.Name)
		if was != nil && (looser(was, now) || probedOtherwise(was, now, after, known) || looksOtherwise(was, now, after, known)) || passesBy(before, now, looser) {
			return true
		}
	}
	return false
}

// compared is what finding a capability among those before, and comparing it with each of
// them, takes.
func compared(before *countersign.Project, now *countersign.Capability) int {
	steps := 0
	for i := range before.Capabilities {
		steps += 10 + len(before.Capabilities[i].Path) + len(now.Path)
	}
	return steps
}

// projectFields say of each field of a project how an edit of it weakens, nil for a field
// that doesn't by itself. A test compares them with the type: whoever adds a field decides.
var projectFields = map[string]func(before, after *countersign.Project) bool{
	"BaseURL": func(before, after *countersign.Project) bool {
		return before.BaseURL != "" && before.BaseURL != after.BaseURL
	},
	// The same inputs mean something else under other headers, and to another account.
	"Headers": func(before, after *countersign.Project) bool { return !maps.Equal(before.Headers, after.Headers) },
	"Auth": func(before, after *countersign.Project) bool {
		return !slices.Equal(basicUsers(before), basicUsers(after))
	},
	"AnswerKeys": func(before, after *countersign.Project) bool { return WeakerKeys(before.AnswerKeys, after.AnswerKeys) },
	"Settlement": func(before, after *countersign.Project) bool {
		return weakerSettlement(before.Settlement, after.Settlement)
	},
	"AuthSecretEnv": nil, // names HMAC's variable and no account
	"Capabilities":  nil, // each by capabilityFields
	"ID":            nil, "Revision": nil, "Name": nil, "HealthPath": nil,
	"Adapter": nil, // a local echo sends nothing; one that begins to send gets its first origin
	"Enabled": nil, "Retired": nil, "SecretConfigured": nil, "WeakSecret": nil, "Health": nil, "Conformance": nil, "CreatedAt": nil, "UpdatedAt": nil,
}

// basicUsers are the accounts that calls are made as, where the project says so.
func basicUsers(p *countersign.Project) (users []string) {
	for _, a := range p.EffectiveAuths() {
		if a.Type == countersign.AuthBasic {
			users = append(users, a.User)
		}
	}
	return users
}

// capabilityFields are the same of a capability's fields, for one that was and is.
// ApprovalRules are compared by gate.Weaker, after all of these: it costs the most.
var capabilityFields = map[string]func(was, now *countersign.Capability) bool{
	"Approval":      asksLess,
	"SideEffect":    asksLess, // declaring a side effect a read lowers its approval too
	"Idempotent":    asksLess,
	"Expectation":   func(was, now *countersign.Capability) bool { return judgedOtherwise(was.Expectation, now.Expectation) },
	"Budgets":       func(was, now *countersign.Capability) bool { return budget.Weaker(was.Budgets, now.Budgets) },
	"Sensitive":     func(was, now *countersign.Capability) bool { return !holdsAll(now.Sensitive, was.Sensitive) },
	"Precondition":  conditionedOtherwise,
	"ApprovalRules": nil,
	"Probe":         nil,              // with what it names: probedOtherwise
	"Method":        nil, "Path": nil, // another request; what the old one could send is passesBy's
	"InputSchema": takesText, // all else of it stays within the method and path that approvers see
	"Request":     nil,
	"Name":        nil, "Title": nil, "Description": nil, "TimeoutMs": nil, "OutputField": nil, "Outputs": nil,
}

// takesText reports an input that may now be any text of the path, where it was an id.
func takesText(was, now *countersign.Capability) bool {
	for name, f := range now.InputSchema {
		if f.PathText && !was.InputSchema[name].PathText {
			return true
		}
	}
	return false
}

// holdsAll reports that each of some names is among others.
func holdsAll(names, some []string) bool {
	known := make(map[string]bool, len(names))
	for _, name := range names {
		known[name] = true
	}
	return !slices.ContainsFunc(some, func(name string) bool { return !known[name] })
}

// looser reports that a capability lets out, checks or hides less than another one.
func looser(m *cost.Meter, was, now *countersign.Capability) bool {
	if !m.Take(sizeOf(was)+sizeOf(now)+10*len(was.Budgets)*len(now.Budgets), "capabilities") {
		return true
	}
	for _, weakens := range capabilityFields {
		if weakens != nil && weakens(was, now) {
			return true
		}
	}
	return gate.Weaker(m, was, now)
}

// sizeOf is what reading the fields takes that are compared one by one.
func sizeOf(c *countersign.Capability) int {
	steps := len(capabilityFields) + len(c.InputSchema)
	for _, name := range c.Sensitive {
		steps += 1 + len(name)
	}
	if c.Precondition != nil {
		steps += 10 * len(c.Precondition.Fields)
	}
	if c.Expectation != nil {
		steps += len(c.Expectation.Field) + len(c.Expectation.Equals.Raw())
	}
	for _, b := range c.Budgets {
		steps += len(b.Sum) + len(b.Most.Raw())
	}
	return steps
}

// asksLess compares the effective approval policies, including defaults.
func asksLess(was, now *countersign.Capability) bool {
	lowered := strictness[now.ApprovalPolicy()] < strictness[was.ApprovalPolicy()]
	return lowered || was.NeedsApproval() && !now.NeedsApproval()
}

// judgedOtherwise reports an expectation that was removed or changed; a first one
// weakens nothing.
func judgedOtherwise(was, now *countersign.Expectation) bool {
	return was != nil && (now == nil || was.Field != now.Field || was.StatusCode != now.StatusCode || !was.Equals.Equal(now.Equals))
}

var strictness = map[string]int{countersign.ApprovalNone: 0, countersign.ApprovalRiskBased: 1, countersign.ApprovalAlways: 2}

// probedOtherwise reports another probe, or one of the same name with another target.
func probedOtherwise(was, now *countersign.Capability, after *countersign.Project, known func(name string) *countersign.Capability) bool {
	if was.Probe == "" {
		return false
	}
	if was.Probe != now.Probe {
		return true
	}
	return readsOtherwise(known(was.Probe), after.Capability(now.Probe))
}

// passesBy reports a capability that can send the requests of a stricter one, under
// any name, unless another one could send them as easily before.
func passesBy(before *countersign.Project, now *countersign.Capability, looser func(was, now *countersign.Capability) bool) bool {
	held := false
	for i := range before.Capabilities {
		was := &before.Capabilities[i]
		if was.Method == now.Method && was.Path == now.Path && !looser(was, now) {
			return false
		}
		held = held || reachesAlike(was, now) && looser(was, now)
	}
	return held
}

// reachesAlike reports capabilities that can send the same request: the same method,
// and paths that match segment by segment. If in doubt they do: receivers may ignore
// case, escapes or a trailing slash.
func reachesAlike(a, b *countersign.Capability) bool {
	return a.Method == b.Method && slices.EqualFunc(segments(a.Path), segments(b.Path), func(x, y string) bool {
		return strings.Contains(x, "{") || strings.Contains(y, "{") || strings.EqualFold(x, y)
	})
}

func segments(path string) (out []string) {
	path, _, _ = strings.Cut(path, "?")
	for s := range strings.SplitSeq(path, "/") {
		if plain, err := url.PathUnescape(s); err == nil {
			s = plain
		}
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}
