package plan

import (
	"slices"

	"github.com/countersign/countersign"
)

// Order is the order in which steps run: dependencies first, ties in plan order
// (contract 6). ok is false when the graph has a cycle.
func Order(steps []countersign.Step) (order []int, ok bool) {
	g := newGraph(steps)
	done := make([]bool, len(steps))
	for len(order) < len(steps) {
		next := g.firstReady(done)
		if next < 0 {
			return order, false
		}
		done[next] = true
		order = append(order, next)
	}
	return order, true
}

func (g graph) firstReady(done []bool) int {
	for i, deps := range g.deps {
		if !done[i] && !slices.ContainsFunc(deps, func(d int) bool { return !done[d] }) {
			return i
		}
	}
	return -1
}
