package importer

import (
	"cmp"
	"slices"

	"github.com/countersign/countersign"
)

// Proposal is the result of an import. Nothing of it is registered.
type Proposal struct {
	Project countersign.ProjectWrite `json:"project" doc:"disabled; the body of PUT /projects/{id} once what is missing is filled in"`
	Report
	OAuth *OAuth `json:"-"` // how the tokens of its auth are had, where the document says it
}

// Report describes the result for each operation.
type Report struct {
	Title      string         `json:"title"`
	OpenAPI    string         `json:"openapi"`
	Operations int            `json:"operations" doc:"in the document"`
	Filtered   int            `json:"filtered" doc:"not chosen by the filters"`
	Proposed   []Proposed     `json:"proposed"`
	Skipped    []Skipped      `json:"skipped"`
	Reasons    map[Reason]int `json:"reasons" doc:"how many are skipped, by reason"`
	Unasked    int            `json:"unasked" doc:"side effects that would run without approval: the document calls them idempotent"`
	Probes     int            `json:"probes"`
	FillIn     []string       `json:"fillIn" doc:"what the document doesn't say and the project needs"`
	Headers    []Header       `json:"headers" doc:"what each call is sent with"`
	Groups     []Group        `json:"groups" doc:"the proposed, by their first tag"`
	Bytes      int            `json:"bytes" doc:"of the project as JSON"`
	Fits       int            `json:"fits" doc:"how many capabilities, from the first on, one request of 1 MiB can carry"`
}

// Header is a fixed header of the project.
type Header struct {
	Name       string `json:"name"`
	Value      string `json:"value" doc:"empty: a place to fill in"`
	RequiredBy int    `json:"requiredBy" doc:"of the proposed operations"`
}

// Group are the operations of one tag.
type Group struct {
	Tag         string   `json:"tag"`
	Reads       int      `json:"reads"`
	SideEffects int      `json:"sideEffects"`
	Approval    []string `json:"approval" doc:"the policies of its side effects"`
}

func groups(lines []Proposed) []Group {
	out := []Group{}
	at := map[string]int{}
	for _, line := range lines {
		i, known := at[line.Tag]
		if !known {
			i, at[line.Tag] = len(out), len(out)
			out = append(out, Group{Tag: line.Tag, Approval: []string{}})
		}
		g := &out[i]
		if !line.SideEffect {
			g.Reads++
			continue
		}
		if g.SideEffects++; !slices.Contains(g.Approval, line.Approval) {
			g.Approval = append(g.Approval, line.Approval)
		}
	}
	slices.SortFunc(out, func(a, b Group) int { return cmp.Compare(a.Tag, b.Tag) })
	return out
}

// Proposed is a capability and the operation that it was made from.
type Proposed struct {
	Name       string   `json:"name"`
	Method     string   `json:"method"`
	Path       string   `json:"path"`
	Tag        string   `json:"tag,omitempty"`
	SideEffect bool     `json:"sideEffect"`
	Approval   string   `json:"approval"`
	Idempotent bool     `json:"idempotent"`
	Because    string   `json:"because,omitempty" doc:"where the document says that it is idempotent"`
	OtherKey   string   `json:"otherKey,omitempty" doc:"what it deduplicates by, a key of its own, which the runtime doesn't send"`
	Probe      string   `json:"probe,omitempty" doc:"the read that shows, in recovery, what happened"`
	Expects    string   `json:"expects,omitempty" doc:"the field of the answer by which the document says what success is"`
	Form       bool     `json:"form,omitempty" doc:"its body is a form, which an adapter sends"`
	Sends      string   `json:"sends,omitempty" doc:"the media type of its body, JSON under another name, which an adapter sends"`
	Inputs     int      `json:"inputs"`
	Required   int      `json:"required" doc:"of the inputs"`
	LeftOut    []string `json:"leftOut,omitempty" doc:"optional parts of the request that no input can fill"`
}

// Skipped is an operation for which there is no capability.
type Skipped struct {
	Method  string `json:"method"`
	Path    string `json:"path"`
	Reason  Reason `json:"reason"`
	Message string `json:"message"`
}

// TooLarge reports whether the project is larger than a request may be.
func (r *Report) TooLarge() bool { return r.Bytes > countersign.MaxBodyBytes }

func (d *draft) line() Proposed {
	c := &d.capability
	p := Proposed{
		Tag: d.operation.tag(), Probe: c.Probe, Form: d.form, Sends: d.sends,
		Name: c.Name, Method: c.Method, Path: c.Path, SideEffect: c.HasSideEffect(), Approval: c.Approval,
		Idempotent: c.Idempotent, Because: d.because, OtherKey: d.otherKey, Inputs: len(c.InputSchema), LeftOut: d.leftOut,
	}
	if c.Expectation != nil {
		p.Expects = c.Expectation.Field
	}
	for _, in := range c.InputSchema {
		if in.Required {
			p.Required++
		}
	}
	return p
}
