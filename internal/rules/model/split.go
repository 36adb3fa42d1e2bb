package model

import "slices"

// split divides cells into those for which the condition at entry holds and those for
// which it does not. If the work runs out, parts are missing.
func (w *stateSpace) split(entry int32, cells []int32) (holds, fails [][]int32) {
	open := []branch{{entry, cells}}
	w.work -= 2
	for len(open) > 0 && w.work > 0 {
		p := open[len(open)-1]
		open = open[:len(open)-1]
		for p.entry >= 0 && w.work > 0 {
			other, parted := w.step(&p)
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
func (w *stateSpace) step(p *branch) (other branch, parted bool) {
	t := &w.m.tests[p.entry]
	yes, no := w.splitCell(p.entry, t, p.cells)
	w.work--
	switch {
	case no == noValues:
		p.entry = t.yes
	case yes == noValues:
		p.entry = t.no
	default:
		other = branch{t.no, w.with(p.cells, t.slot, no)}
		*p = branch{t.yes, w.with(p.cells, t.slot, yes)}
		return other, true
	}
	return other, false
}

// splitCell returns the subsets for which a test holds and fails. A memory cell is a
// single value, so one side is empty.
func (w *stateSpace) splitCell(at int32, t *test, cells []int32) (yes, no int32) {
	i := w.cellOf[t.slot]
	switch {
	case w.sets[i] != nil:
		return w.sets[i].split(cells[i], at, t, &w.work)
	case t.in&relationOf(cells[i], t.rank) != 0:
		return allValues, noValues
	default:
		return noValues, allValues
	}
}

func (w *stateSpace) with(cells []int32, slot, set int32) []int32 {
	w.work -= len(cells) / 8
	cells = slices.Clone(cells)
	cells[w.cellOf[slot]] = set
	return cells
}
