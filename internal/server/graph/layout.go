package graph

import (
	"math"
	"slices"
)

type point struct{ x, y float64 }

type box struct{ x, y, w, h float64 }

// picture is the finished geometry, in px.
type picture struct {
	width, height float64
	nodes         []Node
	boxes         []box // by node
	starts        []point
	routes        []route
}

// route is an edge: where it runs, and where its label is.
type route struct {
	edge     int
	from, to int // nodes
	points   []point
	text     block
	label    box // empty without a label
}

// laneLimit is the most lanes of a machine with stored positions; one with more is
// drawn in layers, whose rows need fewer.
const laneLimit = 20000

func layoutPlan(g Graph) picture {
	nodes, arcs, loops := g.resolve()
	back := backward(len(nodes), arcs, nil)
	s := start(g, planMeasures(), nodes, arcs, loops)
	return s.layered(layers(len(nodes), arcs, back), rowLayers, back)
}

func layoutMachine(g Graph) picture {
	nodes, arcs, loops := g.resolve()
	s := start(g, machineMeasures(nodes), nodes, arcs, loops)
	if column, y, count, ok := grid(nodes, s.nodeWidth); ok && lanesNeeded(column, arcs) <= laneLimit {
		s.stored = y
		s.place(column, count)
		s.thread(leftward(column, arcs))
		s.steer()
		return s.finish()
	}
	back := backward(len(nodes), arcs, starts(nodes))
	layer := layers(len(nodes), arcs, back)
	perRow := rowLayers
	if count := slices.Max(append(layer, 0)) + 1; count <= machineLayers {
		finalsLast(nodes, arcs, back, layer, count-1)
		perRow = machineLayers
	}
	return s.layered(layer, perRow, back)
}

func (s *sketch) layered(layer []int, perRow int, back []bool) picture {
	s.place(layer, perRow)
	s.thread(back)
	s.arrange()
	return s.finish()
}

func start(g Graph, m measures, nodes []Node, arcs, loops []arc) *sketch {
	s := &sketch{measures: m, nodes: nodes, edges: g.Edges, arcs: arcs, loops: loops}
	s.blocks = make([]block, len(arcs))
	for i, a := range arcs {
		s.blocks[i] = m.block(g.Edges[a.edge])
	}
	return s
}

func (s *sketch) finish() picture {
	if len(s.nodes) == 0 {
		return picture{width: 2 * margin, height: 2 * margin}
	}
	s.hang()
	s.align()
	s.frame()
	return s.picture()
}

func starts(nodes []Node) []int {
	list := []int{}
	for v, n := range nodes {
		if n.Start {
			list = append(list, v)
		}
	}
	return list
}

// finalsLast moves final states that lead nowhere to the last layer.
func finalsLast(nodes []Node, arcs []arc, back []bool, layer []int, last int) {
	leads := make([]bool, len(nodes))
	for i, a := range arcs {
		if back[i] {
			leads[a.to] = true
		} else {
			leads[a.from] = true
		}
	}
	for v, n := range nodes {
		if n.Final && !leads[v] {
			layer[v] = last
		}
	}
}

func (s *sketch) picture() picture {
	p := picture{width: math.Ceil(s.pageWidth), height: math.Ceil(s.height), nodes: s.nodes}
	for v, n := range s.nodes {
		it := s.items[v]
		b := box{s.rows[it.row].x[it.slot], s.pageY(v) - nodeHeight/2, s.nodeWidth, nodeHeight}
		p.boxes = append(p.boxes, b)
		if n.Start {
			p.starts = append(p.starts, point{b.x, b.y + b.h/2 + s.startPort(v)})
		}
	}
	labels := s.labelBoxes()
	for i, a := range s.arcs {
		p.routes = append(p.routes, route{a.edge, a.from, a.to, s.route(i), s.blocks[i], labels[i]})
	}
	p.routes = append(p.routes, s.loopRoutes(p.boxes)...)
	return p
}

func (s *sketch) startPort(v int) float64 {
	n := 1
	for _, l := range s.links {
		if l.b == v && !l.turn {
			n++
		}
	}
	return port(0, n)
}
