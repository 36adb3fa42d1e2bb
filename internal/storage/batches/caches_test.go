package batches_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign/internal/storage/batches"
	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/turns"
)

// caches are several writers of one database, each with a cache of its own, who are told what
// the others have changed.
type caches struct {
	pinned *sql.Conn
	conn   *sqldoc.Conn
	of     []*batches.Cache
	seen   []int           // turns of each
	turns  [][]batches.Sum // what each turn has changed
}

type row struct {
	version int64
	state   string
	due     int64
}

var errUndone = errors.New("undone")

func openCaches(t *testing.T, n int) *caches {
	t.Helper()
	pinned, err := schema(t).Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	c := &caches{pinned: pinned}
	c.conn = sqldoc.NewConn(pinned, sqldoc.Dialect{
		Rewrite:  func(statement string) string { return strings.ReplaceAll(statement, "$", "?") },
		Error:    func(err error) error { return err },
		Together: c.together,
		Ask:      c.ask,
	})
	t.Cleanup(func() { _ = c.conn.Close() })
	for range n {
		c.of, c.seen = append(c.of, batches.NewCache()), append(c.seen, 0)
	}
	return c
}

// together is Dialect.Together, a row after the other.
func (c *caches) together(_ *sql.Conn, writes []sqldoc.Write) error {
	tx := c.conn.Begin(false)
	for _, w := range writes {
		for i := range w.Rows {
			row, stored := store.Row{ID: w.Arrays[1].([]string)[i]}, int64(0)
			if w.Kind != sqldoc.Delete {
				row.Version, row.Doc = w.Arrays[2].([]int64)[i], []byte(w.Arrays[3].([]string)[i])
				for n := range w.Table.Columns {
					row.Keys = append(row.Keys, element(w.Arrays[4+n], i))
				}
			}
			if w.Kind == sqldoc.Update {
				stored = w.Arrays[len(w.Arrays)-1].([]int64)[i]
			}
			if err := tx.Write(w.Table, w.Arrays[0].([]string)[i], row, stored, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// element is an element of a []string or []int64.
func element(array any, i int) any {
	if texts, ok := array.([]string); ok {
		return texts[i]
	}
	return array.([]int64)[i]
}

// ask is Dialect.Ask, a statement after the other.
func (c *caches) ask(conn *sql.Conn, calls []sqldoc.Call) (rows [][]any, err error) {
	for _, call := range calls {
		found, err := conn.QueryContext(context.Background(), strings.ReplaceAll(call.Text, "$", "?"), call.Args...)
		if err != nil {
			return nil, err
		}
		var row []any
		if columns, _ := found.Columns(); found.Next() {
			row = make([]any, len(columns))
			into := make([]any, len(columns))
			for i := range row {
				into[i] = &row[i]
			}
			err = found.Scan(into...)
		}
		if err = errors.Join(err, found.Close()); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (c *caches) mustAsk(t fataler, calls []sqldoc.Call) [][]any {
	t.Helper()
	rows, err := c.ask(c.pinned, calls)
	if err != nil {
		t.Fatalf("ask: %v", err)
	}
	return rows
}

// turn runs functions in a batch of one of the writers, and commits it unless it is undone.
// A function that is put off has its turn again at once, so that the order stays.
func (c *caches) turn(t fataler, writer int, undone, putsOff bool, functions ...func(store.Tx) error) {
	t.Helper()
	exec := func(statement string) {
		if err := c.conn.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	exec("BEGIN")
	hot := c.mustAsk(t, c.of[writer].Hot(c.conn))
	b := batches.New(c.conn, host{c.conn}, c.of[writer], false)
	if missed := c.turns[c.seen[writer]:]; len(missed) > 0 {
		if err := b.Recall(append([]batches.Sum{}, slices.Concat(missed...)...), hot); err != nil {
			t.Fatalf("Recall: %v", err)
		}
	} else {
		c.of[writer].Cool()
	}
	b.PutOff(putsOff)
	for _, fn := range functions {
		r := turns.NewRequest()
		go func() { _ = r.Serve(context.Background(), fn) }()
		err := b.Run(r)
		for errors.Is(err, batches.ErrPutOff) {
			if err = b.Fetch(); err == nil {
				err = b.Run(r)
			}
		}
		if err != nil {
			t.Fatalf("Run: %v", err)
		}
		r.Answer(nil)
	}
	if err := b.Flush(); err != nil {
		t.Fatalf("Flush: %v", err)
	}
	if undone {
		exec("ROLLBACK")
		return
	}
	exec("COMMIT")
	b.Committed()
	c.turns = append(c.turns, b.Changed())
	c.seen[writer] = len(c.turns)
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// model is what a function sees: the database's rows, and what the batch has changed so far.
type model map[place]row

type place struct{ tenant, id string }

// function draws a function and what it leaves of the model, and checks each of its answers.
func (m model) function(t *rapid.T) (fn func(store.Tx) error, left model) {
	type step struct {
		do     string
		tenant string
		id     string
		row    row
		want   int
	}
	fails := rapid.IntRange(0, 4).Draw(t, "fails") == 0
	now, steps := maps.Clone(m), []step{}
	for range rapid.IntRange(1, 6).Draw(t, "steps") {
		s := step{
			do:     rapid.SampledFrom([]string{"get", "put", "put", "delete", "count", "count", "list"}).Draw(t, "do"),
			tenant: rapid.SampledFrom([]string{"t", "u"}).Draw(t, "tenant"),
			id:     rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id"),
			row:    row{0, rapid.SampledFrom([]string{"active", "queued"}).Draw(t, "state"), rapid.Int64Range(0, 2).Draw(t, "due")},
		}
		at := place{s.tenant, s.id}
		switch was := now[at]; s.do {
		case "put":
			s.row.version = was.version
			now[at] = row{was.version + 1, s.row.state, s.row.due}
		case "delete":
			delete(now, at)
		case "get":
			s.row = was
		case "count":
			s.want = now.count(s.tenant, func(r row) bool { return r.state == s.row.state && r.due >= s.row.due })
		case "list":
			s.want = now.count(s.tenant, func(row) bool { return true })
		}
		steps = append(steps, s)
	}
	fn = func(tx store.Tx) error {
		for _, s := range steps {
			var err error
			switch s.do {
			case "put":
				err = tx.Put(store.Unfinished, s.tenant, store.Row{ID: s.id, Keys: []any{"acme", s.row.state, int64(0), s.row.due}, Doc: []byte("{}")}, s.row.version)
			case "delete":
				err = tx.Delete(store.Unfinished, s.tenant, s.id)
			case "get":
				var got store.Row
				if got, err = tx.Get(store.Unfinished, s.tenant, s.id); errors.Is(err, store.ErrNotFound) {
					err = nil
				}
				if err == nil && (got.Version != s.row.version || s.row.version > 0 && got.Keys[3] != s.row.due) {
					err = fmt.Errorf("%s is at version %d, want %v", s.id, got.Version, s.row)
				}
			case "count":
				var n int
				if n, err = tx.Count(store.Unfinished, s.tenant, s.row.query()); err == nil && n != s.want {
					err = fmt.Errorf("%d rows are %v, want %d", n, s.row, s.want)
				}
			case "list":
				var all []store.Row
				if all, err = tx.List(store.Unfinished, s.tenant, store.Query{}); err == nil && len(all) != s.want {
					err = fmt.Errorf("%d rows are listed, want %d", len(all), s.want)
				}
			}
			if err != nil && !errors.Is(err, batches.ErrNeedsSavepoint) && !errors.Is(err, batches.ErrPutOff) {
				panic(err)
			}
			if err != nil {
				return err
			}
		}
		if fails {
			return errUndone
		}
		return nil
	}
	if fails {
		return fn, m
	}
	return fn, now
}

// query finds the rows of a state that are due then or later.
func (r row) query() store.Query {
	return store.Query{Where: []store.Filter{store.Equal("state", r.state), {Column: "due", Op: store.AtLeast, Values: []any{r.due}}}}
}

func (m model) count(tenant string, like func(row) bool) (n int) {
	for at, r := range m {
		if at.tenant == tenant && like(r) {
			n++
		}
	}
	return n
}

// TestWritersThatAreToldWhatChangedSeeTheNewestState: rows, counts and lists, of batches by
// drawn writers, some of which are undone, as are some of their functions.
func TestWritersThatAreToldWhatChangedSeeTheNewestState(t *testing.T) {
	c := openCaches(t, 3)
	committed := model{}
	rapid.Check(t, func(t *rapid.T) {
		for range rapid.IntRange(1, 8).Draw(t, "turns") {
			var functions []func(store.Tx) error
			left := committed
			for range rapid.IntRange(1, 4).Draw(t, "functions") {
				fn, then := left.function(t)
				functions, left = append(functions, fn), then
			}
			undone := rapid.IntRange(0, 5).Draw(t, "undone") == 0
			c.turn(t, rapid.IntRange(0, 2).Draw(t, "writer"), undone, rapid.Bool().Draw(t, "puts off"), functions...)
			if !undone {
				committed = left
			}
		}
	})
}

// TestWhatOthersNoLongerChangeIsNoLongerAskedFor: each message that takes the lock would be
// longer for ever.
func TestWhatOthersNoLongerChangeIsNoLongerAskedFor(t *testing.T) {
	c := openCaches(t, 2)
	version := int64(0)
	put := func(tx store.Tx) error {
		row := store.Row{ID: "a", Keys: []any{"acme", "active", int64(0), int64(0)}, Doc: []byte("{}")}
		return tx.Put(store.Unfinished, "t", row, version)
	}
	look := func(tx store.Tx) error {
		_, err := tx.Get(store.Unfinished, "t", "a")
		if err != nil {
			return err
		}
		_, err = tx.Count(store.Unfinished, "t", row{state: "active"}.query())
		return err
	}
	for range 3 {
		c.turn(t, 1, false, false, put)
		version++
		c.turn(t, 0, false, false, look)
	}
	if hot := c.of[0].Hot(c.conn); len(hot) == 0 {
		t.Fatal("what others change again and again isn't asked for in advance")
	}
	for range 100 {
		c.turn(t, 0, false, false, look)
	}
	if hot := c.of[0].Hot(c.conn); len(hot) > 0 {
		t.Errorf("after a hundred turns in which others changed nothing, %d rows and counts are asked for in advance", len(hot))
	}
}
