package writebehind

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
)

// TestCachedRowsThatGrowStayWithinTheBound: runs begin small and grow with each step.
func TestCachedRowsThatGrowStayWithinTheBound(t *testing.T) {
	c, table := newCache(), &store.Table{Name: "runs"}
	for _, size := range []int{10, maxCached, 100, maxCached} {
		doc := bytes.Repeat([]byte("x"), size)
		for i := range 3000 {
			c.put(place{table, "acme", fmt.Sprint(i)}, row{version: 1, doc: doc}, c.now())
		}
	}
	held := 0
	for _, generation := range []map[place]row{c.young, c.old} {
		for _, r := range generation {
			held += len(r.doc)
		}
	}
	if most := 2 * (maxGeneration + maxCached); held > most {
		t.Errorf("the cache holds %d bytes of documents, want at most %d", held, most)
	}
}
