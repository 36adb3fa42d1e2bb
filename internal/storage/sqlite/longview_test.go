package sqlite

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
)

// TestAViewThatStaysKeepsLittleInMemory of the rows that are committed meanwhile, whether it
// has read or not: some of the last ones are cached anyway.
func TestAViewThatStaysKeepsLittleInMemory(t *testing.T) {
	const rows, size = 1000, 32 << 10
	settings := awaiting(256 << 10)
	s, err := open(context.Background(), emptyStore(t), settings)
	mustDo(t, err)
	defer mustClose(t, s)
	put := func(prefix string, n int) {
		mustDo(t, s.Update(context.Background(), func(tx store.Tx) error {
			return tx.Put(store.Tenants, "acme", store.Row{ID: fmt.Sprintf("%s%04d", prefix, n), Doc: make([]byte, size)}, 0)
		}))
	}
	count := func(tx store.Tx) int {
		n, err := tx.Count(store.Tenants, "acme", store.Query{})
		mustDo(t, err)
		return n
	}
	put("first", 0)
	for name, reads := range map[string]bool{"a": true, "b": false} {
		mustDo(t, s.View(context.Background(), func(tx store.Tx) error {
			before := 0
			if reads {
				before = count(tx)
				_, err := tx.List(store.Tenants, "acme", store.Query{Limit: 1})
				mustDo(t, err)
			}
			held := heapInUse()
			for n := range rows {
				put(name, n)
			}
			if grown := heapInUse() - held; grown > rows*size/2 {
				t.Errorf("read before: %t; the heap grew by %d bytes while %d were committed", reads, grown, rows*size)
			}
			if reads {
				if after := count(tx); after != before {
					t.Errorf("the View counted %d rows, then %d", before, after)
				}
			}
			return nil
		}))
	}
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // frees what finalizers of the first held
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
