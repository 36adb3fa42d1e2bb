package model

import "slices"

// split divides cells into those for which the condition at entry holds and those for
// which it does not. If the work runs out, parts are missing.
func (space *stateSpace) split(entry int32, cells []int32) (holds, fails [][]int32) {
	open := []branch{{entry, cells}}
	space.work -= 2
	for len(open) > 0 && space.work > 0 {
		p := open[len(open)-1]
		open = open[:len(open)-1]
		for p.entry >= 0 && space.work > 0 {
			other, parted := space.step(&p)
			if parted {
				open = append(open, other)
			}
		}
		switch p.entry {
		case accept:
			holds = append(holds, p.cells)
		case reject:
			fails = append(fails, p.cells)
		}
	}
	return holds, fails
}

// branch is a set of values at one test of a condition.
type branch struct {
	entry int32
	cells []int32
}

// step evaluates one test. If it splits the cells, p continues with those for which it
// holds, and other has the rest.
func (space *stateSpace) step(p *branch) (other branch, parted bool) {
	t := &space.m.tests[p.entry]
	yes, no := space.splitCell(p.entry, t, p.cells)
	space.work--
	switch {
	case no == noValues:
		p.entry = t.yes
	case yes == noValues:
		p.entry = t.no
	default:
		other = branch{t.no, space.with(p.cells, t.slot, no)}
		*p = branch{t.yes, space.with(p.cells, t.slot, yes)}
		return other, true
	}
	return other, false
}

// splitCell returns the subsets for which a test holds and fails. A memory cell is a
// single value, so one side is empty.
func (space *stateSpace) splitCell(at int32, t *test, cells []int32) (yes, no int32) {
	i := space.cellOf[t.slot]
	switch {
	case space.sets[i] != nil:
		return space.sets[i].split(cells[i], at, t, &space.work)
	case t.in&relationOf(cells[i], t.rank) != 0:
		return allValues, noValues
	default:
		return noValues, allValues
	}
}

func (space *stateSpace) with(cells []int32, slot, set int32) []int32 {
	space.work -= len(cells) / 8
	cells = slices.Clone(cells)
	cells[space.cellOf[slot]] = set
	return cells
}
