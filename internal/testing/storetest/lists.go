package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/storage/store"
)

// sampleRuns has equal values in every column, so that ties are tested.
var sampleRuns = []store.Row{
	run("a", 3, "READY", "p1", "eu"),
	run("b", 1, "RUNNING", "p2", "us"),
	run("c", 3, "RUNNING", "p1", ""),
	run("d", 2, "READY", "p2", "eu"),
	run("é", 2, "DONE", "p1", "us"),
	run("B", -5, "DONE", "p1", "eu"),
}

func listWithoutOrderIsByID(t *testing.T, s store.Store) {
	put(t, s, sampleRuns...)
	wantSame(t, ids(list(t, s, store.Query{})), []string{"B", "a", "b", "c", "d", "é"})
}

func listBreaksTies(t *testing.T, s store.Store) {
	put(t, s, sampleRuns...)
	for _, c := range []struct {
		order []store.Order
		want  []string
	}{
		{[]store.Order{{Column: "created"}}, []string{"B", "b", "d", "é", "a", "c"}},
		{[]store.Order{{Column: "created", Descending: true}}, []string{"c", "a", "é", "d", "b", "B"}},
		{[]store.Order{{Column: "id", Descending: true}}, []string{"é", "d", "c", "b", "a", "B"}},
		{[]store.Order{{Column: "status"}, {Column: "created", Descending: true}}, []string{"é", "B", "a", "d", "c", "b"}},
		{[]store.Order{{Column: "scope", Descending: true}, {Column: "plan"}}, []string{"é", "b", "B", "a", "d", "c"}},
	} {
		wantSame(t, ids(list(t, s, store.Query{Order: c.order})), c.want)
	}
}

func listFilters(t *testing.T, s store.Store) {
	put(t, s, sampleRuns...)
	for _, c := range []struct {
		where []store.Filter
		want  []string
	}{
		{[]store.Filter{store.Equal("status", "READY")}, []string{"a", "d"}},
		{[]store.Filter{store.Equal("id", "c")}, []string{"c"}},
		{[]store.Filter{store.Equal("scope", "")}, []string{"c"}},
		{[]store.Filter{{Column: "status", Op: store.In, Values: []any{"DONE", "READY", "DONE", "none"}}}, []string{"B", "a", "d", "é"}},
		{[]store.Filter{{Column: "status", Op: store.In}}, nil},
		{[]store.Filter{{Column: "created", Op: store.AtLeast, Values: []any{int64(2)}}}, []string{"a", "c", "d", "é"}},
		{[]store.Filter{{Column: "created", Op: store.AtMost, Values: []any{int64(1)}}}, []string{"B", "b"}},
		{[]store.Filter{{Column: "id", Op: store.AtLeast, Values: []any{"d"}}}, []string{"d", "é"}},
		{[]store.Filter{store.Equal("plan", "p1"), store.Equal("created", int64(3)), store.Equal("scope", "eu")}, []string{"a"}},
		{[]store.Filter{{Column: "created", Op: store.AtLeast, Values: []any{int64(1)}}, {Column: "created", Op: store.AtMost, Values: []any{int64(2)}}}, []string{"b", "d", "é"}},
	} {
		wantSame(t, ids(list(t, s, store.Query{Where: c.where})), c.want)
		view(t, s, func(tx store.Tx) error {
			n, err := tx.Count(store.Runs, tenant, store.Query{Where: c.where})
			wantSame(t, n, len(c.want))
			return err
		})
	}
}

// rowsWithinAnotherAreFoundByIt: in a table whose ids begin with a column, rows of others whose names only begin alike, or stand
// beside the slash, are not taken for the column's, nor is a row with a foreign id taken at all.
func rowsWithinAnotherAreFoundByIt(t *testing.T, s store.Store) {
	agents := []string{"a", "a-b", "a0", "a00", "a.", "b", "A", "a~"}
	instance := func(agent, name string, received int) store.Row {
		return store.Row{ID: agent + "/" + name, Keys: []any{agent, "IDLE", int64(received)}, Doc: []byte("{}")}
	}
	update(t, s, func(tx store.Tx) (err error) { // at once: where rows are kept in memory, all of them are
		for i, agent := range agents {
			for n, name := range []string{"", "0", "/", "~", "é", "\U0010ffff"} {
				err = errors.Join(err, tx.Put(store.Instances, tenant, instance(agent, name, i*10+n), 0))
			}
		}
		return err
	})
	for i, agent := range agents {
		for op, want := range map[store.Op]int{store.In: 6, store.AtLeast: 6 * atLeast(agents, agent)} {
			view(t, s, func(tx store.Tx) error {
				where := []store.Filter{{Column: "agent", Op: op, Values: []any{agent}}, store.Equal("state", "IDLE")}
				n, err := tx.Count(store.Instances, tenant, store.Query{Where: where})
				wantSame(t, n, want)
				if op == store.In && err == nil {
					var newest []store.Row
					newest, err = tx.List(store.Instances, tenant, store.Query{Where: where, Order: []store.Order{{Column: "received", Descending: true}}, Limit: 1})
					wantSame(t, ids(newest), []string{instance(agent, "\U0010ffff", i).ID})
				}
				return err
			})
		}
	}
	err := s.Update(context.Background(), func(tx store.Tx) error {
		return tx.Put(store.Instances, tenant, store.Row{ID: "a0/x", Keys: []any{"a", "IDLE", int64(1)}, Doc: []byte("{}")}, 0)
	})
	const want = `the id of row "a0/x" does not begin with its agent "a" and a slash`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a row was taken whose id doesn't begin with its column: %v", err)
	}
}

