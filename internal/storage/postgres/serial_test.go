package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// A history of functions is strictly serializable if there is an order of all of them in which
// each reads what the last one before it wrote, and who began after another had ended comes
// behind it. The versions of rows give the order, so none has to be searched for.

// happened is a function that ran: which versions it read, which row it wrote, and when.
type happened struct {
	began, ended int64
	read         map[string]int64
	wrote        string // "": it has refused
}

// cycle finds functions that must come before themselves.
func cycle(history []happened) (found []int) {
	after := make([][]int, len(history))
	writer := map[string]int{}
	at := func(id string, version int64) string { return fmt.Sprint(id, "@", version) }
	for i, h := range history {
		if h.wrote != "" {
			writer[at(h.wrote, h.read[h.wrote]+1)] = i
		}
	}
	for i, h := range history {
		for id, version := range h.read {
			if w, ok := writer[at(id, version)]; ok {
				after[w] = append(after[w], i)
			}
			if w, ok := writer[at(id, version+1)]; ok && w != i {
				after[i] = append(after[i], w)
			}
		}
		for j, other := range history {
			if h.ended < other.began {
				after[i] = append(after[i], j)
			}
		}
	}
	const unseen, open, done = 0, 1, 2
	state := make([]int, len(history))
	var visit func(i int) bool
	visit = func(i int) bool {
		state[i] = open
		for _, j := range after[i] {
			if state[j] == open || state[j] == unseen && visit(j) {
				found = append(found, i)
				return true
			}
		}
		state[i] = done
		return false
	}
	for i := range history {
		if state[i] == unseen && visit(i) {
			return found
		}
	}
	return nil
}

// TestTheCheckFindsWhatIsNoOrder.
func TestTheCheckFindsWhatIsNoOrder(t *testing.T) {
	write := func(began, ended int64, wrote string, read map[string]int64) happened {
		return happened{began, ended, read, wrote}
	}
	for name, c := range map[string]struct {
		history []happened
		ordered bool
	}{
		"one after the other": {[]happened{write(1, 2, "a", map[string]int64{"a": 1, "b": 1}), write(3, 4, "b", map[string]int64{"a": 2, "b": 1})}, true},
		"write skew":          {[]happened{write(1, 3, "a", map[string]int64{"a": 1, "b": 1}), write(2, 4, "b", map[string]int64{"a": 1, "b": 1})}, false},
		"a stale refusal":     {[]happened{write(1, 2, "a", map[string]int64{"a": 1}), write(3, 4, "", map[string]int64{"a": 1})}, false},
		"a refusal meanwhile": {[]happened{write(1, 3, "a", map[string]int64{"a": 1}), write(2, 4, "", map[string]int64{"a": 1})}, true},
	} {
		if got := cycle(c.history); (got == nil) != c.ordered {
			t.Errorf("%s: the cycle is %v", name, got)
		}
	}
}

// TestThreeStoresWithSlowCommitsAreStrictlySerializable: functions that write, those that
// refuse, those that need rows and counts which their store doesn't know, and Views of one row
// and of several. Two of the stores run functions while they wait for the lock.
func TestThreeStoresWithSlowCommitsAreStrictlySerializable(t *testing.T) {
	callers, each := 12, 60
	if testing.Short() {
		each = 15
	}
	const objects = 6
	url := pgtest.Database(t)
	stores := append(openMany(t, url, 2), openManyAt(t, url, 1, true)...)
	for _, s := range stores[1:] {
		mustDo(t, s.Update(context.Background(), func(store.Tx) error {
			s.writer.settings.draftFor = generous
			return nil
		}))
	}
	mustDo(t, stores[0].Update(context.Background(), func(tx store.Tx) error {
		for i := range objects {
			if err := write(tx, fmt.Sprint(i), "0"); err != nil {
				return err
			}
		}
		return nil
	}))
	pgtest.Exec(t, url, `CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(random() * 0.004); RETURN NEW; END $$;
		CREATE CONSTRAINT TRIGGER lingers AFTER UPDATE ON countersign_batches DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION linger()`)
	var clock atomic.Int64
	var mu sync.Mutex
	var history []happened
	var wg sync.WaitGroup
	refused := errors.New("refused")
	for caller := range callers {
		wg.Go(func() {
			draw := rand.New(rand.NewPCG(uint64(caller), 23))
			for i := range each {
				picked := draw.Perm(objects)[:3]
				kind := draw.IntN(6)
				h := happened{began: clock.Add(1)}
				s := stores[draw.IntN(3)]
				run := s.Update
				if kind > 3 {
					run, picked = s.View, picked[:2*kind-7]
				}
				err := run(context.Background(), func(tx store.Tx) error {
					h.read, h.wrote = map[string]int64{}, ""
					for _, n := range picked {
						row, err := tx.Get(store.Models, "acme", fmt.Sprint(n))
						if err != nil {
							return err
						}
						h.read[row.ID] = row.Version
					}
					if kind == 0 {
						return refused
					}
					if kind == 1 { // what no store knows
						if _, err := tx.Get(store.Claims, "acme", fmt.Sprint(caller, "-", i)); !errors.Is(err, store.ErrNotFound) {
							return errors.Join(errors.New("a claim is there"), err)
						}
						if n, err := tx.Count(store.Models, "acme", store.Query{Where: []store.Filter{store.Equal("retired", int64(0))}}); n != objects || err != nil {
							return fmt.Errorf("%d rows: %w", n, err)
						}
					}
					if kind > 3 {
						return nil
					}
					h.wrote = fmt.Sprint(picked[0])
					return write(tx, h.wrote, "1")
				})
				h.ended = clock.Add(1)
				if (kind == 0) != errors.Is(err, refused) || kind != 0 && err != nil {
					t.Errorf("Update: %v", err)
				}
				mu.Lock()
				history = append(history, h)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if found := cycle(history); found != nil {
		for _, i := range found {
			t.Errorf("not in an order: %+v", history[i])
		}
	}
}
