package sqldoc

import (
	"errors"

	"github.com/countersign/countersign/internal/storage/store"
)

// Kind is a way to change rows.
type Kind int

// The order in which Writes of a table are made: a row that is deleted and put anew without
// having been read has both a Delete and an Insert.
const (
	Delete Kind = iota
	Insert
	Update
)

// Write is rows of one table that are changed by one statement. Of an Insert or an Update
// each row must be changed, otherwise none may be: a row that is inserted isn't there, and
// one that is updated is at the expected version. A Delete may delete fewer rows.
type Write struct {
	Table *store.Table
	Kind  Kind
	Rows  int
	// Arrays have a value for each row and are []string or []int64: tenant and id; but for
	// a Delete then the new version, doc and the columns; for an Update last the expected
	// version.
	Arrays []any
}

// Send makes writes in one message, by whatever sends it. ErrConflict: some row isn't at its expected version.
func (t *Tx) Send(writes []Write, send func([]Write) error) error {
	if err := t.writable(); err != nil {
		return err
	}
	err := send(writes)
	if err != nil && !errors.Is(err, store.ErrConflict) {
		t.err = t.conn.mean(err)
		err = t.err
	}
	return err
}

// Together makes writes in one message.
func (c *Conn) Together(all []Write) error {
	if err := c.used(); err != nil {
		return err
	}
	return c.dialect.Together(c.conn, all)
}
