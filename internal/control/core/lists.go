package core

import (
	"maps"
	"slices"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// List is the requested page of a list.
type List struct {
	Limit   int
	Offset  int
	Retired bool // include what is retired
}

// The orders of lists by when an item was made.
var (
	NewestFirst = []store.Order{{Column: "created", Descending: true}, {Column: "id", Descending: true}}
	OldestFirst = []store.Order{{Column: "created"}, {Column: "id"}}
)

// Current adds a filter against retired items, unless Retired is set.
func (l List) Current(where ...store.Filter) []store.Filter {
	if l.Retired {
		return where
	}
	return append(where, records.NotRetired)
}

// Query is the page of what is listed.
func (l List) Query(order []store.Order, where ...store.Filter) store.Query {
	return store.Query{Where: where, Order: order, Limit: l.Limit, Offset: l.Offset}
}

// ReadAtOnce is how many stored documents a list has in memory: each may have some mebibytes.
const ReadAtOnce = 4

// Whole keeps all of an item.
func Whole[T any](v T) (T, error) { return v, nil }

// Equals filters by columns; an empty value filters by nothing.
func Equals(filters map[string]string) []store.Filter {
	var where []store.Filter
	for _, column := range slices.Sorted(maps.Keys(filters)) { // always the same statement
		if v := filters[column]; v != "" {
			where = append(where, store.Equal(column, v))
		}
	}
	return where
}

// Within filters by the values that a column may have.
func Within(column string, values []string) store.Filter {
	f := store.Filter{Column: column, Op: store.In}
	for _, v := range values {
		f.Values = append(f.Values, v)
	}
	return f
}
