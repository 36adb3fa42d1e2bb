package batches_test

import (
	"errors"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
)

// TestWhatAFailedFunctionTookForGrantedIsNotKnown: it put a row as new that another writer had
// put before. Neither a later function of its batch nor a later batch takes the row for missing.
func TestWhatAFailedFunctionTookForGrantedIsNotKnown(t *testing.T) {
	c := openCaches(t, 2)
	put := func(id string) func(store.Tx) error {
		return func(tx store.Tx) error {
			return tx.Put(store.Claims, "acme", store.Row{ID: id, Doc: []byte("{}"), New: true}, 0)
		}
	}
	fails := func(tx store.Tx) error { return errors.Join(put("a")(tx), errUndone) }
	finds := func(tx store.Tx) error {
		if _, err := tx.Get(store.Claims, "acme", "a"); err != nil {
			t.Errorf("what is there: %v", err)
		}
		return nil
	}
	c.turn(t, 0, false, false, put("a"))
	c.turn(t, 1, false, false, fails, put("b"))
	c.turn(t, 1, false, false, finds)
	c.turn(t, 0, false, false, put("c"))
	missing := func(tx store.Tx) error {
		if _, err := tx.Get(store.Claims, "acme", "z"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("what was never there: %v", err)
		}
		return nil
	}
	failsAnew := func(tx store.Tx) error { return errors.Join(put("z")(tx), errUndone) }
	c.turn(t, 0, false, false, failsAnew, missing)
	c.turn(t, 1, false, false, failsAnew)
	c.turn(t, 1, false, false, missing)
	other := openCaches(t, 2)
	other.turn(t, 0, false, false, put("a"))
	other.turn(t, 1, false, false, fails, finds, put("b"))
}
