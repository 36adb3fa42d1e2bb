package model

import "slices"

// overlap is two arcs of one state and priority whose conditions hold at once:
// which of them is taken is only said by their order in the document.
type overlap struct {
	first, second int32 // arcs
	at            int32 // the pair where it was seen
	left          []choice
}

// maxOverlaps bounds the list; a state with n equal transitions has n² of them.
const maxOverlaps = maxFindings + 1

// compete looks for overlaps among the arcs of one priority, when i is the first
// of them: with the values for which none of a smaller priority is taken.
func (w *walk) compete(at, i int32, parts [][]int32) {
	end := w.rivals(at, i)
	if end-i < 2 {
		return
	}
	for _, part := range parts {
		if w.work > 0 && len(w.overlaps) < maxOverlaps && w.unjudged(i, end, part) {
			for first := i; first < end; first++ {
				w.meet(at, first, end, part)
			}
		}
	}
}

// rivals is the end of the arcs with the priority of arc i; i itself when it is
// not the first of them.
func (w *walk) rivals(at, i int32) int32 {
	n, priority := w.m.nodes[w.pairs[at].state], w.m.arcs[i].transition.Priority
	if i > n.arcs && w.m.arcs[i-1].transition.Priority == priority {
		return i
	}
	end := i + 1
	for end < n.end && w.m.arcs[end].transition.Priority == priority {
		end++
	}
	return end
}

// unjudged reports that these arcs weren't looked at with the same values before.
func (w *walk) unjudged(i, end int32, part []int32) bool {
	looked := w.looked(i, end)
	key := keyOf(nil, []int32{i})
	for _, place := range looked {
		key = keyOf(key, part[place:place+1])
	}
	w.work -= 20 + len(looked)
	before := w.judged[string(key)]
	w.judged[string(key)] = true
	return !before
}

// looked is the cells that the conditions of these arcs look at.
func (w *walk) looked(i, end int32) []int32 {
	places, found := w.rivalry[i]
	if !found {
		for _, t := range w.m.tests[w.m.arcs[i].tests:w.m.arcs[end-1].testsEnd] {
			places = append(places, w.places[t.slot])
		}
		slices.Sort(places)
		places = slices.Compact(places)
		w.rivalry[i] = places
	}
	return places
}

// meet tries one arc with all that stand behind it.
func (w *walk) meet(at, first, end int32, part []int32) {
	holds, _ := w.split(w.m.arcs[first].entry, part)
	for second := first + 1; second < end && len(holds) > 0; second++ {
		if w.pairings[[2]int32{first, second}] {
			continue
		}
		for _, cells := range holds {
			both, _ := w.split(w.m.arcs[second].entry, cells)
			if len(both) > 0 {
				w.pairings[[2]int32{first, second}] = true
				w.overlaps = append(w.overlaps, overlap{first, second, at, w.choices(at, both[0])})
				break
			}
		}
	}
}
