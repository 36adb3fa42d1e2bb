package graph

import (
	"cmp"
	"slices"
)

// hang gives each label its lane: an existing one of the edge, else one in a column of
// labels between the two layers. Edges to another row carry theirs beside the rows.
// Then all edges that cross such a column get a lane in it, and every segment between
// two columns becomes a link.
func (s *sketch) hang() {
	active := s.labelColumns()
	for i := range s.trails {
		t := &s.trails[i]
		for p, part := range t.parts {
			t.parts[p] = s.expand(i, part, active)
		}
	}
	s.sortLabelColumns()
	for i := range s.trails {
		t := &s.trails[i]
		for _, part := range t.parts {
			t.links = append(t.links, s.connect(part))
		}
	}
}

type spot struct{ row, slot int }

// labelColumns puts labels on lanes of main columns where possible, and says between
// which columns a column of labels is needed.
func (s *sketch) labelColumns() map[spot]bool {
	active := map[spot]bool{}
	for i, t := range s.trails {
		part := t.parts[0]
		switch first := s.items[part[0]]; {
		case s.blocks[i].empty() || t.round >= 0:
		case len(part) == 2:
			active[spot{first.row, first.slot + 1}] = true
		case t.back:
			s.bear(part[len(part)-2])
		default:
			s.bear(part[1])
		}
	}
	return active
}

// expand adds the lanes in columns of labels to a part. An arc that returns to
// its own column has two there, the way out and the way back.
func (s *sketch) expand(arc int, part []int, active map[spot]bool) []int {
	direct := len(part) == 2 && s.trails[arc].round < 0
	if a, b := s.items[part[0]], s.items[part[1]]; a.slot == b.slot {
		if !active[spot{a.row, a.slot + 1}] {
			return part
		}
		out, in := s.lane(a.row, a.slot+1, arc), s.lane(a.row, a.slot+1, arc)
		s.bear(out)
		return []int{part[0], out, in, part[1]}
	}
	whole := part[:1:1]
	for _, i := range part[1:] {
		if at := (spot{s.items[i].row, s.items[i].slot - 1}); active[at] {
			lane := s.lane(at.row, at.slot, arc)
			if whole = append(whole, lane); direct {
				s.items[lane].direct = true
				s.bear(lane)
			}
		}
		whole = append(whole, i)
	}
	return whole
}

// connect makes the links between the items of a part.
func (s *sketch) connect(part []int) []int {
	links := []int{}
	for i := 1; i < len(part); i++ {
		l := link{a: part[i-1], b: part[i]}
		if s.items[l.a].slot > s.items[l.b].slot {
			l.a, l.b = l.b, l.a
		}
		l.turn = s.items[l.a].slot == s.items[l.b].slot
		links = append(links, len(s.links))
		s.links = append(s.links, l)
	}
	return links
}

// sortLabelColumns orders lanes by their sources, then by their targets, so that they
// cross no more often than necessary.
func (s *sketch) sortLabelColumns() {
	ends := s.laneEnds()
	for r := range s.rows {
		for slot := 1; slot < len(s.rows[r].slots); slot += 2 {
			slices.SortStableFunc(s.rows[r].slots[slot], func(a, b int) int {
				return cmp.Or(cmp.Compare(ends[a][0], ends[b][0]), cmp.Compare(ends[a][1], ends[b][1]))
			})
		}
	}
	s.rank = slices.Grow(s.rank, len(s.items))[:len(s.items)]
	for r := range s.rows {
		for _, column := range s.rows[r].slots {
			s.number(column)
		}
	}
}

// laneEnds gives the position of a lane's left and right neighbour; for the two
// lanes of a turn, that of their node and of the other one.
func (s *sketch) laneEnds() map[int][2]float64 {
	ends := map[int][2]float64{}
	for _, t := range s.trails {
		for _, part := range t.parts {
			for k := 1; k+1 < len(part); k++ {
				if s.items[part[k]].slot%2 == 0 {
					continue
				}
				left, right := s.position(part[k-1]), s.position(part[k+1])
				if last := len(part) - 1; s.items[part[0]].slot == s.items[part[last]].slot {
					left, right = s.position(part[0]), s.position(part[last])
					if k == 2 {
						left, right = right, left
					}
				}
				ends[part[k]] = [2]float64{left, right}
			}
		}
	}
	return ends
}

func (s *sketch) position(i int) float64 {
	if s.stored != nil {
		return s.items[i].y
	}
	return float64(s.rank[i])
}
