package graph

import "math"

// straighten moves an edge's lanes to one height if their columns have room: sweeps
// leave small steps that look like mistakes.
func (s *sketch) straighten() {
	s.renumber()
	for _, t := range s.trails {
		for p, part := range t.parts {
			if len(part) > 2 || t.round >= 0 {
				s.flatten(part, t.links[p])
			}
		}
	}
}

func (s *sketch) renumber() {
	for r := range s.rows {
		for _, column := range s.rows[r].slots {
			s.number(column)
		}
	}
}

// flatten tries the current heights of the part's segments and keeps the one with the
// fewest bends.
func (s *sketch) flatten(part, links []int) {
	lanes, lo, hi := []int{}, math.Inf(-1), math.Inf(1)
	for _, i := range part {
		if s.items[i].node < 0 {
			a, b := s.room(i)
			lanes, lo, hi = append(lanes, i), max(lo, a), min(hi, b)
		}
	}
	best, least := math.NaN(), s.bends(links)
	for _, y := range s.candidates(links) {
		if y < lo || y > hi {
			continue
		}
		old := s.move(lanes, y)
		if n := s.bends(links); n < least {
			best, least = y, n
		}
		for k, i := range lanes {
			s.items[i].y = old[k]
		}
	}
	if !math.IsNaN(best) {
		s.move(lanes, best)
	}
}

// candidates are the heights of a part's ends, and then of its lanes.
func (s *sketch) candidates(links []int) []float64 {
	ys := []float64{}
	for _, l := range links {
		if k := s.links[l]; k.turn {
			return nil // its two lanes have to differ
		}
		ys = append(ys, s.ya(s.links[l]), s.yb(s.links[l]))
	}
	return ys
}

func (s *sketch) bends(links []int) int {
	n := 0
	for _, l := range links {
		if s.bent(s.links[l]) {
			n++
		}
	}
	return n
}

func (s *sketch) move(lanes []int, y float64) (old []float64) {
	for _, i := range lanes {
		old = append(old, s.items[i].y)
		s.items[i].y = y
	}
	return old
}

// room is how far up and down an item can move between its neighbors.
func (s *sketch) room(i int) (lo, hi float64) {
	it := s.items[i]
	column, at := s.rows[it.row].slots[it.slot], s.rank[i]
	lo, hi = math.Inf(-1), math.Inf(1)
	if at > 0 {
		above := s.items[column[at-1]]
		lo = above.y + above.below + it.above + apart(above, it)
	}
	if at+1 < len(column) {
		below := s.items[column[at+1]]
		hi = below.y - below.above - it.below - apart(it, below)
	}
	return lo, hi
}
