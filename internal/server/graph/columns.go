package graph

import "slices"

// channel is the space between two neighboring columns with items. It holds only
// vertical segments.
type channel struct {
	row, from int // the left column's slot
	tracks    int
	nets      []*net
	links     map[*net][]int
}

// channels collects the links between columns into nets and gives them tracks.
func (s *sketch) channels() []*channel {
	all := make([]*channel, 0, len(s.rows))
	at := map[spot]*channel{}
	for r, row := range s.rows {
		for slot := range row.slots {
			if len(row.slots[slot]) > 0 {
				c := &channel{row: r, from: slot, links: map[*net][]int{}}
				at[spot{r, slot}], all = c, append(all, c)
			}
		}
	}
	nets := map[int]*net{}
	for i, l := range s.links {
		it := s.items[l.a]
		c := at[spot{it.row, it.slot}]
		if s.bent(l) {
			s.addToNet(c, i, nets)
		}
	}
	for _, c := range all {
		c.tracks = assign(c.nets)
	}
	return all
}

func (s *sketch) bent(l link) bool { return l.turn || s.ya(l) != s.yb(l) }

func (s *sketch) ya(l link) float64 { return s.items[l.a].y + l.da }
func (s *sketch) yb(l link) float64 { return s.items[l.b].y + l.db }

// addToNet adds a link to its net. Edges that share a node's port share the vertical
// segment there.
func (s *sketch) addToNet(c *channel, i int, nets map[int]*net) {
	l, key := s.links[i], -1-i
	if s.shared && s.items[l.a].node >= 0 {
		key = 2 * l.a
	} else if s.shared && s.items[l.b].node >= 0 {
		key = 2*l.b + 1
	}
	n := nets[key]
	if n == nil {
		n = &net{}
		nets[key], c.nets = n, append(c.nets, n)
	}
	n.meet(&n.lefts, s.ya(l))
	if l.turn {
		n.meet(&n.lefts, s.yb(l))
	} else {
		n.meet(&n.rights, s.yb(l))
	}
	c.links[n] = append(c.links[n], i)
}

// gap is the space between two main columns of a row: a channel, or a column of labels
// between two channels.
type gap struct {
	left, right *channel // right is nil without a column of labels
	label       float64  // width of the column of labels
}

func (s *sketch) gaps(all []*channel) map[spot]*gap {
	gaps := map[spot]*gap{}
	for _, c := range all {
		if c.from%2 == 0 {
			gaps[spot{c.row, c.from / 2}] = &gap{left: c}
		}
	}
	for _, c := range all {
		if c.from%2 == 1 {
			g := gaps[spot{c.row, c.from / 2}]
			g.right = c
			g.label = s.labelWidth(s.rows[c.row].slots[c.from], s.labelMost)
			if s.gapStrict {
				g.label = min(g.label, max(labelLeast, gapMost-g.before()-g.after()))
			}
		}
	}
	return gaps
}

func (s *sketch) labelWidth(column []int, most float64) float64 {
	w := 0.0
	for _, i := range column {
		if it := s.items[i]; it.label {
			w = max(w, s.blocks[it.arc].width(most))
		}
	}
	return w
}

// before is the width of the channel left of the labels.
func (g *gap) before() float64 {
	if g.left.tracks == 0 {
		return 8
	}
	return runOut + lanePitch*float64(g.left.tracks-1) + 6
}

// after is the width of the channel right of the labels.
func (g *gap) after() float64 {
	if g.right.tracks == 0 {
		return 14
	}
	return 6 + lanePitch*float64(g.right.tracks-1) + runIn
}

func (g *gap) width() float64 {
	if g.right != nil {
		return g.before() + g.label + g.after()
	}
	if g.left.tracks == 0 {
		return 0
	}
	return runOut + lanePitch*float64(g.left.tracks-1) + runIn
}

// columns gives all rows the same x of their main columns, each gap as wide as the
// widest needs, and then the lanes theirs.
func (s *sketch) columns(left float64) {
	all := s.channels()
	gaps := s.gaps(all)
	last := s.rows[0].last()
	x := make([]float64, last+1)
	x[0] = left
	for k := 0; 2*k < last; k++ {
		x[2*k+2] = x[2*k] + s.columnWidth(2*k) + s.gapWidth(k, gaps)
	}
	for r := range s.rows {
		s.rows[r].x, s.rows[r].w = slices.Clone(x), make([]float64, last+1)
		for slot := 0; slot <= last; slot += 2 {
			s.rows[r].w[slot] = s.columnWidth(slot)
		}
		for k := 0; 2*k < last; k++ {
			if g := gaps[spot{r, k}]; g != nil {
				s.divide(g, x[2*k]+s.columnWidth(2*k), x[2*k+2])
			}
		}
	}
}

// columnWidth is the width of the nodes; columns that edges only cross have none.
func (s *sketch) columnWidth(slot int) float64 {
	if slot == 0 || slot == s.rows[0].last() {
		return 0
	}
	return s.nodeWidth
}

func (s *sketch) gapWidth(k int, gaps map[spot]*gap) float64 {
	width, inner := 0.0, k > 0 && 2*k+2 < s.rows[0].last()
	if inner {
		width = s.gapLeast
	}
	for r := range s.rows {
		g := gaps[spot{r, k}]
		if g == nil {
			continue
		}
		width = max(width, g.width()+s.startRoom(r, 2*k+2))
		if outer := len(s.rows[r].slots[2*k]) > 0 && len(s.rows[r].slots[2*k+2]) > 0; outer {
			width = max(width, runIn)
		}
	}
	return max(width, s.startRoomFirst(k))
}

// divide places the lanes and the column of labels of a gap.
func (s *sketch) divide(g *gap, from, to float64) {
	row := &s.rows[g.left.row]
	if g.right == nil {
		wide := lanePitch * float64(g.left.tracks-1)
		s.put(g.left, max(from+runOut, min(from+(to-from-wide)/2, to-runIn-wide)))
		return
	}
	s.put(g.left, from+runOut)
	s.put(g.right, to-runIn-lanePitch*float64(g.right.tracks-1))
	room := to - from - g.before() - g.after()
	row.x[g.right.from], row.w[g.right.from] = from+g.before(), room
}

func (s *sketch) put(c *channel, x float64) {
	for _, n := range c.nets {
		for _, l := range c.links[n] {
			s.links[l].lane = x + lanePitch*float64(n.track)
		}
	}
}

// startRoom is the width of a start state's arrow.
const startLength = 26.0

func (s *sketch) startRoom(r, slot int) float64 {
	for _, i := range s.rows[r].slots[slot] {
		if v := s.items[i].node; v >= 0 && s.nodes[v].Start {
			return 8
		}
	}
	return 0
}

func (s *sketch) startRoomFirst(k int) float64 {
	for r := range s.rows {
		if s.startRoom(r, 2*k+2) > 0 {
			return startLength
		}
	}
	return 0
}
