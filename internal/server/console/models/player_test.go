package models

import (
	"net/url"
	"strconv"
	"testing"

	"github.com/countersign/countersign"
)

// TestALongPathIsShownAroundThePresentState: a path may have thousands of states, a
// page shows the first, the last and those around the present one.
func TestALongPathIsShownAroundThePresentState(t *testing.T) {
	sim := &countersign.Simulation{Passed: true, Outcome: countersign.OutcomeFinal}
	for i := range 1000 {
		sim.Path = append(sim.Path, "s"+strconv.Itoa(i))
		if i > 0 {
			sim.Trace = append(sim.Trace, countersign.TraceEntry{From: sim.Path[i-1], To: sim.Path[i], TransitionID: "t" + strconv.Itoa(i)})
		}
	}
	for at, want := range map[string]struct{ at, shown, gaps int }{
		"":     {1, 1 + around + 1, 1},
		"0":    {1, 1 + around + 1, 1},
		"-7":   {1, 1 + around + 1, 1},
		"500":  {500, 2*around + 3, 2},
		"14":   {14, 2*around + 3, 1}, // no gap where nothing is left out
		"999":  {999, around + 3, 1},
		"1e9":  {1, 1 + around + 1, 1},
		"5000": {1000, around + 2, 1},
	} {
		p := player{Base: "/console/models/m", q: url.Values{"scenario": {"s"}}}
		p.start(countersign.AgentModel{}, sim, at)
		shown, gaps, here := 0, 0, ""
		for _, s := range p.Path {
			switch {
			case s.Gap:
				gaps++
			default:
				shown++
			}
			if s.Here {
				here = s.Word
			}
		}
		if p.At != want.at || shown != want.shown || gaps != want.gaps || here != "s"+strconv.Itoa(want.at-1) {
			t.Errorf("at=%s: step %d, %d shown, %d gaps, here is %s", at, p.At, shown, gaps, here)
		}
		if p.class("s"+strconv.Itoa(p.At-1)) != "here" || p.At > 1 && p.class("s0") != "past" || p.At < p.Last && p.edgeClass("t"+strconv.Itoa(p.At)) != "now" {
			t.Errorf("at=%s: the diagram shows another step", at)
		}
	}
}

func TestValuesAreThoseOfTheStep(t *testing.T) {
	scalar := func(raw string) countersign.Scalar { return countersign.Scalar{Value: countersign.RawValue(raw)} }
	doc := countersign.AgentModel{Variables: []countersign.Variable{
		{ID: "byDefault", DefaultValue: scalar("1.50"), Unit: "EUR"}, {ID: "byScenario", DefaultValue: scalar("1")},
		{ID: "given", DefaultValue: scalar("1")}, {ID: "hidden", DefaultValue: scalar("1")}, {ID: "memory", DefaultValue: scalar("false")},
	}}
	s := &countersign.Scenario{
		Inputs:        map[string]countersign.Scalar{"byScenario": scalar("2"), "given": scalar("2"), "hidden": scalar("2")},
		InitialMemory: map[string]countersign.Scalar{"memory": scalar(`"first"`)},
	}
	sim := &countersign.Simulation{Path: []string{"a", "b", "c"}, Trace: []countersign.TraceEntry{
		{Effects: []countersign.MemoryEffect{{VariableID: "memory", Value: scalar(`"second"`)}}}, {},
	}}
	given := map[string]countersign.Scalar{"given": scalar("3.0"), "hidden": scalar("null")}
	for at, memory := range map[int]valueRow{
		1: {Value: `"first"`}, 2: {Value: `"second"`, Set: true}, 3: {Value: `"second"`},
	} {
		rows := valuesAt(doc, s, given, &player{At: at, Last: 3, sim: sim})
		for i, want := range []valueRow{{Value: "1.50 EUR"}, {Value: "2"}, {Value: "3.0"}, {Value: "unknown", Unknown: true}, memory} {
			if got := rows[i]; got.Value != want.Value || got.Set != want.Set || got.Unknown != want.Unknown {
				t.Errorf("step %d: %+v, want %+v", at, got, want)
			}
		}
	}
}
