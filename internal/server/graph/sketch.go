package graph

// item is an entry of a column: a node, or the lane of an edge that crosses the column.
// y is the node's middle or the lane's line.
type item struct {
	row, slot    int
	node, arc    int     // -1 if it isn't one
	direct       bool    // a lane of an edge between neighbouring layers
	label        bool    // a lane that bears its arc's label
	looped       bool    // a node with edges to itself, drawn above it
	above, below float64 // what it takes from y up and down
	y            float64
	pinned       bool // a stored position, which doesn't move
	right, left  []int
}

// link is the segment of an edge between two items of neighboring columns, a being the
// left one. A turn has both in one column and returns on its right side.
type link struct {
	a, b   int
	da, db float64 // from the items' y to where the line meets them
	turn   bool
	lane   float64 // x of its vertical piece
}

// trail is an arc's sequence of items from left to right; with several rows it may have
// a second part in a later row.
type trail struct {
	parts [][]int // items, lanes of label columns included
	links [][]int // between them
	back  bool    // the arc points from right to left
	round int     // the way around, -1 if it stays in its row
}

// row is a band of layers. Main columns have even slots: the first holds what
// comes in from earlier rows, the last what goes on to later ones, those between
// hold nodes. Odd slots are the columns of labels between them.
type row struct {
	slots [][]int   // items from top to bottom
	x, w  []float64 // of the slots
	shift float64   // from the items' y to the page's
}

// sketch is a layout while it is made.
type sketch struct {
	measures
	nodes  []Node
	edges  []Edge
	arcs   []arc
	loops  []arc
	blocks []block // by arc
	stored []float64
	rows   []row
	items  []item
	links  []link
	trails []trail
	around []*around
	degree []int // by link: how many meet where it meets a node
	rank   []int // position of an item within its column

	pageWidth, height float64
}

func (r row) last() int { return len(r.slots) - 1 }

func (s *sketch) add(it item) int {
	s.items = append(s.items, it)
	i := len(s.items) - 1
	slot := &s.rows[it.row].slots[it.slot]
	*slot = append(*slot, i)
	return i
}

func (s *sketch) lane(row, slot, arc int) int {
	return s.add(item{row: row, slot: slot, node: -1, arc: arc, above: 5, below: laneFall})
}

// bear puts the arc's label on a lane and reserves its space.
func (s *sketch) bear(i int) {
	if b := s.blocks[s.items[i].arc]; !b.empty() {
		s.items[i].label, s.items[i].above = true, b.rise()
	}
}

// place makes the items of all nodes, columns columns a row.
func (s *sketch) place(column []int, columns int) {
	last := 0
	for _, c := range column {
		last = max(last, c)
	}
	perRow := min(columns, last+1)
	s.rows = make([]row, last/columns+1)
	for r := range s.rows {
		s.rows[r].slots = make([][]int, 2*perRow+3)
	}
	for v := range s.nodes {
		s.stand(v, column[v]/columns, 2*(column[v]%columns)+2)
	}
	for _, l := range s.loops {
		it := &s.items[l.from]
		if it.above += s.loopBlock(l).rise(); !it.looped {
			it.looped, it.above = true, it.above+loopRise
		}
	}
}

func (s *sketch) stand(v, row, slot int) {
	it := item{row: row, slot: slot, node: v, arc: -1, above: nodeHeight / 2, below: nodeHeight / 2}
	if s.nodes[v].Badge != "" {
		it.above += 10
	}
	if s.stored != nil {
		it.y, it.pinned = s.stored[v], true
	}
	s.add(it)
}

func (s *sketch) loopBlock(l arc) block { return s.block(s.edges[l.edge]) }

// thread gives each arc its lanes in the main columns that it crosses. Items of nodes
// have the nodes' indices.
func (s *sketch) thread(back []bool) {
	for i, a := range s.arcs {
		t := trail{back: back[i], round: -1}
		from, to := a.from, a.to
		if t.back {
			from, to = to, from
		}
		f, g := s.items[from], s.items[to]
		if f.row == g.row {
			t.parts = [][]int{s.crossing(i, from, to)}
		} else {
			out, in := s.lane(f.row, s.rows[f.row].last(), i), s.lane(g.row, 0, i)
			t.parts = [][]int{s.crossing(i, from, out), s.crossing(i, in, to)}
			t.round = len(s.around)
			s.around = append(s.around, &around{arc: i, out: out, in: in})
		}
		s.trails = append(s.trails, t)
	}
}

// crossing lists the items of an arc from one item of a row to a later one.
func (s *sketch) crossing(arc, from, to int) []int {
	f, t := s.items[from], s.items[to]
	part := []int{from}
	for slot := f.slot + 2; slot < t.slot; slot += 2 {
		part = append(part, s.lane(f.row, slot, arc))
	}
	if part = append(part, to); f.slot < t.slot {
		s.join(part)
	}
	return part
}

func (s *sketch) join(part []int) {
	for i := 1; i < len(part); i++ {
		a, b := part[i-1], part[i]
		s.items[a].right = append(s.items[a].right, b)
		s.items[b].left = append(s.items[b].left, a)
	}
}
