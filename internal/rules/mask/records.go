package mask

import (
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/folded"
	"github.com/countersign/countersign/internal/rules/request"
)

// step masks a step's record and reports whether its error may quote a masked value.
func (f *Fields) step(s *countersign.StepRun) (quoted bool) {
	s.Input, s.Request, s.RequestDigest = f.input(s.Input), f.request(s.Request, f.capability), countersign.NoStepDigest
	s.Output, s.Response = f.field(f.capability.OutputField, s.Output), maskResponse(s.Response)
	if s.Verification != nil {
		v := *s.Verification
		v.Expected, v.Actual = f.field(v.Field, v.Expected), f.field(v.Field, v.Actual)
		quoted = s.Error != nil && (!v.Expected.Equal(s.Verification.Expected) || !v.Actual.Equal(s.Verification.Actual))
		v.Checks = slices.Clone(v.Checks)
		for i := range v.Checks {
			c := &v.Checks[i]
			c.Expected, c.Actual = f.field(c.Field, c.Expected), f.field(c.Field, c.Actual)
		}
		s.Verification = &v
	}
	if f.judgesHidden() {
		s.WouldBe = "" // what the rules say tells of what they compare
		quoted = quoted || s.Error != nil && s.Error.Code == countersign.CodeDeniedByRule
	}
	quoted = quoted || s.Error != nil && s.Error.Code == countersign.CodeDeniedByBudget && f.addsHidden()
	if quoted {
		s.Error = &countersign.StepError{Code: s.Error.Code, Message: masked.Text()}
	}
	s.Error = withoutQuote(s.Error)
	if s.Reconciliation != nil && len(s.Reconciliation.Differs) > 0 {
		said := *s.Reconciliation
		said.Differs = slices.Clone(said.Differs)
		for i := range said.Differs {
			d := &said.Differs[i]
			d.Sent, d.Found = f.field(d.Field, d.Sent), f.field(d.Field, d.Found)
		}
		s.Reconciliation = &said
	}
	quoted = f.looks(s) || quoted
	s.Settlements = slices.Clone(s.Settlements)
	for i := range s.Settlements {
		f.settlement(&s.Settlements[i])
	}
	if s.Late != nil {
		late := *s.Late
		late.Error = countersign.WithoutQuote(late.Error)
		late.Output, late.Response = f.members(late.Output), maskResponse(late.Response)
		s.Late = &late
	}
	s.Probes = slices.Clone(s.Probes)
	for i := range s.Probes {
		probe := &s.Probes[i]
		probe.Response, probe.Error = maskResponse(probe.Response), countersign.WithoutQuote(probe.Error)
		probe.Output, probe.Request = f.members(probe.Output), f.request(probe.Request, f.project.Capability(probe.Capability))
	}
	return quoted
}

// approval masks an approval, and removes the digest if it masked anything: digests let
// masked values be guessed.
func (f *Fields) approval(ap *countersign.Approval) {
	f.maskContext(ap, ap.InputSnapshot)
	ap.AgentWords, ap.RunReason = maskedWords(ap.AgentWords), maskedReason(ap.RunReason)
	ap.OpenAlike, ap.AskedAgainAfter = nil, "" // which call is the same tells of its inputs
	if f.judgesHidden() || f.addsHidden() {
		ap.Reasons = nil
	}
	ap.InputSnapshot, ap.RequestDigest = f.input(ap.InputSnapshot), ""
	for i := range ap.Decisions { // who shows it has copied them
		ap.Decisions[i].Assertion = nil // what it signs tells of the digest
	}
	if ap.SuggestedInput != nil {
		ap.SuggestedInput = f.input(ap.SuggestedInput)
	}
	f.state(ap)
	ap.Request = *f.request(&ap.Request, f.capability)
}

// maskResponse removes the size and digest of an answer, from which its body could be
// guessed. It masks the whole of what is kept of a body, since text has no fields to mask by name.
func maskResponse(r *countersign.Response) *countersign.Response {
	if r == nil {
		return nil
	}
	out := *r
	out.Bytes, out.BodySHA256, out.Signed = countersign.NoByteCount, countersign.NoBodyDigest, nil
	if out.Body != "" {
		out.Body = masked.Text()
	}
	return &out
}

