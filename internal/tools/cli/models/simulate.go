package models

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Simulate is the command `models simulate`.
type Simulate struct {
	ModelFile
	Scenario string   `placeholder:"ID" help:"Which one. Default: each of them."`
	Input    []string `sep:"none" placeholder:"NAME=VALUE" help:"An input instead of the scenario's, or all of them as a JSON object; may be repeated. null is unknown."`
	Trace    bool     `help:"Show each transition taken and what was looked at before it."`
	terminal.Output
}

// Help explains the exit status.
func (Simulate) Help() string {
	return "A scenario passes when it comes to what it expects and doesn't loop. Exit status 1: one doesn't. With --scenario, -o json prints what the API answers; without, a list of that."
}

// Run simulates.
func (c *Simulate) Run(t *terminal.Terminal) error {
	doc, machine, err := c.compiled(t)
	if err != nil {
		return err
	}
	inputs, err := c.inputs(doc)
	if err != nil {
		return err
	}
	ids, err := c.scenarios(doc)
	if err != nil {
		return err
	}
	sims, err := c.simulate(t, machine, ids, inputs)
	if err != nil {
		return err
	}
	if err := c.show(t, sims); err != nil {
		return err
	}
	if slices.ContainsFunc(sims, func(s countersign.Simulation) bool { return !s.Passed }) {
		return terminal.StatusError{Status: terminal.ExitFailed}
	}
	return nil
}

func (c *Simulate) scenarios(doc *countersign.AgentModel) ([]string, error) {
	if c.Scenario != "" {
		return []string{c.Scenario}, nil
	}
	var ids []string
	for _, s := range doc.Scenarios {
		ids = append(ids, s.ID)
	}
	if len(ids) == 0 {
		return nil, terminal.Unusablef("%s: the model has no scenario to simulate", c.File)
	}
	return ids, nil
}

func (c *Simulate) simulate(t *terminal.Terminal, m *model.Machine, ids []string, inputs map[string]countersign.Scalar) ([]countersign.Simulation, error) {
	var sims []countersign.Simulation
	var failed error
	err := terminal.Working(t, "simulating", func() {
		for _, id := range ids {
			sim, err := m.Simulate(id, inputs)
			if err != nil {
				failed = terminal.Unusablef("%s: %v", c.File, err)
				return
			}
			sims = append(sims, sim)
		}
	})
	if err != nil {
		return nil, err
	}
	return sims, failed
}

// inputs parses name=value according to the type of the variable, so that 7 is a number for a
// numeric variable and text for a text variable.
func (c *Simulate) inputs(doc *countersign.AgentModel) (map[string]countersign.Scalar, error) {
	inputs := map[string]countersign.Scalar{}
	for _, text := range c.Input {
		if strings.HasPrefix(strings.TrimSpace(text), "{") {
			var object map[string]countersign.Scalar
			if err := exactjson.Decode([]byte(text), &object); err != nil {
				return nil, terminal.Unusablef("--input: %s", terminal.PlainError(err))
			}
			maps.Copy(inputs, object)
			continue
		}
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, terminal.Unusablef("--input: %q must be NAME=VALUE or a JSON object", text)
		}
		inputs[name] = scalarOf(doc, name, value)
	}
	return inputs, nil
}

// scalarOf parses a value as JSON if that gives a scalar of the variable's type, and takes it
// as text otherwise. The simulation validates it.
func scalarOf(doc *countersign.AgentModel, name, value string) countersign.Scalar {
	i := slices.IndexFunc(doc.Variables, func(v countersign.Variable) bool { return v.ID == name })
	text := i >= 0 && (doc.Variables[i].Type == countersign.TypeText || doc.Variables[i].Type == countersign.TypeChoice)
	var s countersign.Scalar
	if exactjson.Decode([]byte(value), &s) == nil && (!text || s.Kind() == countersign.KindString || s.IsNull()) {
		return s
	}
	return countersign.Scalar{Value: countersign.String(value)}
}

func (c *Simulate) show(t *terminal.Terminal, sims []countersign.Simulation) error {
	var document any = sims
	if c.Scenario != "" {
		document = sims[0]
	}
	return c.Print(t, document, func(w io.Writer) {
		passed := 0
		for i := range sims {
			c.block(w, &sims[i])
			if sims[i].Passed {
				passed++
			}
		}
		fmt.Fprintf(w, "%d of %d scenarios pass\n", passed, len(sims))
	})
}

// maxShownPath is how many steps of a path a table shows; -o json has all of them.
const maxShownPath = 200

func (c *Simulate) block(w io.Writer, s *countersign.Simulation) {
	word := "passed"
	if !s.Passed {
		word = "NOT PASSED"
	}
	fmt.Fprintf(w, "%s: %s\n", words.Plain(s.ScenarioID), word)
	path := s.Path
	if len(path) > maxShownPath {
		path = append(slices.Clone(path[:maxShownPath]), fmt.Sprintf("… and %d more", len(path)-maxShownPath))
	}
	pairs := [][2]string{{"  ends", s.Outcome + " in " + s.FinalStateID}, {"  path", strings.Join(path, " > ")}, {"  result", s.Result}}
	for _, name := range slices.Sorted(maps.Keys(s.Values)) {
		pairs = append(pairs, [2]string{"  " + name, s.Values[name].Raw()})
	}
	for _, m := range s.Mismatches {
		pairs = append(pairs, [2]string{"  mismatch", fmt.Sprintf("%s: expected %s, came to %s", m.Field, m.Expected.Raw(), m.Actual.Raw())})
	}
	terminal.Facts(w, pairs...)
	if c.Trace {
		printTrace(w, s)
	}
	fmt.Fprintln(w)
}

func printTrace(w io.Writer, s *countersign.Simulation) {
	var rows [][]string
	for _, e := range s.Trace {
		var looked, set []string
		for _, p := range e.Predicates {
			looked = append(looked, fmt.Sprintf("%s(%s) %s %s: %v", p.VariableID, p.Actual.Raw(), p.Operator, p.Value.Raw(), p.Holds))
		}
		for _, m := range e.Effects {
			set = append(set, m.VariableID+"="+m.Value.Raw())
		}
		rows = append(rows, []string{e.From + " > " + e.To, e.TransitionID, e.ActionID, strings.Join(looked, "; "), strings.Join(set, ", ")})
	}
	terminal.Table(w, []string{"  step", "transition", "action", "looked at", "sets"}, rows)
}
