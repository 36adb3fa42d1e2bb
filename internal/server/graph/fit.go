package graph

import (
	"cmp"
	"slices"
)

// vote is an item's wanted position and its weight.
type vote struct{ y, weight float64 }

// fit places items in a given order, each at least gap[i] below the one before,
// minimizing the weighted distances to the wanted positions: isotonic regression that
// pools neighbors in conflict. A pool goes to its median, not its mean, so that most
// items stay exactly aligned.
func fit(wants []vote, gap []float64) []float64 {
	offset, sum := make([]float64, len(wants)), 0.0
	pools := make([]pool, 0, len(wants))
	for i, w := range wants {
		sum += gap[i]
		offset[i] = sum
		p := single(vote{w.y - sum, w.weight})
		for len(pools) > 0 && pools[len(pools)-1].y > p.y {
			p = pools[len(pools)-1].join(p)
			pools = pools[:len(pools)-1]
		}
		pools = append(pools, p)
	}
	for at, k := 0, 0; k < len(pools); k++ {
		for range pools[k].size {
			offset[at] += pools[k].y
			at++
		}
	}
	return offset
}

// pool is a run of items without space between them.
type pool struct {
	votes          []vote // sorted; nil in a crowd
	size           int
	weight, moment float64
	y              float64
}

// crowd is the pool size from which the mean is used, which needs no votes.
const crowd = 64

func single(v vote) pool {
	return pool{votes: []vote{v}, size: 1, weight: v.weight, moment: v.weight * v.y, y: v.y}
}

func (p pool) join(q pool) pool {
	all := pool{size: p.size + q.size, weight: p.weight + q.weight, moment: p.moment + q.moment}
	if all.size > crowd {
		all.y = all.moment / all.weight
		return all
	}
	all.votes = p.votes
	for _, v := range q.votes {
		at, _ := slices.BinarySearchFunc(all.votes, v, func(a, b vote) int { return cmp.Compare(a.y, b.y) })
		all.votes = slices.Insert(all.votes, at, v)
	}
	all.y = median(all.votes)
	return all
}

// median halves the weight of sorted votes; between two it is the middle.
func median(votes []vote) float64 {
	total, below := 0.0, 0.0
	for _, v := range votes {
		total += v.weight
	}
	for i, v := range votes {
		below += v.weight
		if below*2 > total {
			return v.y
		}
		if below*2 == total && i+1 < len(votes) {
			return (v.y + votes[i+1].y) / 2
		}
	}
	return votes[len(votes)-1].y
}
