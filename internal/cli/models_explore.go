package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/model"
)

// ModelsExplore walks a model file.
type ModelsExplore struct {
	ModelFile
	Limit  int  `default:"200000" help:"How many pairs of state and values to look at; at most 5000000."`
	Strict bool `help:"Exit status 1 when a run can get stuck or loop, when a state or transition is never reached, or when the limit ends the walk."`
	Output
}

// maxPairs bounds the memory of an exploration to about a gigabyte.
const maxPairs = 5_000_000

// exploration is the answer as JSON. No operation of the API gives it.
type exploration struct {
	Complete         bool     `json:"complete"`
	Pairs            int      `json:"pairs"`
	Stuck            int      `json:"stuck"`
	Loops            int      `json:"loops"`
	StatesReached    []string `json:"statesReached"`
	StatesUnreached  []string `json:"statesUnreached"`
	StuckStates      []string `json:"stuckStates"`
	LoopStates       []string `json:"loopStates"`
	TransitionsTaken []string `json:"transitionsTaken"`
	TransitionsNever []string `json:"transitionsNeverTaken"`
}

// Help says what a walk is.
func (ModelsExplore) Help() string {
	return "From each scenario's memory and with every input that the model's conditions tell apart. What a complete walk doesn't reach can't happen with the memory that scenarios begin with. A loop or a stuck state may be meant: --strict makes them the answer no."
}

// Run explores.
func (c *ModelsExplore) Run(t *Terminal) error {
	if c.Limit < 1 || c.Limit > maxPairs {
		return Unusablef("--limit: it must be between 1 and %d", maxPairs)
	}
	doc, machine, err := c.compiled(t)
	if err != nil {
		return err
	}
	var found model.Exploration
	if err := working(t, "exploring", func() { found = model.Explore(machine, c.Limit) }); err != nil {
		return err
	}
	e := explored(doc, found)
	if err := c.Print(t, e, func(w io.Writer) { c.table(w, e) }); err != nil {
		return err
	}
	if c.Strict && (!e.Complete || e.Stuck+e.Loops+len(e.StatesUnreached)+len(e.TransitionsNever) > 0) {
		return StatusError{ExitFailed}
	}
	return nil
}

func explored(doc *countersign.AgentModel, found model.Exploration) exploration {
	e := exploration{
		Complete: found.Complete, Pairs: found.Pairs, Stuck: found.Stuck, Loops: found.Loops, StatesReached: found.States,
		StuckStates: found.StuckStates, LoopStates: found.LoopStates, TransitionsTaken: found.Transitions,
		StatesUnreached: []string{}, TransitionsNever: []string{},
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

func (c *ModelsExplore) table(w io.Writer, e exploration) {
	Facts(w,
		[2]string{"pairs of state and values", strconv.Itoa(e.Pairs)},
		[2]string{"states reached", listed(e.StatesReached)},
		[2]string{"states not reached", listed(e.StatesUnreached)},
		[2]string{"transitions taken", strconv.Itoa(len(e.TransitionsTaken))},
		[2]string{"transitions never taken", listed(e.TransitionsNever)},
		[2]string{"can get stuck in", listed(e.StuckStates)},
		[2]string{"loops", loops(e)},
	)
	if e.Complete {
		fmt.Fprintln(w, "complete: what is not listed can't happen with the memory that the scenarios begin with")
		return
	}
	fmt.Fprintf(w, "NOT complete: the limit of %d pairs ended the walk; more can happen than is listed\n", c.Limit)
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
