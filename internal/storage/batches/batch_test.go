package batches_test

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/storage/batches"
	"github.com/countersign/countersign/internal/storage/sqldoc"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/turns"
)

// host is a transaction that nothing breaks.
type host struct{ *sqldoc.Conn }

func (host) Broken(error) error { return nil }

// call runs a function in a batch.
func lend(t *testing.T, b *batches.Batch, fn func(store.Tx) error) {
	t.Helper()
	r := turns.NewRequest()
	go func() { _ = r.Serve(context.Background(), fn) }()
	if err := b.Run(r); err != nil {
		t.Fatal(err)
	}
	r.Answer(nil)
}

// recording is a batch whose writes are recorded instead of made.
func recording(t *testing.T) (b *batches.Batch, sent *[]sqldoc.Write) {
	t.Helper()
	pinned, err := schema(t).Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	sent = &[]sqldoc.Write{}
	conn := sqldoc.NewConn(pinned, sqldoc.Dialect{
		Rewrite:  func(statement string) string { return strings.ReplaceAll(statement, "$", "?") },
		Error:    func(err error) error { return err },
		Together: func(_ *sql.Conn, writes []sqldoc.Write) error { *sent = append(*sent, writes...); return nil },
	})
	t.Cleanup(func() { _ = conn.Close() })
	return batches.New(conn, host{conn}, batches.NewCache(), false), sent
}

// TestARowIsWrittenOnce, also if a function that failed had written it before.
func TestARowIsWrittenOnce(t *testing.T) {
	b, sent := recording(t)
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
	if len(*sent) != 1 || (*sent)[0].Rows != 2 || (*sent)[0].Kind != sqldoc.Insert {
		t.Errorf("sent was %+v", *sent)
	}
}

// TestLargeWritesAreSplit: each row is in one of them.
func TestLargeWritesAreSplit(t *testing.T) {
	b, sent := recording(t)
	megabytes := map[string]int{"a": 3, "b": 4, "c": 1, "d": 1, "e": 20, "f": 1, "g": 0, "h": 7}
	lend(t, b, func(tx store.Tx) error {
		for _, id := range slices.Sorted(maps.Keys(megabytes)) {
			row := store.Row{ID: id, Doc: []byte(strings.Repeat("x", megabytes[id]<<20))}
			if err := tx.Put(store.Steps, "acme", keyed(row, id), 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err := b.Finish(func(writes []sqldoc.Write) error { *sent = append(*sent, writes...); return nil }); err != nil {
		t.Fatal(err)
	}
	var groups []string
	for _, w := range *sent {
		ids, docs, runs := w.Arrays[1].([]string), w.Arrays[3].([]string), w.Arrays[4].([]string)
		for i, id := range ids {
			if len(docs[i]) != megabytes[id]<<20 || runs[i] != "run-"+id || w.Rows != len(ids) || w.Kind != sqldoc.Insert {
				t.Errorf("%s has %d bytes and %s, of %d rows", id, len(docs[i]), runs[i], w.Rows)
			}
		}
		groups = append(groups, strings.Join(ids, ""))
	}
	if got := strings.Join(groups, " "); got != "abc d e fgh" {
		t.Errorf("the rows are split into %s", got)
	}
}

func keyed(row store.Row, id string) store.Row {
	row.Keys = []any{"run-" + id, int64(1), ""}
	return row
}