// atLeast is how many names don't come before one.
func atLeast(names []string, name string) (n int) {
	for _, other := range names {
		if other >= name {
			n++
		}
	}
	return n
}

func listPagesCoverEverythingOnce(t *testing.T, s store.Store) {
	put(t, s, sampleRuns...)
	order := []store.Order{{Column: "plan", Descending: true}}
	all := ids(list(t, s, store.Query{Order: order}))
	for limit := 1; limit <= len(all)+1; limit++ {
		var paged []string
		for offset := 0; offset < len(all)+2; offset += limit {
			paged = append(paged, ids(list(t, s, store.Query{Order: order, Limit: limit, Offset: offset}))...)
		}
		wantSame(t, paged, all)
	}
	wantSame(t, ids(list(t, s, store.Query{Order: order, Offset: 4})), all[4:])
	wantSame(t, ids(list(t, s, store.Query{Order: order, Offset: 99})), []string{})
}

func eachHandsOverWhatAListHas(t *testing.T, s store.Store) {
	put(t, s, sampleRuns...)
	type shown struct {
		ID string `json:"id"`
	}
	of := store.Collection[shown]{Table: store.Runs}
	order := []store.Order{{Column: "plan", Descending: true}}
	for atOnce := 1; atOnce <= len(sampleRuns)+1; atOnce++ {
		for limit := range len(sampleRuns) + 2 {
			for offset := range len(sampleRuns) + 2 {
				q, each := store.Query{Order: order, Limit: limit, Offset: offset}, []string{}
				view(t, s, func(tx store.Tx) error {
					return of.Each(tx, tenant, q, atOnce, func(r *shown) error {
						each = append(each, r.ID)
						return nil
					})
				})
				wantSame(t, each, ids(list(t, s, q)))
			}
		}
	}
}

func listOfWrongQueryIsRefused(t *testing.T, s store.Store) {
	put(t, s, sampleRuns...)
	for name, q := range map[string]store.Query{
		"unknown column":     {Where: []store.Filter{store.Equal("doc", "x")}},
		"injected column":    {Where: []store.Filter{store.Equal("1=1 OR status", "x")}},
		"unknown order":      {Order: []store.Order{{Column: "version"}}},
		"text for integer":   {Where: []store.Filter{store.Equal("created", "3")}},
		"integer for text":   {Where: []store.Filter{store.Equal("status", int64(3))}},
		"two for at least":   {Where: []store.Filter{{Column: "created", Op: store.AtLeast, Values: []any{int64(1), int64(2)}}}},
		"none for at most":   {Where: []store.Filter{{Column: "created", Op: store.AtMost}}},
		"unknown operator":   {Where: []store.Filter{{Column: "created", Op: 9, Values: []any{int64(1)}}}},
		"negative limit":     {Limit: -1},
		"negative offset":    {Offset: -1},
		"plain int as value": {Where: []store.Filter{store.Equal("created", 3)}},
	} {
		view(t, s, func(tx store.Tx) error {
			if _, err := tx.List(store.Runs, tenant, q); err == nil {
				t.Errorf("List took %s", name)
			}
			if _, err := tx.Count(store.Runs, tenant, q); err == nil {
				t.Errorf("Count took %s", name)
			}
			return nil
		})
	}
}

func countIgnoresLimitAndOffset(t *testing.T, s store.Store) {
	put(t, s, sampleRuns...)
	view(t, s, func(tx store.Tx) error {
		n, err := tx.Count(store.Runs, tenant, store.Query{Limit: 2, Offset: 3, Order: []store.Order{{Column: "created"}}})
		wantSame(t, n, len(sampleRuns))
		return err
	})
}

func distinctIsSorted(t *testing.T, s store.Store) {
	put(t, s, sampleRuns...)
	update(t, s, func(tx store.Tx) error {
		return tx.Put(store.Runs, "other", run("x", 1, "ODD", "odd", "odd"), 0)
	})
	view(t, s, func(tx store.Tx) error {
		for column, want := range map[string][]string{
			"status": {"DONE", "READY", "RUNNING"}, "scope": {"", "eu", "us"}, "id": {"B", "a", "b", "c", "d", "é"},
		} {
			got, err := tx.Distinct(store.Runs, tenant, column)
			wantErr(t, err, nil)
			wantSame(t, got, want)
		}
		none, err := tx.Distinct(store.Runs, "nobody", "status")
		wantErr(t, err, nil)
		wantSame(t, none, []string{})
		for _, column := range []string{"created", "doc", "tenant"} {
			if _, err := tx.Distinct(store.Runs, tenant, column); err == nil {
				return fmt.Errorf("took column %s", column)
			}
		}
		return nil
	})
}
