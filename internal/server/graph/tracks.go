package graph

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// net is the edges that share a vertical segment, with the heights of their left and
// right ends.
type net struct {
	lefts, rights []float64
	lo, hi        float64
	track         int
}

func (n *net) meet(heights *[]float64, y float64) {
	if len(n.lefts)+len(n.rights) == 0 {
		n.lo, n.hi = y, y
	}
	*heights = append(*heights, y)
	n.lo, n.hi = min(n.lo, y), max(n.hi, y)
}

// orderedNets is the most nets that are compared pairwise.
const orderedNets = 200

// assign gives nets tracks from left to right, so that vertical segments don't touch,
// few edges cross, and none overlap. It returns the number of tracks.
func assign(nets []*net) int {
	if len(nets) > orderedNets {
		return share(nets)
	}
	order, count := []*net{}, 0
	sorted := slices.Clone(nets)
	slices.SortStableFunc(sorted, func(a, b *net) int { return cmp.Compare(a.lo, b.lo) })
	for _, n := range sorted {
		order = slices.Insert(order, cheapest(order, n), n)
	}
	for i, n := range order {
		n.track = 0
		for _, m := range order[:i] {
			if m.touches(n) {
				n.track = max(n.track, m.track+1)
			}
		}
		count = max(count, n.track+1)
	}
	return count
}

// cheapest is the position at which a net crosses least.
func cheapest(order []*net, n *net) int {
	cost := 0
	for _, m := range order {
		cost += conflicts(n, m)
	}
	best, least := 0, cost
	for i, m := range order {
		if cost += conflicts(m, n) - conflicts(n, m); cost < least {
			best, least = i+1, cost
		}
	}
	return best
}

func (n *net) touches(m *net) bool { return n.lo < m.hi+8 && m.lo < n.hi+8 }

// conflicts counts what goes wrong with a left of b: a's ways on through b, b's
// ways in through a, and, worse, those that would lie on each other.
func conflicts(a, b *net) int {
	n := 0
	for _, y := range a.rights {
		if b.lo < y && y < b.hi {
			n++
		}
		for _, z := range b.lefts {
			if math.Abs(y-z) < 3 {
				n += 6
			}
		}
	}
	for _, y := range b.lefts {
		if a.lo < y && y < a.hi {
			n++
		}
	}
	return n
}

// share gives each net the first free track, for large numbers of nets.
func share(nets []*net) int {
	sorted := slices.Clone(nets)
	slices.SortStableFunc(sorted, func(a, b *net) int { return cmp.Compare(a.lo, b.lo) })
	free, count := &tracks{}, 0
	for _, n := range sorted {
		if free.Len() > 0 && (*free)[0].hi+8 < n.lo {
			n.track = heap.Pop(free).(*net).track
		} else {
			n.track = count
			count++
		}
		heap.Push(free, n)
	}
	return count
}

// tracks is a heap of the last nets of all tracks, by where they end.
type tracks []*net

func (t tracks) Len() int           { return len(t) }
func (t tracks) Less(i, j int) bool { return t[i].hi < t[j].hi }
func (t tracks) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *tracks) Push(n any)        { *t = append(*t, n.(*net)) }
func (t *tracks) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}
