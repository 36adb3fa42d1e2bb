package mask

import (
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/precondition"
)

// What a read for a precondition found is masked as an output is: where the read or the capability
// itself names a field as sensitive.

// hidesState reports that a field of the precondition is hidden: then what must be so, and whether it
// was so, would tell of it.
func (f *Fields) hidesState() bool {
	if f.whole || f.capability == nil {
		return true
	}
	p, _ := precondition.Of(f.project, f.capability)
	return p != nil && slices.ContainsFunc(p.Fields, f.hidesFound)
}

// hidesFound reports a hidden field of what was read.
func (f *Fields) hidesFound(field string) bool {
	_, read := precondition.Of(f.project, f.capability)
	return f.hidesPath(field) || read != nil && read.OutputField != "" && f.hidesPath(read.OutputField)
}

func (f *Fields) read() *countersign.Capability {
	_, read := precondition.Of(f.project, f.capability)
	return read
}

// found masks what was read.
func (f *Fields) found(values map[string]countersign.Value) map[string]countersign.Value {
	if values == nil {
		return nil
	}
	out := make(map[string]countersign.Value, len(values))
	for name, v := range values {
		if f.hidesFound(name) {
			out[name] = masked
		} else {
			out[name] = f.members(v)
		}
	}
	return out
}

func (f *Fields) state(ap *countersign.Approval) {
	ap.StateDigest = ""
	for i := range ap.Decisions { // who shows it has copied them
		ap.Decisions[i].StateDigest = ""
	}
	if ap.State == nil {
		return
	}
	if f.capability == nil {
		ap.State, ap.Changed = nil, nil
		return
	}
	s := *ap.State
	s.Values, s.Request, s.RequestDigest = f.found(s.Values), f.request(s.Request, f.read()), ""
	ap.State = &s
	ap.Changed = slices.Clone(ap.Changed)
	for i := range ap.Changed {
		c := &ap.Changed[i]
		if f.hidesFound(c.Field) {
			c.Field, c.Then, c.Now = masked.Text(), masked, masked
		} else {
			c.Then, c.Now = f.members(c.Then), f.members(c.Now)
		}
	}
}

// looks masks a step's looks, and reports a code that would tell what a hidden field is.
func (f *Fields) looks(s *countersign.StepRun) (tells bool) {
	s.StateDigest = ""
	hidden := f.hidesState()
	s.Looks = slices.Clone(s.Looks)
	for i := range s.Looks {
		l := &s.Looks[i]
		l.RequestDigest, l.StateDigest, l.Values, l.Error = "", "", f.found(l.Values), countersign.WithoutQuote(l.Error)
		if hidden {
			l.StatusCode, l.Error = 0, ""
		}
	}
	if s.WouldCheck != nil {
		w := *s.WouldCheck
		w.Request = f.request(w.Request, f.read())
		w.When = f.when(w.When)
		s.WouldCheck = &w
	}
	if !hidden || s.Error == nil || !ofPrecondition(s.Error.Code) {
		return false
	}
	s.Error = &countersign.StepError{Code: countersign.CodePreconditionUnknown, Message: masked.Text()}
	return true
}

func ofPrecondition(c countersign.Code) bool {
	return c == countersign.CodePreconditionFailed || c == countersign.CodePreconditionUnknown
}

// when masks what must be so, where it names a hidden field.
func (f *Fields) when(c *countersign.Condition) *countersign.Condition {
	if c == nil {
		return nil
	}
	of := &Fields{project: f.project, capability: f.capability, names: f.names, whole: f.whole || f.hidesState()}
	out := of.condition(*c)
	return &out
}

func (f *Fields) precondition(p *countersign.Precondition) *countersign.Precondition {
	if p == nil || p.When == nil {
		return p
	}
	out := *p
	out.When = f.when(p.When)
	return &out
}

// unknownOf is a run's error where a step's code would tell what a hidden field is.
func unknownOf(text string) string {
	code, _, _ := strings.Cut(text, ": ")
	if !ofPrecondition(countersign.Code(code)) {
		return text
	}
	return string(countersign.CodePreconditionUnknown) + ": " + masked.Text()
}

// ForAgents takes out of a run what its looks have found: an agent is told only that what must be so
// doesn't hold or has changed, never values, but those of reads that it may make itself.
func ForAgents(r *countersign.Run, may func(agentID, capability string) bool) {
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		s := &r.Steps[i]
		s.Looks = slices.Clone(s.Looks)
		told := true
		for j := range s.Looks {
			if l := &s.Looks[j]; !may(s.AgentID, l.Capability) {
				told = false
				l.Values, l.StateDigest, l.RequestDigest, l.Error = nil, "", "", ""
			}
		}
		if !told {
			s.StateDigest = ""
		}
		if w := s.WouldCheck; w != nil && !may(s.AgentID, w.Capability) {
			s.WouldCheck = &countersign.WouldCheck{Capability: w.Capability, Fields: w.Fields}
		}
	}
}
