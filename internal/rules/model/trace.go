package model

import (
	"slices"

	"github.com/countersign/countersign"
)

// trace is the way that a machine takes from given values: the arcs up to the
// toFinal state, to where no arc is enabled, or to the first recurrence.
type trace struct {
	arcs    []int32
	outcome string
}

// follow finds the course that starts with cells. It is exact however long the
// trace is and remembers nothing but the arcs taken and one earlier point: the
// machine is a function of (state, cells), so Brent's algorithm finds the length
// of its cycle, and a second pass finds where the cycle is first entered. ok is
// false when the budget ended first.
func (m *Machine) follow(cells []int32, budget *int) (c trace, ok bool) {
	at, mark := m.point(cells), m.point(cells)
	lap, power, differ := 0, 1, 0
	for *budget > 0 {
		if m.nodes[at.state].final {
			c.outcome = countersign.OutcomeFinal
			return c, true
		}
		arc := m.next(at.state, at.cells, budget)
		if arc == none {
			c.outcome = countersign.OutcomeStuck
			return c, true
		}
		c.arcs = append(c.arcs, arc)
		differ += m.advance(&at, &mark, arc)
		*budget -= len(m.arcs[arc].effects)
		if lap++; differ == 0 && at.state == mark.state {
			c.outcome = countersign.OutcomeLoop
			c.arcs = c.arcs[:m.recurrence(cells, c.arcs, lap)]
			return c, true
		}
		if lap == power { // the mark moves up and waits twice as long
			mark.state, lap, power, differ = at.state, 0, 2*power, 0
			copy(mark.cells, at.cells)
		}
	}
	return c, false
}

// point is where a course is: what recurs when it loops.
type point struct {
	state int32
	cells []int32
}

func (m *Machine) point(cells []int32) point {
	return point{state: m.start, cells: slices.Clone(cells)}
}

// advance moves p along an arc and returns by how much the number of cells in
// which p and other differ changes. So comparing two points costs what the
// effects cost, however many variables there are.
func (m *Machine) advance(p, other *point, arc int32) (change int) {
	a := &m.arcs[arc]
	p.state = a.to
	for _, e := range a.effects {
		before, after := p.cells[e.slot] != other.cells[e.slot], e.rank != other.cells[e.slot]
		p.cells[e.slot] = e.rank
		switch {
		case after && !before:
			change++
		case before && !after:
			change--
		}
	}
	return change
}

// recurrence is the number of steps after which a point recurs for the first
// time: two points go along the known arcs, one cycle apart, until they meet.
func (m *Machine) recurrence(cells []int32, arcs []int32, cycle int) int {
	ahead, behind := m.point(cells), m.point(cells)
	differ := 0
	for _, arc := range arcs[:cycle] {
		differ += m.advance(&ahead, &behind, arc)
	}
	entry := 0
	for ; differ != 0 || ahead.state != behind.state; entry++ {
		differ += m.advance(&ahead, &behind, arcs[entry+cycle])
		differ += m.advance(&behind, &ahead, arcs[entry])
	}
	return entry + cycle
}

// path is the state ids that a course visits, the start included.
func (m *Machine) path(c trace) []string {
	ids := make([]string, len(c.arcs)+1)
	for i := range ids {
		ids[i] = m.visited(c, i)
	}
	return ids
}

// visited is the i-th state of a course's path.
func (m *Machine) visited(c trace, i int) string {
	if i == 0 {
		return m.stateID(m.start)
	}
	return m.stateID(m.arcs[c.arcs[i-1]].to)
}

// result is the simulatedResult of the last action taken, "" when none was.
func (m *Machine) result(c trace) string {
	for i := len(c.arcs) - 1; i >= 0; i-- {
		if a := m.arcs[c.arcs[i]].action; a != nil {
			return a.SimulatedResult
		}
	}
	return ""
}
