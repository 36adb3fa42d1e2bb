package models

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/drawn"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// player steps through a simulation by links. The step, counted from 1, is in the
// address, so that it can be shared.
type player struct {
	Scenarios []web.Option
	Scenario  string
	At, Last  int // 0 without a simulation

	First, Back, Next, End string // addresses, "" if there is no such step
	Path                   []stop
	Verdict                text.State
	Sentence               string
	Mismatches             []drawn.Judged

	Base string     // the address of the model
	q    url.Values // the address's query, without the step
	sim  *countersign.Simulation

	visited, taken map[string]bool // states and transitions before this step
}

// stop is one state on the path; a gap stands for omitted states.
type stop struct {
	Word, Href       string
	Here, Later, Gap bool
}

// playerButton is a button of the player; without an address it is disabled.
type playerButton struct{ Name, Href, Icon, Word, Key string }

func ctl(name, href, icon, word, key string) playerButton {
	return playerButton{name, href, icon, word, key}
}

// Result is the last action's result, "" if there was none.
func (p player) Result() string {
	if p.sim == nil {
		return ""
	}
	return p.sim.Result
}

func (p player) Played() bool { return p.sim != nil }

// playModel simulates the scenario in the address, by default the first.
func playModel(v *web.Request, d *modelData, valid bool) error {
	p := &d.Player
	p.Base, p.q = web.Prefix+modelHref(d.ID), overridesOf(v)
	given, ok := givenOf(v, d.Document)
	scenario := scenarioOf(v, d.Document)
	p.choose(d.Document, scenario)
	d.Inputs = inputFields(d.Document, scenario, given)
	d.Query = p.q.Encode()
	if p.Scenario == "" || !valid {
		return nil
	}
	if !ok {
		d.Problem = notJSON
		return nil
	}
	sim, err := v.Control.Simulate(v.R.Context(), v.Actor, d.ID, countersign.SimulationRequest{ScenarioID: p.Scenario, Inputs: given.values()})
	if d.Problem = web.Refusal(err, "These inputs don't fit, so nothing was simulated."); d.Problem != nil {
		markInputs(d.Inputs, d.Problem)
		return nil
	}
	if err != nil {
		return err
	}
	p.start(d.Document, &sim, v.Query("at"))
	d.Here = momentOf(d.Document, p)
	d.Values = valuesAt(d.Document, scenario, given.values(), p)
	return nil
}

// scenarioOf is the one in the address or the first; nil if the model has none.
func scenarioOf(v *web.Request, doc countersign.AgentModel) *countersign.Scenario {
	id := v.Query("scenario")
	for i := range doc.Scenarios {
		if id == "" || doc.Scenarios[i].ID == id {
			return &doc.Scenarios[i]
		}
	}
	if id != "" {
		return &countersign.Scenario{ID: id}
	}
	return nil
}

func (p *player) choose(doc countersign.AgentModel, now *countersign.Scenario) {
	if now == nil {
		return
	}
	p.Scenario = now.ID
	p.q.Set("scenario", now.ID)
	for _, s := range doc.Scenarios {
		p.Scenarios = append(p.Scenarios, web.Option{Value: s.ID, Word: cmp.Or(s.Name, s.ID), Here: s.ID == now.ID})
	}
}

// start goes to a step, limited to the existing ones; the default is the first.
func (p *player) start(doc countersign.AgentModel, sim *countersign.Simulation, at string) {
	p.sim, p.Last = sim, len(sim.Path)
	n, err := strconv.Atoi(at)
	if err != nil {
		n = 1
	}
	p.At = min(max(n, 1), p.Last)
	if p.At > 1 {
		p.First, p.Back = p.href(1), p.href(p.At-1)
	}
	if p.At < p.Last {
		p.Next, p.End = p.href(p.At+1), p.href(p.Last)
	}
	p.visited, p.taken = map[string]bool{}, map[string]bool{}
	for _, before := range sim.Trace[:p.At-1] {
		p.visited[before.From], p.taken[before.TransitionID] = true, true
	}
	names := stateNames(doc)
	p.Path = p.stops(names)
	p.judge(names)
}

func (p *player) href(at int) string {
	q := maps.Clone(p.q)
	q.Set("at", strconv.Itoa(at))
	return p.Base + "?" + q.Encode()
}

// around is how many states are shown on each side of the current one; a path may have
// thousands.
const around = 12

func (p *player) stops(names stateWords) []stop {
	var out []stop
	for i, id := range p.sim.Path {
		n := i + 1
		if n != 1 && n != p.Last && (n < p.At-around || n > p.At+around) {
			if !out[len(out)-1].Gap {
				out = append(out, stop{Gap: true, Word: "…"})
			}
			continue
		}
		out = append(out, stop{Word: names.of(id), Href: p.href(n), Here: n == p.At, Later: n > p.At})
	}
	return out
}

// class is a state's style at this step.
func (p *player) class(stateID string) string {
	switch {
	case !p.Played():
		return ""
	case p.sim.Path[p.At-1] == stateID:
		return "here"
	case p.visited[stateID]:
		return "past"
	}
	return ""
}

// edgeClass is a transition's style: taken before, or taken now.
func (p *player) edgeClass(transitionID string) string {
	if !p.Played() {
		return ""
	}
	if p.At-1 < len(p.sim.Trace) && p.sim.Trace[p.At-1].TransitionID == transitionID {
		return "now"
	}
	if p.taken[transitionID] {
		return "past"
	}
	return ""
}

// hrefOf links to the step at which the path next reaches a state, else to the last
// such step; for other states to the table.
func (p *player) hrefOf(stateID string) string {
	if !p.Played() {
		return "#as-text"
	}
	if i := slices.Index(p.sim.Path[p.At-1:], stateID); i >= 0 {
		return p.href(p.At + i)
	}
	for i := p.At - 2; i >= 0 && p.visited[stateID]; i-- {
		if p.sim.Path[i] == stateID {
			return p.href(i + 1)
		}
	}
	return "#as-text"
}

// judge says how the simulation ends and how that differs from what the scenario
// expects.
func (p *player) judge(names stateWords) {
	p.Verdict = text.State{Class: "is-ok", Icon: "s-completed", Word: "Passes"}
	if !p.sim.Passed {
		p.Verdict = text.State{Class: "is-fail", Icon: "s-failed", Word: "Does not pass"}
	}
	last := names.of(p.sim.FinalStateID)
	switch p.sim.Outcome {
	case countersign.OutcomeStuck:
		p.Sentence = "It stands still in " + last + ", which is not final."
	case countersign.OutcomeLoop:
		p.Sentence = "It goes round for ever: " + last + " comes again with the same values."
	default:
		p.Sentence = "It ends in " + last + "."
	}
	for _, m := range p.sim.Mismatches {
		p.Mismatches = append(p.Mismatches, drawn.Judged{Field: m.Field, Expected: text.Inline(m.Expected), Actual: text.Inline(m.Actual), Known: true})
	}
}

type stateWords map[string]string

func stateNames(doc countersign.AgentModel) stateWords {
	names := stateWords{}
	for _, s := range doc.States {
		names[s.ID] = s.Name
	}
	return names
}

// of is a state's name, by default its ID.
func (s stateWords) of(id string) string { return cmp.Or(s[id], id) }
