package mask

import (
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/folded"
	"github.com/countersign/countersign/internal/rules/precondition"
)

// Fields says which values of a capability, or of a step of it, are masked for a VIEWER.
type Fields struct {
	project    *countersign.Project
	capability *countersign.Capability
	names      names  // sensitive fields of the capability and its probe; for a step also inputs bound from sensitive fields
	whole      bool   // every field
	agent      string // that carries the step out, if one does
	inherited  names  // sensitive members within the values that a step's bindings supply
}

// fieldsOf is nil if no field of the capability or its probe is sensitive. p has its
// project snapshots.
func fieldsOf(p *countersign.Plan, projectID, capability string) *Fields {
	if h := capabilityFields(p, projectID, capability); h != nil && h.names.any() {
		return h
	}
	return nil
}

// capabilityFields returns what a capability masks, possibly nothing; nil if the plan has no such
// capability.
func capabilityFields(p *countersign.Plan, projectID, capability string) *Fields {
	project, c := TargetOf(p, projectID, capability)
	if c == nil {
		return nil
	}
	return &Fields{project: project, capability: c, names: namesOf(sensitiveOf(project, c))}
}

// TargetOf finds a project among a plan's snapshots, and a capability of it.
func TargetOf(p *countersign.Plan, projectID, capability string) (*countersign.Project, *countersign.Capability) {
	for i := range p.ProjectSnapshots {
		if project := &p.ProjectSnapshots[i]; project.ID == projectID {
			return project, project.Capability(capability)
		}
	}
	return nil, nil
}

// sensitiveOf names the sensitive fields of a capability and of its probe: answers of both
// are stored on the step.
func sensitiveOf(p *countersign.Project, c *countersign.Capability) []string {
	names := slices.Clone(c.Sensitive)
	if probe := p.Capability(c.Probe); c.Probe != "" && probe != nil {
		names = append(names, probe.Sensitive...)
	}
	if _, read := precondition.Of(p, c); read != nil {
		names = append(names, read.Sensitive...)
	}
	return names
}

// currentFieldsOf is fieldsOf at a project's present revision, for values written under an
// earlier one. If the capability is gone, everything is masked, since nothing says any
// more which fields are sensitive.
func currentFieldsOf(p *countersign.Plan, projectID, capability string) *Fields {
	if project, c := TargetOf(p, projectID, capability); project != nil && c == nil {
		return &Fields{project: project, capability: &countersign.Capability{Name: capability}, whole: true}
	}
	return fieldsOf(p, projectID, capability)
}

// names are a set of names in their order, those that differ in case alone being one: to many
// a receiver, and in many an answer, `PIN` is `pin`. There may be as many as a capability's
// document has room for.
type names struct {
	list   []string
	known  map[string]bool   // folded
	deeper map[string]*names // what dotted ones lead to, by what stands before their first dot, folded
}

func namesOf(lists ...[]string) (n names) {
	for _, list := range lists {
		for _, name := range list {
			n.add(name)
		}
	}
	return n
}

func (n *names) add(name string) (added bool) {
	key := folded.Name(name)
	if n.known[key] {
		return false
	}
	if n.known == nil {
		n.known = map[string]bool{}
	}
	n.known[key] = true
	n.list = append(n.list, name)
	n.lead(name)
	return true
}

func (n names) has(name string) bool { return n.known[folded.Name(name)] }

func (n names) any() bool { return len(n.list) > 0 }

func (f *Fields) hides(name string) bool {
	return f.whole || f.names.has(name)
}

func (f *Fields) input(m map[string]countersign.Value) map[string]countersign.Value {
	out := make(map[string]countersign.Value, len(m))
	for k, v := range m {
		out[k], _ = f.member(k, v, []*names{&f.names})
	}
	return out
}

func each(list []countersign.Value, f func(countersign.Value) countersign.Value) []countersign.Value {
	out := make([]countersign.Value, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// field masks the value at a path of the output: all of it if a part of that path, or of
// the path that selected the output, is sensitive; else its sensitive members.
func (f *Fields) field(name string, v countersign.Value) countersign.Value {
	switch {
	case v.IsZero():
		return v
	case f.hidesPath(name), f.hidesPath(f.capability.OutputField):
		return masked
	default:
		return f.members(v)
	}
}

// hidesPath reports whether a path leads through a sensitive field.
func (f *Fields) hidesPath(path string) bool {
	parts := strings.Split(path, ".")
	return f.hides(path) || slices.ContainsFunc(parts, f.hides) || f.names.leads(parts)
}
