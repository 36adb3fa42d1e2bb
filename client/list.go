package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/countersign/countersign"
)

// Paging selects a page. The zero value is the first 100 items.
type Paging struct {
	Limit   int // 1 to 200; 0: the service's default, 100
	Offset  int
	Retired bool // include retired models, projects, agents or teams
}

func (p Paging) query() url.Values {
	q := url.Values{}
	if p.Limit != 0 {
		q.Set("limit", strconv.Itoa(p.Limit))
	}
	if p.Offset != 0 {
		q.Set("offset", strconv.Itoa(p.Offset))
	}
	if p.Retired {
		q.Set("retired", "true")
	}
	return q
}

// set adds a query parameter unless it is empty.
func set(q url.Values, name, v string) {
	if v != "" {
		q.Set(name, v)
	}
}

func list[T any](ctx context.Context, c *Client, path string, query url.Values) (*countersign.Page[T], error) {
	return call[countersign.Page[T]](ctx, c, Request{Method: http.MethodGet, Path: path, Query: query})
}

// walk iterates over a list page by page. Each page is a separate snapshot: in a list that begins
// with the newest, items created meanwhile can shift an item to the next page, so that it comes
// twice, but no item is left out.
func walk[T any](p Paging, page func(Paging) (*countersign.Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			got, err := page(p)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range got.Items {
				if !yield(item, nil) {
					return
				}
			}
			if got.NextOffset == nil {
				return
			}
			p.Offset = *got.NextOffset
		}
	}
}
