package plans

import (
	"html/template"
	"maps"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/steps"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/graph"
)

// planDiagram draws a plan's steps, none started. Steps that ask for approval have the
// waiting icon; those of a DRY_RUN plan are dashed.
func planDiagram(p countersign.Plan, steps []steps.PlanStep) template.HTML {
	if len(steps) == 0 {
		return ""
	}
	g := graph.Graph{
		ID: "plan", Title: "Steps of " + p.ID,
		Description: text.Plural(len(steps), "step", "steps") + ". The list Steps says the same.",
	}
	for _, s := range steps {
		g.Nodes = append(g.Nodes, planNode(s, p.Mode == countersign.ModeDryRun))
		g.Edges = append(g.Edges, planEdges(s.Step)...)
	}
	return graph.Plan(g)
}

func planNode(s steps.PlanStep, dry bool) graph.Node {
	n := graph.Node{ID: s.ID, Title: s.Title(), Sub: s.Calls(), State: "todo", Icon: "s-pending", Word: s.Asks, Dashed: dry, Href: "#step-" + strconv.Itoa(s.Number)}
	if s.Contract != nil && s.Gate.Asks() {
		n.Icon = "s-waiting"
	}
	if len(s.Errors) > 0 {
		n.State, n.Icon, n.Word, n.Badge = "fail", "s-failed", text.Plural(len(s.Errors), "error", "errors"), strconv.Itoa(len(s.Errors))
	}
	return n
}

// planEdges are a step's dependencies, labeled with the bound inputs. A binding to a
// step that isn't a dependency is an error of the plan and drawn too.
func planEdges(s countersign.Step) []graph.Edge {
	from := slices.Clone(s.DependsOn)
	bound := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(s.InputBindings)) {
		id := s.InputBindings[name].StepID
		bound[id] = append(bound[id], name)
		if !slices.Contains(from, id) {
			from = append(from, id)
		}
	}
	var edges []graph.Edge
	for _, id := range from {
		edges = append(edges, graph.Edge{From: id, To: s.ID, Label: bound[id], Mono: true})
	}
	return edges
}
