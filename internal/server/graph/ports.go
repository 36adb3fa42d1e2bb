package graph

import (
	"cmp"
	"math"
	"slices"
)

// sides lists the links at the left and at the right of each item.
func (s *sketch) sides() (left, right [][]int) {
	left, right = make([][]int, len(s.items)), make([][]int, len(s.items))
	for i, l := range s.links {
		right[l.a] = append(right[l.a], i)
		if l.turn {
			right[l.b] = append(right[l.b], i)
		} else {
			left[l.b] = append(left[l.b], i)
		}
	}
	return left, right
}

// dock spreads a state's edges over its sides, ordered by their other ends, so that
// parallel edges stay separate. Steps have one port per side.
func (s *sketch) dock(left, right [][]int) {
	if s.shared {
		return
	}
	for v, n := range s.nodes {
		s.spread(v, right[v], 0)
		start := 0
		if n.Start {
			start = 1 // the start's arrow comes in above the others
		}
		s.spread(v, left[v], start)
	}
}

func (s *sketch) spread(v int, links []int, taken int) {
	slices.SortStableFunc(links, func(a, b int) int { return cmp.Compare(s.leads(v, a), s.leads(v, b)) })
	for k, l := range links {
		d := port(k+taken, len(links)+taken)
		if s.links[l].a == v {
			s.links[l].da = d
		} else {
			s.links[l].db = d
		}
	}
}

// leads is the rank of a link's other end; a turn within the column comes first if it
// leads up and last if it leads down.
func (s *sketch) leads(v, l int) float64 {
	other := s.other(l, v)
	if s.links[l].turn && s.rank[other] < s.rank[v] {
		return -1 - 1/float64(2+s.rank[other])
	}
	if s.links[l].turn {
		return math.MaxInt32 - float64(s.rank[other])
	}
	return float64(s.rank[other])
}

func (s *sketch) other(l, i int) int {
	if s.links[l].a == i {
		return s.links[l].b
	}
	return s.links[l].a
}

// port is the k-th of n ports on a node's side, spaced as labels need if they fit. It
// is a whole number.
func port(k, n int) float64 {
	if n < 2 {
		return 0
	}
	pitch := min(24, 40/float64(n-1))
	return math.Floor((float64(k)-float64(n-1)/2)*pitch + 0.5)
}

// portSpan is the largest distance of a port from the side's middle, portLeast the
// smallest between two ports.
const portSpan, portLeast = 20.0, 10.0

// redock moves ports to where their edges become straight, if the other ports leave
// room.
func (s *sketch) redock(left, right [][]int) {
	if s.shared {
		return
	}
	for v, n := range s.nodes {
		s.slide(v, right[v])
		if !n.Start {
			s.slide(v, left[v])
		}
	}
}

func (s *sketch) slide(v int, links []int) {
	wants, gaps := make([]vote, len(links)), make([]float64, len(links))
	for at, l := range links {
		k := s.links[l]
		own, there := k.da, s.yb(k)-s.items[v].y
		if k.b == v {
			own, there = k.db, s.ya(k)-s.items[v].y
		}
		wants[at], gaps[at] = vote{own, 1}, portLeast
		if !k.turn && math.Abs(there) <= portSpan {
			wants[at] = vote{there, 10}
		}
	}
	ports := fit(wants, gaps)
	if len(ports) == 0 || ports[0] < -portSpan || ports[len(ports)-1] > portSpan {
		return
	}
	for at, l := range links {
		if d := math.Floor(ports[at] + 0.5); s.links[l].a == v {
			s.links[l].da = d
		} else {
			s.links[l].db = d
		}
	}
}
