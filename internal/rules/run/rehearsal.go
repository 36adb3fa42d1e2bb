package run

import (
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// Compare says whether a LIVE run sends what a rehearsal of the same plan showed. p is
// the run's plan, with its project snapshots. The request of a step with bindings is
// rebuilt from the rehearsed inputs and the bound outputs; any other deviation is a
// difference.
func Compare(p *countersign.Plan, live, rehearsed *countersign.Run) countersign.Rehearsal {
	out := countersign.Rehearsal{
		RunID: live.ID, PlanDigest: live.PlanDigest, RehearsalID: rehearsed.ID, RehearsedAt: rehearsed.CompletedAt,
		Verdict: countersign.RehearsalSame, Steps: []countersign.RehearsedStep{},
	}
	for i := range live.Steps {
		step := compareStep(p, &live.Steps[i], stepOf(rehearsed, live.Steps[i].ID))
		out.Verdict = worse(out.Verdict, step.Verdict)
		out.Steps = append(out.Steps, step)
	}
	return out
}

// worse is the combined verdict of two parts.
func worse(a, b string) string {
	for _, v := range []string{countersign.RehearsalDifferent, countersign.RehearsalOpen} {
		if a == v || b == v {
			return v
		}
	}
	return countersign.RehearsalSame
}

func stepOf(r *countersign.Run, id string) *countersign.StepRun {
	i := slices.IndexFunc(r.Steps, func(s countersign.StepRun) bool { return s.ID == id })
	if i < 0 {
		return &countersign.StepRun{}
	}
	return &r.Steps[i]
}

func compareStep(p *countersign.Plan, live, rehearsed *countersign.StepRun) countersign.RehearsedStep {
	out := countersign.RehearsedStep{
		StepID: live.ID, Verdict: countersign.RehearsalSame, RehearsedDigest: rehearsed.RequestDigest, SentDigest: live.RequestDigest,
		Bound: boundInputs(p.Step(live.ID)), Differences: []countersign.Difference{},
	}
	if live.Request == nil {
		out.Verdict = countersign.RehearsalOpen
		return out
	}
	out.Differences = append(out.Differences, differentInputs(out.Bound, live.Input, rehearsed.Input)...)
	out.Differences = append(out.Differences, differentRequest(live.Request, expected(p, live, rehearsed, out.Bound))...)
	if len(out.Differences) > 0 {
		out.Verdict = countersign.RehearsalDifferent
	}
	return out
}

// boundInputs are the names of inputs that are bound to earlier outputs.
func boundInputs(planned *countersign.Step) []string {
	if planned == nil || len(planned.InputBindings) == 0 {
		return []string{}
	}
	return slices.Sorted(maps.Keys(planned.InputBindings))
}

// expected is the request that the rehearsal predicts, nil if none can be built.
func expected(p *countersign.Plan, live, rehearsed *countersign.StepRun, bound []string) *countersign.Request {
	if len(bound) == 0 || rehearsed.Request == nil {
		return rehearsed.Request
	}
	project, capability := targetOf(p, live.ProjectID, live.Capability)
	if capability == nil {
		return nil
	}
	input := maps.Clone(rehearsed.Input)
	for _, name := range bound {
		input[name] = live.Input[name]
	}
	r, err := request.Rebuild(project, capability, input)
	if err != nil {
		return nil
	}
	return &r
}

func differentInputs(bound []string, live, rehearsed map[string]countersign.Value) (out []countersign.Difference) {
	names := maps.Clone(live)
	maps.Copy(names, rehearsed)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !slices.Contains(bound, name) && live[name].Raw() != rehearsed[name].Raw() {
			out = append(out, difference("input."+name, rehearsed[name], live[name]))
		}
	}
	return out
}

// differentRequest compares requests byte for byte.
func differentRequest(sent, promised *countersign.Request) (out []countersign.Difference) {
	if promised == nil {
		promised = &countersign.Request{}
	}
	had, has := bytesOf(*promised), bytesOf(*sent)
	for _, part := range slices.Concat(has, had) {
		was, is := had.named(part.Name), has.named(part.Name)
		listed := slices.ContainsFunc(out, func(d countersign.Difference) bool { return d.Path == part.Name })
		if was.Raw() != is.Raw() && !listed {
			out = append(out, difference(part.Name, was, is))
		}
	}
	return out
}

type parts []request.Member

// bytesOf are the parts of a request that are bytes of it: all but the query's fields, which
// the URL carries.
func bytesOf(r countersign.Request) parts {
	d := request.Describe(r)
	all := append(parts{{Name: "method", Value: countersign.String(d.Method)}, {Name: "url", Value: countersign.String(d.URL)}}, d.Others...)
	return append(all, request.Member{Name: "body", Value: d.Body})
}

func (p parts) named(name string) countersign.Value {
	if i := slices.IndexFunc(p, func(m request.Member) bool { return m.Name == name }); i >= 0 {
		return p[i].Value
	}
	return countersign.Value{}
}

func difference(path string, rehearsed, sent countersign.Value) countersign.Difference {
	return countersign.Difference{Path: path, Rehearsed: orNull(rehearsed), Sent: orNull(sent)}
}

func orNull(v countersign.Value) countersign.Value {
	if v.IsZero() {
		return countersign.RawValue("null")
	}
	return v
}
