package writebehind

// changes are the rows that a batch has written.
type changes struct {
	groups map[group]map[string]*change
}

// change is a row as a batch leaves it.
type change struct {
	below row // the row before the batch
	row
}

func newChanges() *changes { return &changes{groups: map[group]map[string]*change{}} }

func (c *changes) get(p place) (row, bool) {
	if is := c.groups[group{p.table, p.tenant}][p.id]; is != nil {
		return is.row, true
	}
	return row{}, false
}

// set changes a row that was was before, and returns what undoes that.
func (c *changes) set(p place, was, is row) undo {
	g := group{p.table, p.tenant}
	of := c.groups[g]
	if of == nil {
		of = map[string]*change{}
		c.groups[g] = of
	}
	before := of[p.id]
	if before == nil {
		of[p.id] = &change{below: was, row: is}
		return undo{place: p}
	}
	u := undo{place: p, was: before.row, known: true}
	before.row = is
	return u
}

// undo is a row before a function changed it.
type undo struct {
	place
	was   row
	known bool // the batch had changed it already
}

func (c *changes) undo(u undo) {
	g := group{u.table, u.tenant}
	if u.known {
		c.groups[g][u.id].row = u.was
		return
	}
	if delete(c.groups[g], u.id); len(c.groups[g]) == 0 {
		delete(c.groups, g)
	}
}

func (c *changes) empty() bool { return len(c.groups) == 0 }
