package model

import (
	"slices"
)

// shortestPaths gives, for each pair, the next edge on a shortest path to a final
// state and on one to a pair where a run gets stuck; none where there is no such path.
type shortestPaths struct {
	toFinal, toStuck []int32 // index into the pair's edges, or atTarget
}

// atTarget marks a pair that is itself a target state, at distance zero.
const atTarget int32 = -2

func (space *stateSpace) shortestPaths() shortestPaths {
	back := space.incoming()
	return shortestPaths{
		toFinal: space.nextEdges(back, func(p *pair) bool { return space.m.nodes[p.state].final }),
		toStuck: space.nextEdges(back, func(p *pair) bool { return p.stuck }),
	}
}

// incoming lists, for each pair, its incoming edges as (pair, index of the edge).
func (space *stateSpace) incoming() [][][2]int32 {
	back := make([][][2]int32, len(space.pairs))
	for i := range space.pairs {
		for j, y := range space.pairs[i].edges {
			back[y.to] = append(back[y.to], [2]int32{int32(i), int32(j)})
		}
	}
	return back
}

func (space *stateSpace) nextEdges(back [][][2]int32, end func(*pair) bool) []int32 {
	next := slices.Repeat([]int32{none}, len(space.pairs))
	var queue []int32
	for i := range space.pairs {
		if end(&space.pairs[i]) {
			next[i], queue = atTarget, append(queue, int32(i))
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, b := range back[queue[0]] {
			if next[b[0]] == none {
				next[b[0]], queue = b[1], append(queue, b[0])
			}
		}
	}
	return next
}

// cycle is a reachable cycle: its arcs, and the first of its pairs that was found.
type cycle struct {
	at   int32
	arcs []int32
}

// cycles lists the distinct cycles. No edge of a cycle restricts an input, since sets
// only shrink. So each pair on a cycle has exactly one edge, and following such edges
// finds all cycles.
func (space *stateSpace) cycles() []cycle {
	var found []cycle
	seen := map[string]bool{}
	visited := make([]int32, len(space.pairs)) // by pair: the iteration that visited it, from 1
	for i := range space.pairs {
		at := int32(i)
		for visited[at] == 0 && space.onlySuccessor(at) != none {
			visited[at] = int32(i) + 1
			at = space.onlySuccessor(at)
		}
		if space.onlySuccessor(at) == none || visited[at] != int32(i)+1 {
			continue
		}
		c := space.cycleAt(at)
		if key := string(keyOf(nil, rotated(c.arcs))); !seen[key] {
			seen[key] = true
			found = append(found, c)
		}
	}
	return found
}

// onlySuccessor is the target of the only edge of a pair; none if there are several or
// if a run can get stuck there.
func (space *stateSpace) onlySuccessor(at int32) int32 {
	p := &space.pairs[at]
	if len(p.edges) != 1 || p.stuck || len(p.edges[0].narrowed) > 0 || int(at) >= space.expanded {
		return none
	}
	return p.edges[0].to
}

func (space *stateSpace) cycleAt(at int32) cycle {
	c := cycle{at: at}
	for next := at; ; {
		c.arcs = append(c.arcs, space.pairs[next].edges[0].arc)
		c.at = min(c.at, next)
		if next = space.onlySuccessor(next); next == at {
			return c
		}
	}
}

// rotated normalizes a cycle to begin with its smallest arc, so that it is the same
// wherever it is entered.
func rotated(arcs []int32) []int32 {
	first := slices.Index(arcs, slices.Min(arcs))
	return append(slices.Clone(arcs[first:]), arcs[:first]...)
}
