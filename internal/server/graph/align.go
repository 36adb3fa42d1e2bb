package graph

import (
	"cmp"
	"math"
	"slices"
)

// align gives every item its y. Each pass fits the columns to their left neighbors, to
// their right neighbors and to both; the straightest result is kept. All results are
// whole numbers.
func (s *sketch) align() {
	left, right := s.sides()
	s.dock(left, right)
	s.count(left, right)
	for r := range s.rows {
		s.stack(&s.rows[r])
		best, least := s.heights(&s.rows[r]), math.Inf(1)
		for pass := range s.passes() {
			for k := range s.rows[r].slots {
				s.pass(&s.rows[r], k, pass, left, right)
			}
			if c := s.crookedness(&s.rows[r], right); c < least {
				best, least = s.heights(&s.rows[r]), c
			}
		}
		s.settle(&s.rows[r], best)
	}
	for range 2 {
		s.straighten()
		s.redock(left, right)
	}
}

// count finds how many links meet at each link's node, on its side; the larger end
// counts.
func (s *sketch) count(left, right [][]int) {
	s.degree = make([]int, len(s.links))
	for v := range s.nodes {
		for _, side := range [2][]int{left[v], right[v]} {
			for _, l := range side {
				s.degree[l] = max(s.degree[l], len(side))
			}
		}
	}
}

func (s *sketch) passes() int {
	if len(s.items) > 5000 {
		return 4
	}
	return 18
}

// pass fits the columns: rightwards to the left neighbors, leftwards to the right ones,
// then to both.
func (s *sketch) pass(r *row, k, pass int, left, right [][]int) {
	slot := k
	if pass%2 == 1 {
		slot = r.last() - k
	}
	switch {
	case pass%6 >= 4:
		s.fitColumn(r.slots[slot], left, right)
	case pass%2 == 0:
		s.fitColumn(r.slots[slot], left)
	default:
		s.fitColumn(r.slots[slot], right)
	}
}

// stack is the initial placement: each column as tight as possible around the middle,
// or the stored positions.
func (s *sketch) stack(r *row) {
	for _, column := range r.slots {
		gaps := s.gapsOf(column)
		if s.stored != nil {
			s.fitColumn(column)
			continue
		}
		y := 0.0
		for at, i := range column {
			y += gaps[at]
			s.items[i].y = y
		}
		for _, i := range column {
			s.items[i].y -= math.Floor(y / 2)
		}
	}
}

// gapsOf is how far each item has to be below the one above it.
func (s *sketch) gapsOf(column []int) []float64 {
	gaps := make([]float64, len(column))
	for at := 1; at < len(column); at++ {
		a, b := s.items[column[at-1]], s.items[column[at]]
		gaps[at] = a.below + b.above + apart(a, b)
	}
	return gaps
}

func apart(a, b item) float64 {
	switch {
	case a.node >= 0 && b.node >= 0:
		return nodeApart
	case a.node >= 0 || b.node >= 0:
		return laneApart
	default:
		return laneRoom
	}
}

func (s *sketch) fitColumn(column []int, sides ...[][]int) {
	wants := make([]vote, len(column))
	for at, i := range column {
		wants[at] = s.wish(i, sides)
	}
	for at, y := range fit(wants, s.gapsOf(column)) {
		s.items[column[at]].y = math.Floor(y + 0.5)
	}
}

// pinWeight exceeds the weight of any number of edges.
const pinWeight = 1e6

// wish is the y at which the median of an item's edges would be straight.
func (s *sketch) wish(i int, sides [][][]int) vote {
	it := s.items[i]
	if it.pinned {
		return vote{s.stored[i], pinWeight}
	}
	votes := []vote{}
	for _, side := range sides {
		for _, l := range side[i] {
			if k := s.links[l]; !k.turn {
				votes = append(votes, vote{s.items[s.other(l, i)].y + s.step(l, i), s.pull(l, i)})
			}
		}
	}
	if len(votes) == 0 {
		return vote{it.y, 0.5}
	}
	slices.SortFunc(votes, func(a, b vote) int { return cmp.Compare(a.y, b.y) })
	weight := float64(len(votes))
	if it.node >= 0 {
		weight *= 2
	}
	return vote{median(votes), weight}
}

// step is how far a link's other end must move to be level with i.
func (s *sketch) step(l, i int) float64 {
	if k := s.links[l]; k.a == i {
		return k.db - k.da
	}
	return s.links[l].da - s.links[l].db
}

// weight prefers straight long edges, since a bend between lanes serves no purpose, and
// then those between neighboring layers.
func (s *sketch) weight(l link) float64 {
	switch a, b := s.items[l.a], s.items[l.b]; {
	case a.node >= 0 && b.node >= 0:
		return 3
	case a.node < 0 && b.node < 0:
		return 8
	case a.direct || b.direct:
		return 3
	default:
		return 2
	}
}

// pull is a link's weight for one of its items. A lane between two nodes would settle
// halfway, with two bends, so it follows the end without other edges, else the right
// one.
func (s *sketch) pull(l, i int) float64 {
	k := s.links[l]
	w := s.weight(k)
	if s.items[i].node >= 0 {
		return w
	}
	if other := s.other(l, i); s.items[other].node >= 0 && s.degree[l] == 1 {
		w++
	}
	if k.a == i {
		w += 0.5
	}
	return w
}

// crookedness is what the sweeps minimize: the height of all bends plus their number,
// since many low bends look worse than a high one.
func (s *sketch) crookedness(r *row, right [][]int) float64 {
	sum := 0.0
	for _, column := range r.slots {
		for _, i := range column {
			for _, l := range right[i] {
				k := s.links[l]
				if d := math.Abs(s.items[k.a].y + k.da - s.items[k.b].y - k.db); d > 0 {
					sum += s.weight(k)*d + 30
				}
			}
		}
	}
	return sum
}

func (s *sketch) heights(r *row) []float64 {
	ys := []float64{}
	for _, column := range r.slots {
		for _, i := range column {
			ys = append(ys, s.items[i].y)
		}
	}
	return ys
}

func (s *sketch) settle(r *row, ys []float64) {
	at := 0
	for _, column := range r.slots {
		for _, i := range column {
			s.items[i].y = ys[at]
			at++
		}
	}
}
