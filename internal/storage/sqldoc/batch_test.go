package sqldoc_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
)

// host is a transaction that nothing breaks.
type host struct{ *sqldoc.Conn }

func (host) Broken(error) error { return nil }

// call runs a function in a batch.
func lend(t *testing.T, b *sqldoc.Batch, fn func(store.Tx) error) {
	t.Helper()
	r := sqldoc.NewRequest()
	go func() { _ = r.Serve(context.Background(), fn) }()
	if err := b.Run(r); err != nil {
		t.Fatal(err)
	}
	r.Answer(nil)
}

// TestARowIsWrittenOnce, also if a function that failed had written it before.
func TestARowIsWrittenOnce(t *testing.T) {
	sent := 0
	pinned, err := schema(t).Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	conn := sqldoc.NewConn(pinned, sqldoc.Dialect{
		Rewrite: func(statement string) string { return strings.ReplaceAll(statement, "$", "?") },
		Error:   func(err error) error { return err },
		Together: func(_ *sql.Conn, writes []sqldoc.Write) error {
			for _, w := range writes {
				sent += w.Rows
			}
			return nil
		},
	})
	t.Cleanup(func() { _ = conn.Close() })
	b := conn.NewBatch(host{conn}, sqldoc.NewCache(), false)
	put := func(tx store.Tx, id string) error {
		return tx.Put(store.Tenants, "acme", store.Row{ID: id, Doc: []byte("{}")}, 0)
	}
	lend(t, b, func(tx store.Tx) error { return errors.Join(put(tx, "a"), errors.New("no")) })
	lend(t, b, func(tx store.Tx) error { return errors.Join(put(tx, "a"), put(tx, "b")) })
	lend(t, b, func(tx store.Tx) error { return tx.Delete(store.Tenants, "acme", "b") })
	lend(t, b, func(tx store.Tx) error { return put(tx, "b") })
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	if sent != 2 {
		t.Errorf("%d rows were sent", sent)
	}
}
