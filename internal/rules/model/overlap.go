package model

import "slices"

// overlap is two arcs of one state and priority whose conditions can hold at once;
// their order in the document decides.
type overlap struct {
	first, second int32 // arcs
	pair          int32 // where it was found
	narrowed      []restriction
}

// maxOverlaps bounds the list; a state with n equal transitions has n² of them.
const maxOverlaps = maxFindings + 1

// findOverlaps looks for overlaps among the arcs of one priority if i is the first of
// them. parts are the values for which no arc of smaller priority is taken.
func (space *stateSpace) findOverlaps(at, i int32, parts [][]int32) {
	end := space.priorityEnd(at, i)
	if end-i < 2 {
		return
	}
	for _, part := range parts {
		if space.work > 0 && len(space.overlaps) < maxOverlaps && space.untested(i, end, part) {
			for first := i; first < end; first++ {
				space.overlapsOf(at, first, end, part)
			}
		}
	}
}

// priorityEnd is the end of the arcs with the priority of arc i; i itself if it is not
// the first of them.
func (space *stateSpace) priorityEnd(at, i int32) int32 {
	n, priority := space.m.nodes[space.pairs[at].state], space.m.arcs[i].transition.Priority
	if i > n.arcs && space.m.arcs[i-1].transition.Priority == priority {
		return i
	}
	end := i + 1
	for end < n.end && space.m.arcs[end].transition.Priority == priority {
		end++
	}
	return end
}

// untested reports whether these arcs have not been tested with these values yet.
func (space *stateSpace) untested(i, end int32, part []int32) bool {
	looked := space.cellsTestedBy(i, end)
	key := keyOf(nil, []int32{i})
	for _, place := range looked {
		key = keyOf(key, part[place:place+1])
	}
	space.work -= 20 + len(looked)
	before := space.overlapTested[string(key)]
	space.overlapTested[string(key)] = true
	return !before
}

// cellsTestedBy lists the cells that the conditions of these arcs test.
func (space *stateSpace) cellsTestedBy(i, end int32) []int32 {
	places, found := space.testedCells[i]
	if !found {
		for _, t := range space.m.tests[space.m.arcs[i].tests:space.m.arcs[end-1].testsEnd] {
			places = append(places, space.cellOf[t.slot])
		}
		slices.Sort(places)
		places = slices.Compact(places)
		space.testedCells[i] = places
	}
	return places
}

// overlapsOf tests one arc against all later ones of its priority.
func (space *stateSpace) overlapsOf(at, first, end int32, part []int32) {
	holds, _ := space.split(space.m.arcs[first].entry, part)
	for second := first + 1; second < end && len(holds) > 0; second++ {
		if space.overlapFound[[2]int32{first, second}] {
			continue
		}
		for _, cells := range holds {
			both, _ := space.split(space.m.arcs[second].entry, cells)
			if len(both) > 0 {
				space.overlapFound[[2]int32{first, second}] = true
				space.overlaps = append(space.overlaps, overlap{first, second, at, space.restrictions(at, both[0])})
				break
			}
		}
	}
}
