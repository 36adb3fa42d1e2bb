package graph

import (
	"fmt"
	"math"
	"testing"

	"github.com/countersign/countersign/internal/testing/allocbudget"
)

func TestLongChainComesInRowsOfSix(t *testing.T) {
	p := layoutPlan(chain(100))
	rows, columns := map[float64]int{}, map[float64]int{}
	for _, b := range p.boxes {
		rows[b.y]++
		columns[b.x]++
	}
	if len(rows) != 17 || len(columns) != 6 {
		t.Errorf("%d rows, %d columns", len(rows), len(columns))
	}
	for i := 1; i < 100; i++ {
		if a, b := p.boxes[i-1], p.boxes[i]; b.y < a.y || b.y == a.y && b.x < a.x {
			t.Errorf("step %d isn't after the one before it", i)
		}
	}
	if p.width > 1700 {
		t.Errorf("%v px wide", p.width)
	}
}

func TestChainIsOneStraightLine(t *testing.T) {
	for _, r := range layoutPlan(chain(6)).routes {
		if len(r.points) != 2 {
			t.Errorf("edge %d bends: %v", r.edge, r.points)
		}
	}
}

func TestEdgesReachTheRoundEndsOfFinalStates(t *testing.T) {
	g := graphOf("abc", "ac", "ac", "ac", "ca")
	g.Nodes[2].Final = true
	p := layoutMachine(g)
	for _, r := range p.routes[:3] {
		points, b := p.visible(r), p.boxes[2]
		tip := points[len(points)-1]
		dx, dy := tip.x+2-b.x-b.h/2, tip.y-b.y-b.h/2
		if d := math.Hypot(dx, dy); math.Abs(d-b.h/2) > near {
			t.Errorf("edge %d ends %v px from the round end's middle, which is %v round", r.edge, d, b.h/2)
		}
	}
}

func TestStepIsRightOfWhatItDependsOn(t *testing.T) {
	p := layoutPlan(graphOf("edcba", "ab", "bc", "ac", "ad", "ce"))
	for _, r := range p.routes {
		if p.boxes[r.to].x <= p.boxes[r.from].x {
			t.Errorf("edge %d goes from %v to %v", r.edge, p.boxes[r.from], p.boxes[r.to])
		}
	}
}

func TestCyclesDanglingAndDoubleInputIsDrawn(t *testing.T) {
	for _, g := range []Graph{
		graphOf("abc", "ab", "bc", "ca"), graphOf("ab", "ab", "ba", "ab", "aa", "bb", "bb"), graphOf("aab", "ab", "xb", "ax"), graphOf(""), graphOf("a"),
	} {
		nodes, arcs, loops := g.resolve()
		for _, p := range []picture{layoutPlan(g), layoutMachine(g)} {
			if len(p.boxes) != len(nodes) || len(nodes) > 0 && len(p.routes) != len(arcs)+len(loops) {
				t.Errorf("%d boxes, %d lines for %+v", len(p.boxes), len(p.routes), g)
			}
		}
	}
}

func TestStoredPositionsAreKeptInOrder(t *testing.T) {
	g := graphOf("abcd", "ab", "cd", "da")
	for i, at := range [][2]float64{{500, 300}, {510, 12}, {0, 10}, {0, 305}} {
		g.Nodes[i].X, g.Nodes[i].Y, g.Nodes[i].Placed = at[0], at[1], true
	}
	b := layoutMachine(g).boxes
	if b[0].x != b[1].x || b[2].x != b[3].x || b[0].x <= b[2].x || b[1].y != b[2].y || b[0].y != b[3].y || b[0].y <= b[1].y {
		t.Errorf("%v", b)
	}
}

func TestStatesOnEachOtherComeInLayers(t *testing.T) {
	g := graphOf("abc", "ab", "bc")
	g.Nodes[0].Start = true
	for i := range g.Nodes {
		g.Nodes[i].Placed = true
	}
	b := layoutMachine(g).boxes
	if b[0].x >= b[1].x || b[1].x >= b[2].x {
		t.Errorf("%v", b)
	}
}

func TestLayersBeginAtTheStartAndEndWithTheFinals(t *testing.T) {
	g := graphOf("zabcs", "sa", "ab", "bc", "cs", "sz")
	g.Nodes[4].Start, g.Nodes[0].Final = true, true
	b := layoutMachine(g).boxes
	for i, box := range b {
		if box.x < b[4].x || box.x > b[0].x {
			t.Errorf("%s at %v; the start is at %v, the final at %v", g.Nodes[i].ID, box, b[4], b[0])
		}
	}
}

// What is made bounds the time: items are lanes and nodes, and everything else is
// near linear in them.
func TestLargestGraphsNeedBoundedWork(t *testing.T) {
	nodes := MaxNodes
	if testing.Short() {
		nodes /= 4
	}
	for name, g := range large(nodes) {
		nodes, arcs, loops := g.resolve()
		back := backward(len(nodes), arcs, nil)
		s := start(g, planMeasures(), nodes, arcs, loops)
		s.place(layers(len(nodes), arcs, back), rowLayers)
		s.thread(back)
		s.arrange()
		s.hang()
		if most := len(nodes) + 24*len(arcs); len(s.items) > most {
			t.Errorf("%s: %d items, at most %d", name, len(s.items), most)
		}
		if svg := Plan(g); len(svg) > 8<<20 {
			t.Errorf("%s: %d bytes", name, len(svg))
		}
	}
}

// TestDrawingCostsWhatIsDrawn: four times the graph costs four times the work.
func TestDrawingCostsWhatIsDrawn(t *testing.T) {
	n := MaxNodes / 4
	if testing.Short() {
		n /= 4
	}
	for name := range large(n) {
		t.Run(name, func(t *testing.T) {
			allocbudget.Proportional(t, n, func(n int) func() {
				g := large(n)[name]
				return func() { Plan(g) }
			})
			allocbudget.Proportional(t, n, func(n int) func() {
				g := large(n)[name]
				for i := range g.Nodes {
					g.Nodes[i].X, g.Nodes[i].Y, g.Nodes[i].Placed = float64(i*7919%1000)*100, float64(i)*100, true
				}
				return func() { Machine(g) }
			})
		})
	}
}

// large are graphs of so many nodes, with as many edges as the largest have for each.
func large(nodes int) map[string]Graph {
	long, wide, dense, twins := chain(nodes), chain(nodes), chain(nodes), chain(2)
	wide.Edges, dense.Edges = nil, nil
	edges := MaxEdges / MaxNodes * nodes
	for k := range edges - nodes {
		a, b := k*7919%nodes, k*104729%nodes
		long.connect(min(a, b), max(a, b))
		wide.connect(a%(nodes/2), nodes/2+b%(nodes/2))
		dense.connect(a, b)
	}
	for range edges - 10 {
		twins.connect(0, 1)
		twins.Edges[len(twins.Edges)-1].Label = []string{fmt.Sprint("over ", len(twins.Edges))}
	}
	return map[string]Graph{"long": long, "wide": wide, "dense": dense, "twins": twins}
}

func BenchmarkLargest(b *testing.B) {
	for name, g := range large(MaxNodes) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Plan(g)
			}
		})
		b.Run(name+" machine", func(b *testing.B) {
			for b.Loop() {
				Machine(g)
			}
		})
	}
}
