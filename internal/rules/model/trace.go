package model

import (
	"slices"

	"github.com/countersign/countersign"
)

// trace is the sequence of arcs that a machine takes from given values, up to a final
// state, a state without an enabled arc, or the first recurrence.
type trace struct {
	arcs    []int32
	outcome string
}

// follow computes the trace from cells. It is exact for any length and keeps only the
// arcs taken and one earlier point: the machine is a function of (state, cells), so
// Brent's algorithm finds the length of its cycle, and a second pass finds where the
// cycle is entered. ok is false when the budget ran out.
func (m *Machine) follow(cells []int32, budget *int) (c trace, ok bool) {
	current, saved := m.point(cells), m.point(cells)
	steps, power, differ := 0, 1, 0
	for *budget > 0 {
		if m.nodes[current.state].final {
			c.outcome = countersign.OutcomeFinal
			return c, true
		}
		arc := m.next(current.state, current.cells, budget)
		if arc == none {
			c.outcome = countersign.OutcomeStuck
			return c, true
		}
		c.arcs = append(c.arcs, arc)
		differ += m.advance(&current, &saved, arc)
		*budget -= len(m.arcs[arc].effects)
		if steps++; differ == 0 && current.state == saved.state {
			c.outcome = countersign.OutcomeLoop
			c.arcs = c.arcs[:m.recurrence(cells, c.arcs, steps)]
			return c, true
		}
		if steps == power { // move the saved point up, and wait twice as long for the next move
			saved.state, steps, power, differ = current.state, 0, 2*power, 0
			copy(saved.cells, current.cells)
		}
	}
	return c, false
}

// point is a configuration of the machine; a trace loops when one recurs.
type point struct {
	state int32
	cells []int32
}

func (m *Machine) point(cells []int32) point {
	return point{state: m.start, cells: slices.Clone(cells)}
}

// advance moves p along an arc and returns the change in the number of cells in which
// p and other differ. So comparing two points costs as much as the effects, however
// many variables there are.
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

// recurrence is the number of steps after which a point first recurs: two points
// follow the known arcs, one cycle apart, until they are equal.
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

// path lists the ids of the states that a trace visits, including the start.
func (m *Machine) path(c trace) []string {
	ids := make([]string, len(c.arcs)+1)
	for i := range ids {
		ids[i] = m.visited(c, i)
	}
	return ids
}

// visited is the i-th state of a trace's path.
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
