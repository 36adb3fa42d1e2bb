package project

import (
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/gate"
)

// Weakens reports whether a project's edit permits requests that needed approval
// before, or changes how they are checked: a lower approval policy, another origin,
// another probe or expectation, or another capability that sends the same requests with less
// approval. known returns the capability of a name before this edit, the latest one if
// an earlier edit removed it; nil for a new one. Where the meter comes to its end before all
// is compared, the edit counts as one that weakens.
func Weakens(m *cost.Meter, before, after *countersign.Project, known func(name string) *countersign.Capability) bool {
	if before.BaseURL != "" && before.BaseURL != after.BaseURL {
		return true
	}
	looser := func(was, now *countersign.Capability) bool { return looser(m, was, now) }
	for i := range after.Capabilities {
		now := &after.Capabilities[i]
		if !m.Take(compared(before, now), "capabilities") {
			return true
		}
		was := known(now.Name)
		if was != nil && (looser(was, now) || probedOtherwise(was, now, after, known)) || passesBy(before, now, looser) {
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

// looser compares the effective approval policies, including defaults: declaring a
// side effect a read lowers its approval too. Another expectation counts as looser,
// since which of two is stricter can't be told.
func looser(m *cost.Meter, was, now *countersign.Capability) bool {
	lowered := strictness[now.ApprovalPolicy()] < strictness[was.ApprovalPolicy()]
	return lowered || was.NeedsApproval() && !now.NeedsApproval() || judgedOtherwise(was.Expectation, now.Expectation) || gate.Weaker(m, was, now) || budget.Weaker(was.Budgets, now.Budgets)
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
	looked, looks := known(was.Probe), after.Capability(now.Probe)
	return looked != nil && looks != nil &&
		(looked.Method != looks.Method || looked.Path != looks.Path || looked.OutputField != looks.OutputField || !reflect.DeepEqual(looked.Request, looks.Request))
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
