package project

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/gate"
)

// Weaker are the places of an edit that Weakens reports, as paths of the project's document. Where
// the meter comes to its end first, they are all places: none.
func Weaker(m *cost.Meter, before, after *countersign.Project, known func(name string) *countersign.Capability) (paths []string) {
	for field, weakens := range projectFields {
		if weakens != nil && weakens(before, after) {
			paths = append(paths, jsonName(reflect.TypeFor[countersign.Project](), field))
		}
	}
	looser := func(was, now *countersign.Capability) bool { return looser(m, was, now) }
	for i := range after.Capabilities {
		now := &after.Capabilities[i]
		if !m.Take(compared(before, now), "capabilities") {
			return nil
		}
		at := "capabilities." + now.Name
		if was := known(now.Name); was != nil {
			paths = append(paths, weakerFields(m, at, was, now)...)
			if probedOtherwise(was, now, after, known) {
				paths = append(paths, at+".probe")
			}
		}
		if passesBy(before, now, looser) {
			paths = append(paths, at)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

func weakerFields(m *cost.Meter, at string, was, now *countersign.Capability) (paths []string) {
	for field, weakens := range capabilityFields {
		if weakens != nil && weakens(was, now) {
			paths = append(paths, at+"."+jsonName(reflect.TypeFor[countersign.Capability](), field))
		}
	}
	if gate.Weaker(m, was, now) {
		paths = append(paths, at+".approvalRules")
	}
	return paths
}

// jsonName is what the document calls a field.
func jsonName(of reflect.Type, field string) string {
	f, _ := of.FieldByName(field)
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return cmp.Or(name, field)
}

// Unasked are the capabilities, new or changed, whose side effect can go out without anybody being
// asked. Whoever declares that a POST has none doesn't take it off this list: nobody else has looked at
// that word yet. before is nil for a new project.
func Unasked(before, after *countersign.Project) (paths []string) {
	moved := before == nil || sentOtherwise(before, after)
	for i := range after.Capabilities {
		now := &after.Capabilities[i]
		if !goesOutUnasked(now) {
			continue
		}
		if was := capabilityOf(before, now.Name); moved || was == nil || !reflect.DeepEqual(was, now) {
			paths = append(paths, "capabilities."+now.Name)
		}
	}
	return paths
}

func capabilityOf(p *countersign.Project, name string) *countersign.Capability {
	if p == nil {
		return nil
	}
	return p.Capability(name)
}

// sentOtherwise reports that each call of a project now goes elsewhere, or as somebody else.
func sentOtherwise(before, after *countersign.Project) bool {
	return before.Adapter != after.Adapter || before.BaseURL != after.BaseURL || !maps.Equal(before.Headers, after.Headers) ||
		!reflect.DeepEqual(before.EffectiveAuths(), after.EffectiveAuths())
}

func goesOutUnasked(c *countersign.Capability) bool {
	effect := c.HasSideEffect() || c.Method != "GET"
	allowed := slices.ContainsFunc(c.ApprovalRules, func(r countersign.ApprovalRule) bool { return r.Then == countersign.RuleAllow })
	return effect && (allowed || !c.NeedsApproval())
}
