package settlementmodel

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// This file is the checker: breadth-first over all states, parents kept for the shortest
// step list, deterministic (states are numbered in order of discovery; a map is used for
// membership only).

type result struct {
	name      string
	states    int
	edges     int
	complete  bool
	found     map[string][]string // property -> shortest step list
	doomed    int                 // states from which no fair path ends the unknown
	doomedBy  []string
	elapsed   time.Duration
	terminals int
}

// explore walks all states that init reaches. next emits (label, fair, state). bad gives the
// names of the properties that a state breaks. open says that an unknown is open in a state;
// from every such state some path of fair steps must lead to one that is not open.
func explore[S comparable](name string, init S, limit int,
	next func(S, func(string, bool, S)), bad func(S) []string, open func(S) bool) result {
	began := time.Now()
	ids := map[S]int32{init: 0}
	states := []S{init}
	parent := []int32{-1}
	label := []string{""}
	var from, to []int32 // fair edges
	r := result{name: name, complete: true, found: map[string][]string{}}
	trace := func(i int32) (steps []string) {
		for ; i > 0; i = parent[i] {
			steps = append(steps, label[i])
		}
		for a, b := 0, len(steps)-1; a < b; a, b = a+1, b-1 {
			steps[a], steps[b] = steps[b], steps[a]
		}
		return steps
	}
	for at := 0; at < len(states); at++ {
		if len(states) > limit {
			r.complete = false
			break
		}
		s := states[at]
		for _, p := range bad(s) {
			if _, known := r.found[p]; !known {
				r.found[p] = trace(int32(at))
			}
		}
		n := 0
		next(s, func(l string, fair bool, t S) {
			n++
			r.edges++
			id, known := ids[t]
			if !known {
				id = int32(len(states))
				ids[t] = id
				states = append(states, t)
				parent = append(parent, int32(at))
				label = append(label, l)
			}
			if fair {
				from, to = append(from, int32(at)), append(to, id)
			}
		})
		if n == 0 {
			r.terminals++
		}
	}
	r.states = len(states)
	if r.complete && open != nil { // backwards from the closed states over the fair edges
		good := make([]bool, len(states))
		heads := make([]int32, len(states)+1)
		for _, t := range to {
			heads[t+1]++
		}
		for i := 1; i < len(heads); i++ {
			heads[i] += heads[i-1]
		}
		pred := make([]int32, len(to))
		fill := append([]int32(nil), heads...)
		for e, t := range to {
			pred[fill[t]] = from[e]
			fill[t]++
		}
		var queue []int32
		for i, s := range states {
			if !open(s) {
				good[i] = true
				queue = append(queue, int32(i))
			}
		}
		for len(queue) > 0 {
			t := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			for _, f := range pred[heads[t]:heads[t+1]] {
				if !good[f] {
					good[f] = true
					queue = append(queue, f)
				}
			}
		}
		for i := range states {
			if !good[i] {
				if r.doomed == 0 {
					r.doomedBy = trace(int32(i))
				}
				r.doomed++
			}
		}
	}
	r.elapsed = time.Since(began)
	return r
}

// tell logs a result, and the shortest step list of each broken property if steps says so.
func (r result) tell(t *testing.T, steps bool) {
	t.Helper()
	t.Logf("%d states, %d steps, complete %t, %.1fs", r.states, r.edges, r.complete, r.elapsed.Seconds())
	list := func(name string, of []string) {
		t.Logf("broken: %s (%d steps)", name, len(of))
		for i, s := range of {
			if steps {
				t.Logf("  %2d. %s", i+1, s)
			}
		}
	}
	for _, p := range order {
		if of, is := r.found[p]; is {
			list(p, of)
		}
	}
	if r.doomed > 0 {
		list(fmt.Sprintf("L: from %d states no fair path ends what is open", r.doomed), r.doomedBy)
	}
}

// broken names what breaks, as testdata/expected.txt does.
func (r result) broken() string {
	var names []string
	for _, p := range order {
		if _, is := r.found[p]; is {
			names = append(names, strings.Fields(p)[0])
		}
	}
	if r.doomed > 0 {
		names = append(names, "L")
	}
	if !r.complete {
		names = append(names, "cut-off")
	}
	return strings.Join(names, " ")
}

// walk draws one path from init to a state without a step, or of so many steps, and returns the
// steps and the properties that a state of it breaks.
func walk[S comparable](init S, most int, draw func(n int) int, next func(S, func(string, bool, S)), bad func(S) []string) (steps, broken []string) {
	type step struct {
		label string
		to    S
	}
	s := init
	for range most {
		if broken = bad(s); len(broken) > 0 {
			break
		}
		var ways []step
		next(s, func(l string, _ bool, to S) { ways = append(ways, step{l, to}) })
		if len(ways) == 0 {
			break
		}
		way := ways[draw(len(ways))]
		s, steps = way.to, append(steps, way.label)
	}
	return steps, broken
}
