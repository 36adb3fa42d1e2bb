package project

import (
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// Weakens reports that a project's edit lets something out that it held back before,
// or judges it by something else: an approval lowered, another origin, another probe, or
// another name by which the same requests pass a lower gate. known is the capability of
// a name as it was before this edit, the latest one where an earlier edit took it away;
// nil for one that is new.
func Weakens(before, after *countersign.Project, known func(name string) *countersign.Capability) bool {
	if before.BaseURL != "" && before.BaseURL != after.BaseURL {
		return true
	}
	for i := range after.Capabilities {
		now := &after.Capabilities[i]
		was := known(now.Name)
		if was != nil && (looser(was, now) || probedOtherwise(was, now, after, known)) || passesBy(before, now) {
			return true
		}
	}
	return false
}

// looser compares capabilities by what they ask for, whether they say so or have it by
// default: to call a side effect a read lowers its approval too.
func looser(was, now *countersign.Capability) bool {
	lowered := strictness[now.ApprovalPolicy()] < strictness[was.ApprovalPolicy()]
	return lowered || was.NeedsApproval() && !now.NeedsApproval()
}

var strictness = map[string]int{countersign.ApprovalNone: 0, countersign.ApprovalRiskBased: 1, countersign.ApprovalAlways: 2}

// probedOtherwise reports another probe, or one of the same name that looks elsewhere.
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

// passesBy reports a capability by which requests pass that another one held back, under
// whatever name, unless one of the same requests let them pass as easily before.
func passesBy(before *countersign.Project, now *countersign.Capability) bool {
	held := false
	for i := range before.Capabilities {
		was := &before.Capabilities[i]
		if was.Method == now.Method && was.Path == now.Path && !looser(was, now) {
			return false
		}
		held = held || looser(was, now) && reachesAlike(was, now)
	}
	return held
}

// reachesAlike reports capabilities of which one request can be both: the same method,
// and paths that fit each other segment by segment. In doubt they do: receivers take
// paths for one that differ in case, in escapes or in a slash at the end.
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
