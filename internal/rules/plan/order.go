package plan

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign"
)

// graph is the dependency graph of a plan's steps, by index. Duplicate dependencies
// are stored once, so the cost of a search depends on the number of steps only.
type graph struct {
	index map[string]int
	deps  [][]int
	edges int // how many dependencies there are: what a search may take
}

func newGraph(steps []countersign.Step) graph {
	g := graph{index: make(map[string]int, len(steps)), deps: make([][]int, len(steps))}
	for i, s := range steps {
		if _, taken := g.index[s.ID]; !taken {
			g.index[s.ID] = i
		}
	}
	last := make([]int, len(steps)) // by dependency: the last step that named it, counted from 1
	for i, s := range steps {
		for _, d := range s.DependsOn {
			if j, ok := g.index[d]; ok && last[j] != i+1 {
				g.deps[i], last[j], g.edges = append(g.deps[i], j), i+1, g.edges+1
			}
		}
	}
	return g
}

// reaches reports whether step i depends on step j, directly or through others.
func (g graph) reaches(i, j int) bool {
	seen := make([]bool, len(g.deps))
	stack := []int{i}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, d := range g.deps[at] {
			if d == j {
				return true
			}
			if !seen[d] {
				seen[d] = true
				stack = append(stack, d)
			}
		}
	}
	return false
}

// cycleProblem names the steps that lie on a cycle.
func (g graph) cycleProblem(steps []countersign.Step) []string {
	var stuck []string
	for i, s := range steps {
		if g.reaches(i, i) {
			stuck = append(stuck, s.ID)
		}
	}
	if stuck == nil {
		return nil
	}
	return []string{fmt.Sprintf("steps: %s depend on each other; a plan has no cycle", strings.Join(stuck, ", "))}
}
