package graph

import (
	"cmp"
	"slices"
)

// arrange orders the items of the main columns to reduce crossings: barycenter sweeps,
// then exchanges of neighbors; the best order seen is kept.
func (s *sketch) arrange() {
	s.rank = make([]int, len(s.items))
	for r := range s.rows {
		s.arrangeRow(&s.rows[r])
	}
}

// arrangeRow tries several initial orders if that is cheap, since sweeps end near where
// they start.
func (s *sketch) arrangeRow(r *row) {
	first, size := r.copySlots(), 0
	for _, column := range r.slots {
		size += len(column)
		for _, i := range column {
			size += len(s.items[i].right)
		}
	}
	tries := 1
	if size <= exchangeSize {
		tries = 8
	}
	best, least := first, -1
	for try := 0; try < tries && least != 0; try++ {
		r.slots = begin(first, try%2 == 1, try/4)
		if slots, n := s.sweepRow(r, size, try%4 < 2); least < 0 || n < least {
			best, least = slots, n
		}
	}
	r.slots = best
	for _, column := range r.slots {
		s.number(column)
	}
}

// begin is an initial order: the given one, perhaps reversed, with so many first items of each
// column behind its others.
func begin(slots [][]int, reversed bool, rotated int) [][]int {
	slots = (&row{slots: slots}).copySlots()
	for k, column := range slots {
		if reversed {
			slices.Reverse(column)
		}
		n := min(rotated, len(column))
		slots[k] = slices.Concat(column[n:], column[:n])
	}
	return slots
}

// sweepRow sweeps from the current order and returns the best one seen.
func (s *sketch) sweepRow(r *row, size int, rightwards bool) (best [][]int, least int) {
	for _, column := range r.slots {
		s.number(column)
	}
	best, least = r.copySlots(), s.crossings(r)
	for sweep := 0; sweep < sweeps(size) && least > 0; sweep++ {
		s.sweep(r, (sweep%2 == 0) == rightwards)
		if size <= exchangeSize {
			s.exchange(r, sweep%2 == 1)
		}
		if n := s.crossings(r); n < least {
			best, least = r.copySlots(), n
		}
	}
	return best, least
}

// exchangeSize bounds the exchanges, which compare all edges of each pair of neighbors.
const exchangeSize = 800

// sweeps bounds the work on large graphs.
func sweeps(size int) int {
	if size > 5000 {
		return 4
	}
	return 16
}

func (r *row) copySlots() [][]int {
	c := make([][]int, len(r.slots))
	for i := range r.slots {
		c[i] = slices.Clone(r.slots[i])
	}
	return c
}

func (s *sketch) number(column []int) {
	for at, i := range column {
		s.rank[i] = at
	}
}

func (s *sketch) sweep(r *row, rightwards bool) {
	for k := range r.slots {
		column := r.slots[k]
		if !rightwards {
			column = r.slots[r.last()-k]
		}
		s.sortByNeighbours(column, rightwards)
	}
}

// sortByNeighbours sorts items by the mean rank of their neighbors on one side. Items
// without neighbors keep their place.
func (s *sketch) sortByNeighbours(column []int, left bool) {
	mean, moving := make(map[int]float64, len(column)), make([]int, 0, len(column))
	for _, i := range column {
		near := s.items[i].right
		if left {
			near = s.items[i].left
		}
		sum := 0
		for _, n := range near {
			sum += s.rank[n]
		}
		if len(near) > 0 {
			mean[i] = float64(sum) / float64(len(near))
			moving = append(moving, i)
		}
	}
	slices.SortStableFunc(moving, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
	next := 0
	for at, i := range column {
		if _, moves := mean[i]; moves {
			column[at] = moving[next]
			next++
		}
	}
	s.number(column)
}

// crossings counts pairs of edges that change sides between two main columns.
func (s *sketch) crossings(r *row) int {
	n := 0
	for slot := 0; slot+2 <= r.last(); slot += 2 {
		n += s.inversions(r.slots[slot], len(r.slots[slot+2]))
	}
	return n
}

// inversions walks the edges by their left end and counts, in a binary indexed
// tree over right ends, how many of the earlier ones end further down.
func (s *sketch) inversions(column []int, height int) int {
	tree, seen, count := make([]int, height+1), 0, 0
	ends := []int{}
	for _, i := range column {
		ends = ends[:0]
		for _, n := range s.items[i].right {
			ends = append(ends, s.rank[n])
		}
		for _, e := range ends {
			above := 0
			for k := e + 1; k > 0; k -= k & -k {
				above += tree[k]
			}
			count += seen - above
		}
		for _, e := range ends {
			seen++
			for k := e + 1; k <= height; k += k & -k {
				tree[k]++
			}
		}
	}
	return count
}

// exchange swaps neighbors in a column while that saves crossings. If loose, its first
// round also makes neutral swaps, which can escape local minima. The rounds are
// bounded.
func (s *sketch) exchange(r *row, loose bool) {
	for round, better := 0, true; better && round < 10; round++ {
		better = false
		for slot := 0; slot <= r.last(); slot += 2 {
			column := r.slots[slot]
			for at := 1; at < len(column); at++ {
				saved := s.saved(column[at-1], column[at])
				if saved > 0 || saved == 0 && loose && round == 0 {
					column[at-1], column[at] = column[at], column[at-1]
					s.rank[column[at-1]], s.rank[column[at]] = at-1, at
					better = true
				}
			}
		}
	}
}

// saved is how many crossings swapping a and b saves, with a above b.
func (s *sketch) saved(a, b int) int {
	x, y := s.items[a], s.items[b]
	now := s.inverted(x.left, y.left) + s.inverted(x.right, y.right)
	then := s.inverted(y.left, x.left) + s.inverted(y.right, x.right)
	return now - then
}

func (s *sketch) inverted(upper, lower []int) int {
	n := 0
	for _, u := range upper {
		for _, l := range lower {
			if s.rank[u] > s.rank[l] {
				n++
			}
		}
	}
	return n
}
