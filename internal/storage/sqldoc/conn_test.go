package sqldoc_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
)

// kinds is more than are kept.
const kinds = 280

// TestKeptStatementsAreBounded asks more kinds of question than are kept, twice.
func TestKeptStatementsAreBounded(t *testing.T) {
	conn := connect(t)
	tx := conn.Begin(false)
	for i := range kinds {
		row := store.Row{ID: fmt.Sprintf("%03d", i), Doc: []byte("{}")}
		if err := tx.Put(store.Tenants, "acme", row, 0); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		in := store.Filter{Column: "id", Op: store.In}
		for i := range kinds {
			in.Values = append(in.Values, fmt.Sprintf("%03d", i))
			n, err := tx.Count(store.Tenants, "acme", store.Query{Where: []store.Filter{in}})
			if err != nil || n != i+1 {
				t.Fatalf("%d of %d found: %v", n, i+1, err)
			}
		}
	}
	if n := conn.Cached(); n > 256 {
		t.Errorf("%d statements are kept", n)
	}
}

// TestFailedStatementEndsTheTx, whatever its function does then.
func TestFailedStatementEndsTheTx(t *testing.T) {
	tx := connect(t).Begin(false)
	if tx.Err() != nil {
		t.Fatalf("a new Tx has failed: %v", tx.Err())
	}
	if _, err := tx.Get(store.Tenants, "acme", "x"); !errors.Is(err, store.ErrNotFound) || tx.Err() != nil {
		t.Fatalf("an answer is no failure: %v, %v", err, tx.Err())
	}
	if _, err := tx.Get(&store.Table{Name: "nowhere"}, "acme", "x"); err == nil || tx.Err() == nil {
		t.Fatalf("a failed statement: %v, %v", err, tx.Err())
	}
	if _, err := tx.Get(store.Tenants, "acme", "x"); !errors.Is(err, tx.Err()) {
		t.Errorf("a statement after the failed one: %v", err)
	}
}

// connect opens a connection to the database of a new store.
func connect(t *testing.T) *sqldoc.Conn {
	t.Helper()
	c, err := schema(t).Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	conn := sqldoc.NewConn(c, sqldoc.Dialect{
		Rewrite: func(statement string) string { return strings.ReplaceAll(statement, "$", "?") },
		Error:   func(err error) error { return err },
	})
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return conn
}
