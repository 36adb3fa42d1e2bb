package graph

// arc is an edge with its nodes' indices.
type arc struct {
	edge     int // index in Graph.Edges
	from, to int
}

// resolve looks up the nodes of edges. Edges to unknown nodes are dropped; loops are
// returned separately, since they never leave their column.
func (g Graph) resolve() (nodes []Node, arcs, loops []arc) {
	index := make(map[string]int, len(g.Nodes))
	for _, n := range g.Nodes {
		if _, twice := index[n.ID]; !twice {
			index[n.ID] = len(nodes)
			nodes = append(nodes, n)
		}
	}
	for i, e := range g.Edges {
		from, known := index[e.From]
		to, knownTo := index[e.To]
		switch a := (arc{i, from, to}); {
		case !known || !knownTo:
		case from == to:
			loops = append(loops, a)
		default:
			arcs = append(arcs, a)
		}
	}
	return nodes, arcs, loops
}

// outgoing lists, for each node, the indices of the arcs that leave it.
func outgoing(n int, arcs []arc) [][]int {
	out := make([][]int, n)
	for i, a := range arcs {
		out[a.from] = append(out[a.from], i)
	}
	return out
}

// backward returns the arcs that close a cycle in a depth-first search from these roots
// and then from all unreached nodes. The search has its own stack, since a chain may be
// as long as the graph.
func backward(n int, arcs []arc, roots []int) []bool {
	const unseen, open, closed = 0, 1, 2
	state, next := make([]int, n), make([]int, n)
	out, back := outgoing(n, arcs), make([]bool, len(arcs))
	visit := func(root int) {
		stack := []int{root}
		for state[root] = open; len(stack) > 0; {
			v := stack[len(stack)-1]
			if next[v] == len(out[v]) {
				state[v], stack = closed, stack[:len(stack)-1]
				continue
			}
			a := out[v][next[v]]
			next[v]++
			switch to := arcs[a].to; state[to] {
			case open:
				back[a] = true
			case unseen:
				state[to], stack = open, append(stack, to)
			}
		}
	}
	for _, v := range roots {
		if state[v] == unseen {
			visit(v)
		}
	}
	for v := range n {
		if state[v] == unseen {
			visit(v)
		}
	}
	return back
}

// layers gives each node the length of the longest path that leads to it, with
// the backward arcs turned around.
func layers(n int, arcs []arc, back []bool) []int {
	forward, waits := make([][]int, n), make([]int, n)
	for i, a := range arcs {
		from, to := a.from, a.to
		if back[i] {
			from, to = to, from
		}
		forward[from] = append(forward[from], to)
		waits[to]++
	}
	layer, queue := make([]int, n), []int{}
	for v := range n {
		if waits[v] == 0 {
			queue = append(queue, v)
		}
	}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		for _, to := range forward[v] {
			layer[to] = max(layer[to], layer[v]+1)
			if waits[to]--; waits[to] == 0 {
				queue = append(queue, to)
			}
		}
	}
	return layer
}
