package graph

import (
	"cmp"
	"math"
	"slices"
)

// Stored positions are snapped to columns, which are then as wide as the drawing
// needs, and to heights on a grid; long empty distances are shortened.
const (
	gridStep  = 16.0
	gridLeast = nodeHeight + gridStep // between two states of a column
	gridMost  = 128.0                 // between two heights that are used
)

// grid is the column and the height of each state; not ok when one has no
// position, or two are in one place.
func grid(nodes []Node, width float64) (column []int, y []float64, count int, ok bool) {
	for _, n := range nodes {
		if !n.Placed || !onPlane(n.X) || !onPlane(n.Y) {
			return nil, nil, 0, false
		}
	}
	if len(nodes) == 0 {
		return nil, nil, 0, false
	}
	column, count = snapColumns(nodes, width)
	y = snapHeights(nodes)
	return column, y, count, apartInColumns(column, y)
}

// onPlane refuses NaN, infinities, and positions too large to subtract exactly.
func onPlane(v float64) bool { return v > -1e9 && v < 1e9 }

func snapColumns(nodes []Node, width float64) (column []int, count int) {
	column = make([]int, len(nodes))
	from := math.Inf(-1)
	for _, v := range sorted(nodes, func(n Node) float64 { return n.X }) {
		if nodes[v].X > from+width/2 {
			from = nodes[v].X
			count++
		}
		column[v] = count - 1
	}
	return column, count
}

func snapHeights(nodes []Node) []float64 {
	y := make([]float64, len(nodes))
	at, last := 0.0, math.NaN()
	for _, v := range sorted(nodes, func(n Node) float64 { return n.Y }) {
		snapped := math.Floor(nodes[v].Y/gridStep+0.5) * gridStep
		if snapped > last {
			at += min(gridMost, snapped-last)
		}
		last, y[v] = snapped, at
	}
	return y
}

func sorted(nodes []Node, key func(Node) float64) []int {
	order := make([]int, len(nodes))
	for v := range order {
		order[v] = v
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(key(nodes[a]), key(nodes[b])) })
	return order
}

func apartInColumns(column []int, y []float64) bool {
	last := map[int]float64{}
	order := make([]int, len(y))
	for v := range order {
		order[v] = v
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(y[a], y[b]) })
	for _, v := range order {
		if before, seen := last[column[v]]; seen && y[v]-before < gridLeast {
			return false
		}
		last[column[v]] = y[v]
	}
	return true
}

// leftward tells which arcs point to an earlier column.
func leftward(column []int, arcs []arc) []bool {
	back := make([]bool, len(arcs))
	for i, a := range arcs {
		back[i] = column[a.from] > column[a.to]
	}
	return back
}

func lanesNeeded(column []int, arcs []arc) int {
	n := 0
	for _, a := range arcs {
		n += max(column[a.from]-column[a.to], column[a.to]-column[a.from])
	}
	return n
}

// steer places the lanes between stored states: level with the target or the source,
// whichever meets fewer states, and around the nearer side of those that it meets.
func (s *sketch) steer() {
	for i, t := range s.trails {
		part, level := t.parts[0], s.level(i)
		for _, lane := range part[1 : len(part)-1] {
			s.items[lane].y = s.dodge(lane, level, t.back)
		}
	}
	s.rank = make([]int, len(s.items))
	for _, column := range s.rows[0].slots {
		slices.SortStableFunc(column, func(a, b int) int { return cmp.Compare(s.items[a].y, s.items[b].y) })
		s.number(column)
	}
}

func (s *sketch) level(arc int) float64 {
	part := s.trails[arc].parts[0]
	to, from := s.items[s.arcs[arc].to].y, s.items[s.arcs[arc].from].y
	met := [2]int{}
	for _, lane := range part[1 : len(part)-1] {
		for k, y := range [2]float64{to, from} {
			if s.inWay(lane, y) >= 0 {
				met[k]++
			}
		}
	}
	if met[1] < met[0] {
		return from
	}
	return to
}

// inWay is the state of a lane's column that a line at this height would touch.
func (s *sketch) inWay(lane int, y float64) int {
	it := s.items[lane]
	for _, i := range s.rows[it.row].slots[it.slot] {
		v := s.items[i]
		if v.node < 0 { // states come first
			break
		}
		if y > v.y-v.above-laneApart && y < v.y+v.below+laneApart {
			return i
		}
	}
	return -1
}

func (s *sketch) dodge(lane int, y float64, back bool) float64 {
	v := s.inWay(lane, y)
	if v < 0 {
		return y
	}
	if middle := s.items[v].y; y < middle || y == middle && !back {
		return middle - 1
	}
	return s.items[v].y + 1
}