// withoutQuote removes what an error quotes of an answer.
func withoutQuote(e *countersign.StepError) *countersign.StepError {
	if e == nil {
		return nil
	}
	return &countersign.StepError{Code: e.Code, Message: countersign.WithoutQuote(e.Message)}
}

// maskedError keeps only the code of a run's error.
func maskedError(text string) string {
	code, _, _ := strings.Cut(text, ": ")
	return code + ": " + masked.Text()
}

// maskedWords masks each text: it may quote an input.
func maskedWords(w *countersign.AgentWords) *countersign.AgentWords {
	if w == nil {
		return nil
	}
	out := *w
	for _, text := range []*string{&out.Task, &out.Reason, &out.Again} {
		*text = maskedReason(*text)
	}
	return &out
}

// maskedReason masks what somebody wrote: it may quote an input.
func maskedReason(text string) string {
	if text == "" {
		return ""
	}
	return masked.Text()
}

func (f *Fields) expectation(e *countersign.Expectation) *countersign.Expectation {
	if e == nil {
		return nil
	}
	out := *e
	out.Equals = f.field(e.Field, e.Equals)
	return &out
}

// request masks the request of a step or of its probe.
func (f *Fields) request(r *countersign.Request, c *countersign.Capability) *countersign.Request {
	if r == nil {
		return nil
	}
	out := *r
	out.Query, out.Body = f.members(r.Query), f.members(r.Body)
	address, query, _ := strings.Cut(r.URL, "?")
	if c == nil || slices.ContainsFunc(f.names.list, func(name string) bool { return strings.Contains(folded.Name(c.Path), "{"+folded.Name(name)+"}") }) {
		address = masked.Text()
		if c != nil {
			address = origin(r.URL) + c.Path
		}
	}
	switch {
	case !out.Query.Equal(r.Query):
		out.URL = address + "?" + masked.Text()
	case query != "":
		out.URL = address + "?" + query
	default:
		out.URL = address
	}
	return &out
}

// origin is the part of an address before its path.
func origin(address string) string {
	scheme, rest, hasHost := strings.Cut(address, "://")
	if !hasHost {
		scheme, _, _ = strings.Cut(address, ":") // LOCAL_ECHO
		return scheme + ":"
	}
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// maskContext masks the parts of an approval other than its request.
func (f *Fields) maskContext(ap *countersign.Approval, input map[string]countersign.Value) {
	ap.Expectation = f.expected(ap.Expectation)
	switch {
	case ap.Title == "":
	case f.capability == nil:
		ap.Title = masked.Text()
	default:
		ap.Title = f.Title(input)
	}
}

// Title returns the capability's title with hidden values masked.
func (f *Fields) Title(input map[string]countersign.Value) string {
	m := cost.New(nil, cost.InTurn, 0)
	at := request.InputsAt(m, input)
	title := request.Title(f.capability.Title, func(place string) (countersign.Value, bool) {
		if f.hidesPath(place) {
			return masked, true
		}
		v, ok := at(place)
		if !ok || !m.Take(len(v.Raw()), "title") {
			return countersign.Value{}, false
		}
		return f.members(v), true
	})
	if m.Over() {
		return masked.Text() // all of it: what is filled in would have to be masked in this read
	}
	return title
}

// expected masks the expectation of an approval, or an array of them.
func (f *Fields) expected(v countersign.Value) countersign.Value {
	if list, ok := v.Array(); ok {
		return countersign.ArrayValue(each(list, f.expected))
	}
	m, ok := v.Object()
	if !ok {
		return v
	}
	m["equals"] = f.field(m["field"].Text(), m["equals"])
	return countersign.ObjectValue(m)
}

// Rehearsal masks the values and digests of capabilities with sensitive fields for a
// VIEWER, who still sees that something differs, and where.
func Rehearsal(r *countersign.Rehearsal, p *countersign.Plan, sent []countersign.StepRun) {
	of := Of(p)
	if of.MasksAnything() {
		r.PlanDigest = ""
	}
	for i := range r.Steps {
		step := &sent[i]
		if of.ForStep(step.ID, step.Input) == nil {
			continue
		}
		r.Steps[i].RehearsedDigest, r.Steps[i].SentDigest = countersign.NoStepDigest, countersign.NoStepDigest
		for j := range r.Steps[i].Differences {
			r.Steps[i].Differences[j].Rehearsed, r.Steps[i].Differences[j].Sent = masked, masked
		}
	}
}
