package graph

import (
	"cmp"
	"math"
	"slices"
)

// around is an edge's way from the right end of one row to the left end of a later one:
// down beside the rows, back between them, and down again.
type around struct {
	arc, out, in int // lanes in the last column of one row and the first of another
	y            float64
	right, left  float64 // x of the pieces beside the rows
	label        box
}

// between two rows, and between a row and what passes above it.
const rowApart = 32.0

// stackRows stacks the rows, each with a corridor above it for edges that enter it.
func (s *sketch) stackRows() {
	y := margin
	for r := range s.rows {
		lo, hi := s.extent(&s.rows[r])
		y = s.corridor(r, y)
		s.rows[r].shift = y - lo
		y += hi - lo + rowApart
	}
	s.height = y - rowApart + margin
}

func (s *sketch) extent(r *row) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, column := range r.slots {
		for _, i := range column {
			it := s.items[i]
			lo, hi = min(lo, it.y-it.above), max(hi, it.y+it.below)
		}
	}
	return lo, hi
}

// corridor places the edges into a row above it. Edges from higher rows lie lower, so
// that they don't cross at the right.
func (s *sketch) corridor(r int, y float64) float64 {
	comes := []*around{}
	for _, a := range s.around {
		if s.items[a.in].row == r {
			comes = append(comes, a)
		}
	}
	if len(comes) == 0 {
		return y
	}
	slices.SortStableFunc(comes, func(a, b *around) int { return cmp.Compare(s.pageY(b.out), s.pageY(a.out)) })
	y -= rowApart / 2
	for _, a := range comes {
		y += max(lanePitch, s.blocks[a.arc].rise()) + laneRoom
		a.y = y
	}
	return y + rowApart/2 + 8
}

func (s *sketch) pageY(i int) float64 { return s.items[i].y + s.rows[s.items[i].row].shift }

// beside gives the pieces beside the rows their tracks, and returns how many
// there are at the left and at the right.
func (s *sketch) beside() (left, right int) {
	ins, outs := make([]*net, len(s.around)), make([]*net, len(s.around))
	for i, a := range s.around {
		in, out := &net{}, &net{}
		in.meet(&in.rights, a.y)
		in.meet(&in.rights, s.pageY(a.in))
		out.meet(&out.lefts, a.y)
		out.meet(&out.lefts, s.pageY(a.out))
		ins[i], outs[i] = in, out
	}
	left, right = assign(ins), assign(outs)
	for i, a := range s.around {
		a.left, a.right = lanePitch*float64(ins[i].track), lanePitch*float64(outs[i].track)
	}
	return left, right
}

// frame finishes the geometry: x of everything and the size of the page.
func (s *sketch) frame() {
	s.stackRows()
	left, right := s.beside()
	start := margin
	if left > 0 {
		start += lanePitch*float64(left-1) + corner
	}
	s.columns(start)
	end := s.rows[0].x[s.rows[0].last()]
	for _, a := range s.around {
		a.left, a.right = margin+a.left, end+corner+a.right
		first := s.rows[0].x[2]
		w := s.blocks[a.arc].width(end - first)
		a.label = box{first, a.y - s.blocks[a.arc].rise(), w, s.blocks[a.arc].rise() - labelDrop + 3}
	}
	s.pageWidth = end + margin
	if right > 0 {
		s.pageWidth += corner + lanePitch*float64(right-1)
	}
}
