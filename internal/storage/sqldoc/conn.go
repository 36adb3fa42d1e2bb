package sqldoc

import (
	"context"
	"database/sql"
	"errors"

	"github.com/countersign/countersign/internal/storage/store"
)

// maxCached bounds the prepared statements of lists. The program has a few dozen kinds of
// query; only filters with many values make more.
const maxCached = 256

// Conn is one pinned connection with its prepared statements. It must not be
// used by two goroutines at once.
//
// Statements never get a caller's context: after a statement that was cancelled nobody
// would know what the connection has done.
type Conn struct {
	conn    *sql.Conn
	dialect Dialect
	tables  map[*store.Table]*tableStatements
	cached  map[string]*statement
	before  func() error // see BeforeUse
}

// NewConn takes over conn.
func NewConn(conn *sql.Conn, dialect Dialect) *Conn {
	return &Conn{
		conn:    conn,
		dialect: dialect,
		tables:  make(map[*store.Table]*tableStatements),
		cached:  make(map[string]*statement),
	}
}

// Begin returns a Tx that runs in whatever transaction the engine has begun on
// the connection, or will before the Tx is used.
func (c *Conn) Begin(readOnly bool) *Tx { return &Tx{conn: c, readOnly: readOnly} }

// Exec runs a statement without parameters, such as BEGIN, and keeps it prepared.
func (c *Conn) Exec(text string) error {
	_, err := c.exec(c.kept(text), nil)
	return err
}

// Run runs a statement with parameters $1, $2 …, and keeps it prepared.
func (c *Conn) Run(text string, args ...any) error {
	_, err := c.exec(c.kept(text), args)
	return err
}

// QueryRow runs a statement without parameters and reads the first row of its
// answer.
func (c *Conn) QueryRow(text string, dest ...any) error {
	rows, err := c.query(c.kept(text), nil)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	if !rows.Next() {
		return c.mean(errors.Join(rows.Err(), sql.ErrNoRows))
	}
	return c.mean(errors.Join(rows.Scan(dest...), rows.Close()))
}

// Close closes the statements and the connection.
func (c *Conn) Close() error {
	for _, s := range c.cached {
		s.close()
	}
	for _, t := range c.tables {
		t.close()
	}
	return c.conn.Close()
}

// BeforeUse has a function called before each statement of a Tx, such as one that begins the
// transaction. The statement isn't run if it fails. nil: none.
func (c *Conn) BeforeUse(fn func() error) { c.before = fn }

// Ask sends queries of at most one row in one message and returns their rows, nil for none.
func (c *Conn) Ask(calls []Call) ([][]any, error) { return c.dialect.Ask(c.conn, calls) }

// AsksTogether reports an engine that can ask for several rows in one message.
func (c *Conn) AsksTogether() bool { return c.dialect.Ask != nil }

// Count asks how many rows a query finds.
func (c *Conn) Count(table *store.Table, tenant string, q store.Query) Call {
	b := c.count(table, tenant, c.dialect.within(q))
	return Call{b.String(), b.args}
}

// Use says that the connection is used next, by a message that isn't a statement of a Tx; see BeforeUse.
func (c *Conn) Use() error { return c.used() }

// Mean turns an error of the driver into one of package store.
func (c *Conn) Mean(err error) error { return c.mean(err) }

func (c *Conn) used() error {
	if c.before == nil {
		return nil
	}
	return c.before()
}

// exec runs a statement and returns how many rows it changed.
func (c *Conn) exec(s *statement, args []any) (int64, error) {
	if err := c.used(); err != nil {
		return 0, err
	}
	result, err := c.execute(s, args)
	if err != nil {
		return 0, c.mean(err)
	}
	n, err := result.RowsAffected()
	return n, c.mean(err)
}

func (c *Conn) execute(s *statement, args []any) (sql.Result, error) {
	if c.dialect.Prepares {
		return c.conn.ExecContext(context.Background(), c.dialect.Rewrite(s.text), args...)
	}
	if err := c.prepare(s); err != nil {
		return nil, err
	}
	return s.stmt.ExecContext(context.Background(), args...)
}

func (c *Conn) query(s *statement, args []any) (*sql.Rows, error) {
	if err := c.used(); err != nil {
		return nil, err
	}
	if s.once || c.dialect.Prepares {
		// Not prepared here: a statement of a connection must outlive its rows,
		// and database/sql sees to that only if the statement is its own.
		rows, err := c.conn.QueryContext(context.Background(), c.dialect.Rewrite(s.text), args...)
		return rows, c.mean(err)
	}
	if err := c.prepare(s); err != nil {
		return nil, c.mean(err)
	}
	rows, err := s.stmt.QueryContext(context.Background(), args...)
	return rows, c.mean(err)
}

// statement finds the kept statement of that text, or keeps one while there is
// room.
func (c *Conn) statement(text string) *statement {
	if c.dialect.Prepares {
		return &statement{text: text}
	}
	if _, ok := c.cached[text]; !ok && len(c.cached) >= maxCached {
		return &statement{text: text, once: true}
	}
	return c.kept(text)
}

func (c *Conn) kept(text string) *statement {
	s, ok := c.cached[text]
	if !ok {
		s = &statement{text: text}
		c.cached[text] = s
	}
	return s
}

func (c *Conn) prepare(s *statement) (err error) {
	if s.stmt == nil {
		s.stmt, err = c.conn.PrepareContext(context.Background(), c.dialect.Rewrite(s.text))
	}
	return err
}

func (c *Conn) mean(err error) error {
	if err == nil {
		return nil
	}
	return c.dialect.Error(err)
}
