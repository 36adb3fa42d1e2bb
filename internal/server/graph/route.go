package graph

import "slices"

// route is an arc's line, from its source to its target.
func (s *sketch) route(i int) []point {
	t := s.trails[i]
	points := []point{s.touch(t.parts[0][0], t.links[0][0])}
	for p, part := range t.parts {
		if p > 0 {
			a := s.around[t.round]
			out, in := s.pageY(a.out), s.pageY(a.in)
			points = append(points, point{a.right, out}, point{a.right, a.y}, point{a.left, a.y}, point{a.left, in})
		}
		for k, l := range t.links[p] {
			points = append(points, s.bend(part[k], l)...)
		}
	}
	last := len(t.parts) - 1
	ends, links := t.parts[last], t.links[last]
	points = append(points, s.touch(ends[len(ends)-1], links[len(links)-1]))
	if t.back {
		slices.Reverse(points)
	}
	return points
}

// touch is where a link meets the side of a node.
func (s *sketch) touch(v, l int) point {
	k, it := s.links[l], s.items[v]
	row := s.rows[it.row]
	if k.a == v {
		return point{row.x[it.slot] + row.w[it.slot], s.ya(k) + row.shift}
	}
	x := row.x[it.slot]
	if k.turn {
		x += row.w[it.slot]
	}
	return point{x, s.yb(k) + row.shift}
}

// bend is the vertical piece of a link, coming from this item.
func (s *sketch) bend(from, l int) []point {
	k := s.links[l]
	if !s.bent(k) {
		return nil
	}
	shift := s.rows[s.items[k.a].row].shift
	a, b := point{k.lane, s.ya(k) + shift}, point{k.lane, s.yb(k) + shift}
	if k.b == from {
		a, b = b, a
	}
	return []point{a, b}
}

// labelBoxes is where the labels of arcs lie: above their lane, in the middle of
// its column.
func (s *sketch) labelBoxes() []box {
	boxes := make([]box, len(s.arcs))
	for i, it := range s.items {
		if !it.label {
			continue
		}
		row, b := s.rows[it.row], s.blocks[it.arc]
		room := row.w[it.slot]
		if it.slot%2 == 0 {
			room -= 12
		}
		w := b.width(min(room, s.labelMost))
		x := row.x[it.slot] + (row.w[it.slot]-w)/2
		boxes[it.arc] = box{x, s.pageY(i) - b.rise(), w, b.rise() - labelDrop + 3}
	}
	for _, a := range s.around {
		if !s.blocks[a.arc].empty() {
			boxes[a.arc] = a.label
		}
	}
	return boxes
}

// loopRise is how high an edge from a node to itself goes above the node.
const loopRise = 18.0

// loopRoutes draws edges from a node to itself above it, beside each other, with
// their labels on top.
func (s *sketch) loopRoutes(boxes []box) []route {
	count, nth := make([]int, len(s.nodes)), make([]int, len(s.nodes))
	rise, routes := make([]float64, len(s.nodes)), []route{}
	for _, l := range s.loops {
		count[l.from]++
	}
	for _, l := range s.loops {
		v, b := l.from, s.loopBlock(l)
		node := boxes[v]
		step := min(48, (node.w-36)/float64(count[v]))
		mid := node.x + node.w/2 + (float64(nth[v])-float64(count[v]-1)/2)*step
		high, half := node.y-loopRise, min(14, step/3)
		r := route{edge: l.edge, from: v, to: v, text: b, points: []point{
			{mid - half, node.y}, {mid - half, high}, {mid + half, high}, {mid + half, node.y},
		}}
		rise[v] += b.rise()
		if !b.empty() {
			w := b.width(node.w)
			x := min(max(mid-w/2, node.x), node.x+node.w-w)
			r.label = box{x, high - rise[v], w, b.rise() - labelDrop + 3}
		}
		nth[v]++
		routes = append(routes, r)
	}
	return routes
}
