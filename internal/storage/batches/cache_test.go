package batches

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
)

func step(i int) place { return place{store.Steps, "acme", fmt.Sprintf("run-%d/000", i)} }

// held is how many bytes of documents and keys a cache has.
func (c *Cache) held() (n int) {
	for _, generation := range []map[Sum]cached{c.young, c.old} {
		for _, row := range generation {
			n += len(row.doc)
			for _, key := range row.keys {
				text, _ := key.(string)
				n += len(text)
			}
		}
	}
	return n
}

// TestACacheIsBoundedByWhatItsRowsAre, and not by what they were: a step's row is cached when
// it is made, and again with its answer in it; rows get smaller, too large, and are dropped.
func TestACacheIsBoundedByWhatItsRowsAre(t *testing.T) {
	small, large := strings.Repeat("x", 600), strings.Repeat("x", maxRemembered)
	for name, change := range map[string]func(c *Cache, i int){
		"they grow": func(c *Cache, i int) {
			c.put(step(i), entry{version: 1, doc: small})
			c.put(step(i), entry{version: 2, doc: large})
		},
		"their keys grow": func(c *Cache, i int) {
			c.put(step(i), entry{version: 1, doc: small})
			c.put(step(i), entry{version: 2, doc: small, keys: []any{large, int64(1)}})
		},
		"they grow in the older generation": func(c *Cache, i int) {
			c.put(step(i), entry{version: 1, doc: small})
			c.put(step(i/2), entry{version: 2, doc: large})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := NewCache()
			for i := range 4 * maxGeneration / maxRemembered {
				change(c, i)
				if held := c.held(); held > 2*maxGeneration+2*maxRemembered {
					t.Fatalf("after %d rows it holds %d bytes, more than two generations of %d", i+1, held, maxGeneration)
				}
			}
		})
	}
}

// TestWhatLeavesACacheMakesRoom: rows that shrink, get too large or are dropped displace no
// others.
func TestWhatLeavesACacheMakesRoom(t *testing.T) {
	large := strings.Repeat("x", maxRemembered)
	for name, leave := range map[string]func(c *Cache, p place){
		"shrinks":        func(c *Cache, p place) { c.put(p, entry{version: 2}) },
		"gets too large": func(c *Cache, p place) { c.put(p, entry{version: 2, doc: large + "x"}) },
		"is dropped":     func(c *Cache, p place) { c.drop(p.sum()) },
		"is forgotten":   func(c *Cache, p place) { c.forget([]Sum{p.sum()}) },
	} {
		t.Run(name, func(t *testing.T) {
			c := NewCache()
			stays := step(-1)
			c.put(stays, entry{version: 1, doc: "stays"})
			for range 4 * maxGeneration / maxRemembered {
				c.put(step(0), entry{version: 1, doc: large})
				leave(c, step(0))
			}
			if _, ok := c.young[stays.sum()]; !ok {
				t.Errorf("a row left its generation, though all that were put beside it had left; size %d", c.size)
			}
		})
	}
}

// TestWhatOthersHaveChangedIsForgotten in both generations: a row of the older one is cached
// as well.
func TestWhatOthersHaveChangedIsForgotten(t *testing.T) {
	c := NewCache()
	older, younger, stays := step(-1), step(-2), step(-3)
	c.put(older, entry{version: 1, doc: "old"})
	for i := 0; len(c.old) == 0; i++ {
		c.put(step(i), entry{version: 1, doc: strings.Repeat("x", maxRemembered)})
	}
	c.put(younger, entry{version: 1, doc: "old"})
	c.put(stays, entry{version: 1, doc: "new"})
	if _, ok := c.old[older.sum()]; !ok {
		t.Fatal("no row is in the older generation")
	}
	c.forget([]Sum{older.sum(), younger.sum()})
	for _, p := range []place{older, younger} {
		if e, ok := c.get(p); ok {
			t.Errorf("%s is still cached: %q", p.id, e.doc)
		}
	}
	if _, ok := c.get(stays); !ok {
		t.Error("what nobody has changed is forgotten too")
	}
}
