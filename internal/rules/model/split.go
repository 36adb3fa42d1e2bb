package model

import "slices"

// split parts cells into those for which the condition at entry holds and those
// for which it doesn't. When the work ends first, parts are missing.
func (w *walk) split(entry int32, cells []int32) (holds, fails [][]int32) {
	open := []parting{{entry, cells}}
	w.work -= 2
	for len(open) > 0 && w.work > 0 {
		p := open[len(open)-1]
		open = open[:len(open)-1]
		for p.entry >= 0 && w.work > 0 {
			other, parted := w.test(&p)
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

// parting is cells amid a condition.
type parting struct {
	entry int32
	cells []int32
}

// test goes over one test; where it parts the cells, p goes on with those for
// which it holds.
func (w *walk) test(p *parting) (other parting, parted bool) {
	t := &w.m.tests[p.entry]
	yes, no := w.halves(p.entry, t, p.cells)
	w.work--
	switch {
	case no == noKinds:
		p.entry = t.yes
	case yes == noKinds:
		p.entry = t.no
	default:
		other = parting{t.no, w.with(p.cells, t.slot, no)}
		*p = parting{t.yes, w.with(p.cells, t.slot, yes)}
		return other, true
	}
	return other, false
}

// halves is the sets of an input that a test leaves on either side; memory is on
// one side whole.
func (w *walk) halves(at int32, t *test, cells []int32) (yes, no int32) {
	i := w.places[t.slot]
	switch {
	case w.kinds[i] != nil:
		return w.kinds[i].split(cells[i], at, t, &w.work)
	case t.in&relationOf(cells[i], t.rank) != 0:
		return allKinds, noKinds
	default:
		return noKinds, allKinds
	}
}

func (w *walk) with(cells []int32, slot, set int32) []int32 {
	w.work -= len(cells) / 8
	cells = slices.Clone(cells)
	cells[w.places[slot]] = set
	return cells
}
