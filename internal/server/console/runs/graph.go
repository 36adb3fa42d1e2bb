package runs

import (
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/graph"
)

var nodeStates = map[countersign.StepStatus]string{
	countersign.StepPending: "todo", countersign.StepWaitingApproval: "wait", countersign.StepRunning: "run",
	countersign.StepCompleted: "ok", countersign.StepFailed: "fail", countersign.StepRecoveryRequired: "unc",
	countersign.StepAbandoned: "unc", countersign.StepCancelled: "todo", countersign.StepSkipped: "todo",
}

// nodeState is a step's state in the graph: what nothing was proven of is not green.
func nodeState(s *countersign.StepRun) string {
	if s.Status == countersign.StepCompleted && !text.Proven(s) {
		return "past"
	}
	return nodeStates[s.Status]
}

// runGraph draws the run's plan with each step's state.
func runGraph(r *countersign.Run, p *countersign.Plan, self string) template.HTML {
	g := graph.Graph{ID: "plan", Title: "Plan graph", Description: text.Plural(len(r.Steps), "step", "steps") + ". " + countWords(r) + ". The list of steps says the same."}
	for i := range r.Steps {
		s := &r.Steps[i]
		state := text.StepState(*s)
		g.Nodes = append(g.Nodes, graph.Node{
			ID: s.ID, Title: text.NameOf(s), Sub: callWords(p, s), State: nodeState(s), Icon: state.Icon, Word: state.Word,
			Dashed: s.Status == countersign.StepSimulated, Href: stepHref(self, s.ID),
		})
		g.Edges = append(g.Edges, edgesTo(r, p, i)...)
	}
	return graph.Plan(g)
}

func stepHref(self, id string) string { return self + "?step=" + url.QueryEscape(id) + "#step" }

// callWords are a step's method and duration.
func callWords(p *countersign.Plan, s *countersign.StepRun) string {
	words := ""
	if c := text.CapabilityOf(p, s.ProjectID, s.Capability); c != nil {
		words = c.Method
	}
	if s.Response != nil {
		words += " " + text.Took(s.Response.DurationMs)
	}
	return words
}

// edgesTo are the edges from a step's dependencies, labeled with the bound inputs.
func edgesTo(r *countersign.Run, p *countersign.Plan, i int) (edges []graph.Edge) {
	s := &r.Steps[i]
	bound := boundInputs(p, s.ID)
	from := slices.Clone(s.DependsOn)
	for _, b := range bound {
		if !slices.Contains(from, b.from) {
			from = append(from, b.from)
		}
	}
	for _, id := range from {
		e := graph.Edge{From: id, To: s.ID, Mono: true}
		for _, b := range bound {
			if b.from == id {
				e.Label = append(e.Label, b.input)
			}
		}
		if begun(s) {
			e.State = "done"
		}
		edges = append(edges, e)
	}
	return edges
}

type boundInput struct{ from, input string }

func boundInputs(p *countersign.Plan, id string) (bound []boundInput) {
	planned := p.Step(id)
	if planned == nil {
		return nil
	}
	for input, b := range planned.InputBindings {
		bound = append(bound, boundInput{b.StepID, input})
	}
	slices.SortFunc(bound, func(a, b boundInput) int { return strings.Compare(a.input, b.input) })
	return bound
}

func begun(s *countersign.StepRun) bool {
	switch s.Status {
	case countersign.StepPending, countersign.StepSkipped:
		return false
	case countersign.StepCancelled:
		return s.Attempt > 0
	}
	return true
}

// stepCounts are what a run's steps are counted by, in the order of the words.
var stepCounts = []struct {
	status   countersign.StepStatus
	verified bool // for COMPLETED: the response was verified
	word     string
}{
	{countersign.StepCompleted, true, "verified"}, {countersign.StepCompleted, false, "unverified"}, {countersign.StepSimulated, false, "rehearsed"},
	{countersign.StepRunning, false, "running"}, {countersign.StepWaitingApproval, false, "waiting"}, {countersign.StepRecoveryRequired, false, "uncertain"},
	{countersign.StepAbandoned, false, "given up"}, {countersign.StepFailed, false, "failed"}, {countersign.StepSkipped, false, "skipped"},
	{countersign.StepCancelled, false, "cancelled"}, {countersign.StepPending, false, "to go"},
}

// countWords counts the steps by what became of them.
func countWords(r *countersign.Run) string {
	var words []string
	for _, t := range stepCounts {
		n := 0
		for i := range r.Steps {
			s := &r.Steps[i]
			if s.Status == t.status && t.verified == (s.Status == countersign.StepCompleted && text.Proven(s)) {
				n++
			}
		}
		if n > 0 {
			words = append(words, strconv.Itoa(n)+" "+t.word)
		}
	}
	return strings.Join(words, ", ")
}
