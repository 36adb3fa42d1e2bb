package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

// agreesWithMemory runs random transactions on the engine and on the reference, and compares every
// answer. Each case uses its own tenants.
func agreesWithMemory(t *testing.T, s store.Store) {
	reference := memory.New()
	defer closeStore(t, reference)
	cases := 0
	rapid.Check(t, func(t *rapid.T) {
		cases++
		tenants := []string{fmt.Sprintf("t%d", cases), fmt.Sprintf("t%d-eu", cases)}
		for range rapid.IntRange(1, 8).Draw(t, "transactions") {
			drawTransaction(t, tenants).compare(t, s, reference)
		}
		everything := transaction{readOnly: true}
		for _, tenant := range tenants {
			for _, table := range randomTables {
				everything.operations = append(everything.operations, listing(table, tenant, store.Query{}))
			}
		}
		everything.compare(t, s, reference)
	})
}

// randomTables are a table with several columns, one ordered by text and then by integer, and one
// without columns.
var randomTables = []*store.Table{store.Runs, store.Steps, store.Tenants}

// operation performs one operation and describes its result in comparable form.
type operation struct {
	name string
	do   func(store.Tx) (any, error)
}

type transaction struct {
	operations []operation
	readOnly   bool
	fails      bool
}

// answer is the result of an operation; errors are compared by their kind.
type answer struct {
	Operation string
	Value     any
	Error     string
}

func drawTransaction(t *rapid.T, tenants []string) transaction {
	tr := transaction{
		readOnly: rapid.IntRange(0, 4).Draw(t, "read only") == 0,
		fails:    rapid.IntRange(0, 4).Draw(t, "fails") == 0,
	}
	for range rapid.IntRange(1, 8).Draw(t, "operations") {
		tr.operations = append(tr.operations, drawOperation(t, rapid.SampledFrom(tenants).Draw(t, "tenant")))
	}
	return tr
}

func (tr transaction) compare(t *rapid.T, s, reference store.Store) {
	t.Helper()
	want, wantErr := tr.run(reference)
	got, gotErr := tr.run(s)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("the engine (+) and the reference (-) disagree:\n%s", diff)
	}
	if meaning(gotErr) != meaning(wantErr) {
		t.Fatalf("the engine ended with %v, the reference with %v", gotErr, wantErr)
	}
}

func (tr transaction) run(s store.Store) (answers []answer, err error) {
	do := s.Update
	if tr.readOnly {
		do = s.View
	}
	err = do(context.Background(), func(tx store.Tx) error {
		answers = nil
		for _, o := range tr.operations {
			value, err := o.do(tx)
			answers = append(answers, answer{o.name, value, meaning(err)})
		}
		if tr.fails {
			return errDeliberate
		}
		return nil
	})
	return answers, err
}

func meaning(err error) string {
	for _, known := range []error{store.ErrNotFound, store.ErrConflict, store.ErrUnavailable, errDeliberate} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if err != nil {
		return "refused"
	}
	return ""
}
