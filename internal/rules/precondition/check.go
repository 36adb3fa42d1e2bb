// Package precondition says what a capability's precondition may be, what a read for it found, and
// whether that is what must be so. It is pure.
package precondition

import (
	"fmt"
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// maxField is the longest name of a field, in bytes.
const maxField = 500

// Check names all that is wrong with the preconditions of a project's capabilities. What is found
// after the meter has come to its end is left out.
func Check(m *cost.Meter, p *countersign.Project) []countersign.Problem {
	var k checking
	for i := range p.Capabilities {
		if c := &p.Capabilities[i]; c.Precondition != nil {
			k.at = fmt.Sprintf("capabilities[%d].precondition", i)
			m.At(k.at)
			k.capability(p, c)
			k.fields(c.Precondition)
			if c.Precondition.When != nil && m.Take(len(c.Precondition.Fields), "when") {
				k.when(m, c.Precondition)
			}
		}
	}
	return k.problems
}

type checking struct {
	at       string
	problems []countersign.Problem
}

func (k *checking) add(path, format string, args ...any) {
	k.problems = append(k.problems, countersign.Problem{Path: k.at + path, Code: "bad_precondition", Message: fmt.Sprintf(format, args...)})
}

// capability checks what is read: nobody is asked about it, it changes nothing, and it can be made
// of the inputs of what it is read for.
func (k *checking) capability(p *countersign.Project, c *countersign.Capability) {
	name := c.Precondition.Capability
	read := p.Capability(name)
	switch {
	case read == nil || read.Method != "GET" || read.HasSideEffect():
		k.add(".capability", "%s is no GET capability of this project that only reads", name)
		return
	case read.Precondition != nil:
		k.add(".capability", "%s has a precondition of its own; what is read for one has none", name)
	case len(read.ApprovalRules) > 0:
		k.add(".capability", "%s has approvalRules; nobody is asked about what is read for a precondition", name)
	case read.ApprovalPolicy() == countersign.ApprovalAlways:
		k.add(".capability", "%s asks for approval ALWAYS; nobody is asked about what is read for a precondition", name)
	}
	for _, input := range request.Required(read) {
		if !request.Takes(c, input) {
			k.add(".capability", "%s needs the input %s, which %s doesn't declare; inputs are taken by name", name, input, c.Name)
		}
	}
}

func (k *checking) fields(p *countersign.Precondition) {
	if n := len(p.Fields); n < 1 || n > countersign.MaxPreconditionFields {
		k.add(".fields", "must name 1 to %d fields", countersign.MaxPreconditionFields)
	}
	for i, name := range p.Fields[:min(len(p.Fields), countersign.MaxPreconditionFields)] {
		switch at := fmt.Sprintf(".fields[%d]", i); {
		case safetext.Blank(name):
			k.add(at, "must name a field; it can't be blank")
		case len(name) > maxField:
			k.add(at, "must not be longer than %d bytes", maxField)
		case slices.Contains(p.Fields[:i], name):
			k.add(at, "%s is named already", name)
		}
	}
}

func (k *checking) when(m *cost.Meter, p *countersign.Precondition) {
	for _, found := range gate.CheckOver(m, ".when", p.When, p.Fields) {
		k.add(found.Path, "%s", found.Message)
	}
}

// Uses reports a project one of whose capabilities looks by a read of that name.
func Uses(p *countersign.Project, read string) bool {
	return slices.ContainsFunc(p.Capabilities, func(c countersign.Capability) bool {
		return c.Precondition != nil && c.Precondition.Capability == read
	})
}

// Of is the precondition of a capability with its read, nil for none.
func Of(p *countersign.Project, c *countersign.Capability) (*countersign.Precondition, *countersign.Capability) {
	if p == nil || c == nil || c.Precondition == nil {
		return nil, nil
	}
	return c.Precondition, p.Capability(c.Precondition.Capability)
}

// Differences are the fields whose values are not equal, in the order of the precondition; nil where
// all are.
func Differences(fields []string, then, now map[string]countersign.Value) (out []countersign.StateChange) {
	for _, name := range fields {
		if a, b := then[name], now[name]; !a.Equal(b) {
			out = append(out, countersign.StateChange{Field: name, Then: orNull(a), Now: orNull(b)})
		}
	}
	return out
}

func orNull(v countersign.Value) countersign.Value {
	if v.IsZero() {
		return countersign.Null
	}
	return v
}

// Before are the values from which changes led to the values now.
func Before(changes []countersign.StateChange, now map[string]countersign.Value) map[string]countersign.Value {
	then := maps.Clone(now)
	for _, c := range changes {
		then[c.Field] = c.Then
	}
	return then
}
