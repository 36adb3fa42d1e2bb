package writebehind

import "github.com/countersign/countersign/internal/storage/store"

// changes are the rows that a batch has written, in the order in which each was written
// first. The batches of a Writer use the same memory, one after the other.
type changes struct {
	list   []change
	at     map[place]int // where each row is in the list
	undos  []undo        // of the function that runs
	tables []*store.Table
}

// change is a row as a batch leaves it.
type change struct {
	place
	below row // the row before the batch
	row
}

func newChanges() *changes { return &changes{at: map[place]int{}} }

// mostReused bounds the memory that is kept for the next batch, in rows.
const mostReused = 4096

// reset forgets everything.
func (c *changes) reset() {
	if len(c.list) > mostReused || len(c.undos) > mostReused {
		*c = *newChanges()
		return
	}
	clear(c.list)
	clear(c.at)
	c.begin()
	c.list, c.tables = c.list[:0], c.tables[:0]
}

// begin begins a function: what was written before isn't undone with it.
func (c *changes) begin() {
	clear(c.undos)
	c.undos = c.undos[:0]
}

func (c *changes) get(p place) (row, bool) {
	if i, ok := c.at[p]; ok {
		return c.list[i].row, true
	}
	return row{}, false
}

// set changes a row that was was before.
func (c *changes) set(p place, was, is row) {
	i, known := c.at[p]
	if !known {
		c.at[p] = len(c.list)
		c.undos = append(c.undos, undo{at: len(c.list)})
		c.list = append(c.list, change{p, was, is})
		return
	}
	before := &c.list[i]
	c.undos = append(c.undos, undo{at: i, was: before.row, known: true})
	before.row = is
}

// undo is a row before the function that runs changed it.
type undo struct {
	at    int
	was   row
	known bool // the batch had changed it already
}

// undo undoes a change, the last one first: a row that the batch had not changed before is the
// last of the list by then.
func (c *changes) undo(u undo) {
	if u.known {
		c.list[u.at].row = u.was
		return
	}
	delete(c.at, c.list[u.at].place)
	c.list[u.at] = change{}
	c.list = c.list[:u.at]
}

func (c *changes) empty() bool { return len(c.list) == 0 }

// of calls f for the rows of a group.
func (c *changes) of(g group, f func(*change)) {
	for i := range c.list {
		if is := &c.list[i]; is.table == g.table && is.tenant == g.tenant {
			f(is)
		}
	}
}
