package models

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/model"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// Explore is the command `models explore`.
type Explore struct {
	ModelFile
	Limit  int  `default:"200000" help:"How many pairs of state and kinds of values to look at; at most 5000000."`
	Strict bool `help:"Exit status 1 when a run can get stuck or loop, when transitions overlap, when a state or transition is never reached, or when the limit ends the walk."`
	terminal.Output
}

// maxPairs bounds an exploration to about a minute and two gigabytes, also for a model made
// to be expensive.
const maxPairs = 5_000_000

// exploration is the result as JSON. No API operation returns it.
type exploration struct {
	Complete         bool                   `json:"complete"`
	Pairs            int                    `json:"pairs"`
	StatesReached    []string               `json:"statesReached"`
	StatesUnreached  []string               `json:"statesUnreached"`
	StuckStates      []string               `json:"stuckStates"`
	TrapStates       []string               `json:"trapStates"`
	LoopStates       []string               `json:"loopStates"`
	Loops            int                    `json:"loops"`
	TransitionsTaken []string               `json:"transitionsTaken"`
	TransitionsNever []string               `json:"transitionsNeverTaken"`
	Overlaps         []overlap              `json:"overlaps"`
	Findings         []finding              `json:"findings"`
	Covered          []string               `json:"transitionsCovered"`
	OnlyLooping      []string               `json:"transitionsOnlyLooping"`
	Proposed         []countersign.Scenario `json:"proposedScenarios"`
}

type overlap struct {
	First  string `json:"first"`
	Second string `json:"second"`
}

type finding struct {
	countersign.Problem
	Witness *witness `json:"witness,omitempty"`
}

// witness is a scenario that can be simulated without changes.
type witness struct {
	Outcome  string               `json:"outcome"`
	Scenario countersign.Scenario `json:"scenario"`
}

// Help explains what an exploration does.
func (Explore) Help() string {
	return "From each scenario's memory and with every input that the model's conditions tell apart. What a complete walk doesn't reach can't happen with the memory that scenarios begin with. Each finding comes with inputs that show it. Where scenarios don't take every transition, others are proposed, to be pasted into the model. A loop or a stuck state may be meant: --strict makes them the answer no."
}

// Run explores.
func (m *Explore) Run(t *terminal.Terminal) error {
	if m.Limit < 1 || m.Limit > maxPairs {
		return terminal.Unusablef("--limit: it must be between 1 and %d", maxPairs)
	}
	doc, machine, err := m.compiled(t)
	if err != nil {
		return err
	}
	var found model.Exploration
	if err := terminal.Working(t, "exploring", func() { found = model.Explore(machine, m.Limit) }); err != nil {
		return err
	}
	e := explored(doc, found)
	if err := m.Print(t, e, func(w io.Writer) { m.table(w, e) }); err != nil {
		return err
	}
	if m.Strict && !e.sound() {
		return terminal.StatusError{Status: terminal.ExitFailed}
	}
	return nil
}

func (e exploration) sound() bool {
	return e.Complete && len(e.StuckStates)+e.Loops+len(e.Overlaps)+len(e.StatesUnreached)+len(e.TransitionsNever) == 0
}

func explored(doc *countersign.AgentModel, found model.Exploration) exploration {
	e := exploration{
		Complete: found.Complete, Pairs: found.Pairs, Loops: found.Loops, StatesReached: found.States,
		StuckStates: found.StuckStates, TrapStates: found.TrapStates, LoopStates: found.LoopStates, TransitionsTaken: found.Transitions,
		StatesUnreached: []string{}, TransitionsNever: []string{}, Overlaps: []overlap{}, Findings: []finding{},
		Covered: found.Covered, OnlyLooping: found.Looped, Proposed: found.Proposed,
	}
	for _, o := range found.Overlaps {
		e.Overlaps = append(e.Overlaps, overlap(o))
	}
	for _, f := range found.Findings {
		e.Findings = append(e.Findings, shownBy(f))
	}
	for _, s := range doc.States {
		if !slices.Contains(found.States, s.ID) {
			e.StatesUnreached = append(e.StatesUnreached, s.ID)
		}
	}
	for _, tr := range doc.Transitions {
		if !slices.Contains(found.Transitions, tr.ID) {
			e.TransitionsNever = append(e.TransitionsNever, tr.ID)
		}
	}
	return e
}

func shownBy(f model.Finding) finding {
	shown := finding{Problem: f.Problem}
	if f.Witness != nil {
		shown.Witness = &witness{Outcome: f.Witness.Outcome, Scenario: f.Witness.Scenario}
		shown.Witness.Scenario.ID = "witness"
	}
	return shown
}

func (m *Explore) table(w io.Writer, e exploration) {
	terminal.Facts(w,
		[2]string{"pairs of state and values", strconv.Itoa(e.Pairs)},
		[2]string{"states reached", listed(e.StatesReached)},
		[2]string{"states not reached", listed(e.StatesUnreached)},
		[2]string{"transitions taken", strconv.Itoa(len(e.TransitionsTaken))},
		[2]string{"transitions never taken", listed(e.TransitionsNever)},
		[2]string{"can get stuck in", listed(e.StuckStates)},
		[2]string{"never end from", listed(e.TrapStates)},
		[2]string{"loops", loops(e)},
		[2]string{"taken by scenarios", fmt.Sprintf("%d of %d transitions", len(e.Covered), len(e.TransitionsTaken))},
		[2]string{"taken only by loops", listed(e.OnlyLooping)},
	)
	e.findings(w)
	e.proposals(w)
	if e.Complete {
		fmt.Fprintln(w, "complete: what is not listed can't happen with the memory that the scenarios begin with")
		return
	}
	fmt.Fprintf(w, "NOT complete: --limit %d ended the walk at %d pairs; more can happen than is listed\n", m.Limit, e.Pairs)
}

func (e exploration) findings(w io.Writer) {
	var rows [][]string
	for _, f := range e.Findings {
		rows = append(rows, []string{f.Path, f.Code, f.Message})
	}
	if len(rows) > 0 {
		fmt.Fprintln(w)
		terminal.Table(w, []string{"path", "code", "message"}, rows)
		fmt.Fprintln(w)
	}
}

// proposals prints scenarios as JSON, to be pasted into the model.
func (e exploration) proposals(w io.Writer) {
	if len(e.Proposed) == 0 {
		return
	}
	text, err := countersign.Marshal(e.Proposed)
	var indented bytes.Buffer
	if err != nil || json.Indent(&indented, text, "", "  ") != nil { // never fails for scenarios of a decoded document
		return
	}
	fmt.Fprintf(w, "proposed scenarios, for the transitions that none takes so far:\n%s\n", indented.Bytes())
}

func loops(e exploration) string {
	if e.Loops == 0 {
		return ""
	}
	return fmt.Sprintf("%d, through %s", e.Loops, listed(e.LoopStates))
}

func listed(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return fmt.Sprintf("%d: %s", len(ids), strings.Join(ids, ", "))
}
