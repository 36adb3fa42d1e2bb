package audit

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/store"
)

func TestListingFiltersAndPages(t *testing.T) {
	s := journal(t, 12) // actors t-0 t-1 t-2, actions in turn, subjects r-0 … r-4
	next := func(n int) *int { return &n }
	tests := []struct {
		name   string
		filter Filter
		limit  int
		offset int
		want   []int64
		total  int
		next   *int
	}{
		{"newest first", Filter{}, 3, 0, []int64{11, 10, 9}, 12, next(3)},
		{"a page in between", Filter{}, 3, 6, []int64{5, 4, 3}, 12, next(9)},
		{"the last page", Filter{}, 5, 10, []int64{1, 0}, 12, nil},
		{"beyond the last", Filter{}, 5, 12, []int64{}, 12, nil},
		{"an actor", Filter{Actor: "token:t-1"}, 100, 0, []int64{10, 7, 4, 1}, 4, nil},
		{"an action", Filter{Action: "runs.cancel"}, 2, 0, []int64{11, 9}, 6, next(2)},
		{"a subject", Filter{Subject: "run/r-2"}, 100, 0, []int64{7, 2}, 2, nil},
		{"since, the minute itself included", Filter{Since: morning.Add(10 * time.Minute)}, 100, 0, []int64{11, 10}, 2, nil},
		{"all at once", Filter{Actor: "token:t-1", Action: "runs.cancel", Subject: "run/r-2", Since: morning}, 100, 0, []int64{7}, 1, nil},
		{"nobody", Filter{Actor: "token:t-7"}, 100, 0, []int64{}, 0, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var page countersign.Page[countersign.AuditRecord]
			view(t, s, func(tx store.Tx) (err error) {
				page, err = List(tx, tenant, test.filter, test.limit, test.offset)
				return err
			})
			got := []int64{}
			for _, r := range page.Items {
				got = append(got, r.Seq)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || page.Total != test.total || cmp.Diff(test.next, page.NextOffset) != "" {
				t.Errorf("%s total %d next %v", diff, page.Total, page.NextOffset)
			}
		})
	}
}

// uncounted fails the test when records are counted.
type uncounted struct {
	store.Tx
	t *testing.T
}

func (u uncounted) Count(table *store.Table, tenant string, q store.Query) (int, error) {
	u.t.Errorf("%s are counted", table.Name)
	return u.Tx.Count(table, tenant, q)
}

// TestTheWholeLogIsNotCounted: a page of it takes as long after years as after a day.
func TestTheWholeLogIsNotCounted(t *testing.T) {
	s := journal(t, 12)
	view(t, s, func(tx store.Tx) error {
		page, err := List(uncounted{tx, t}, tenant, Filter{}, 3, 0)
		if err == nil && page.Total != 12 {
			t.Errorf("it has %d records", page.Total)
		}
		return err
	})
}

// TestALogWhoseHeadIsDamagedOrMissingIsListed: whoever looks for what was done to it needs its
// records.
func TestALogWhoseHeadIsDamagedOrMissingIsListed(t *testing.T) {
	for name, spoil := range map[string]func(tampering){
		"damaged": func(m tampering) {
			row, err := m.tx.Get(store.AuditHeads, tenant, headID)
			if err == nil {
				err = m.tx.Put(store.AuditHeads, tenant, store.Row{ID: headID, Doc: row.Doc[1:]}, row.Version)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
		"missing": func(m tampering) { _ = m.tx.Delete(store.AuditHeads, tenant, headID) },
	} {
		s := journal(t, 12)
		update(t, s, func(tx store.Tx) error { spoil(tampering{t, tx}); return nil })
		view(t, s, func(tx store.Tx) error {
			page, err := List(tx, tenant, Filter{}, 3, 0)
			if err != nil || len(page.Items) != 3 || page.Total != 12 {
				t.Errorf("%s: %d of %d records are listed: %v", name, len(page.Items), page.Total, err)
			}
			return nil
		})
	}
}
