package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/countersign/countersign"
)

// Paging asks for one page. The zero value is the first 100.
type Paging struct {
	Limit   int // 1 to 200; 0: the service's default, 100
	Offset  int
	Retired bool // what is retired too: of models, projects, agents and teams
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

// set adds a filter unless it is empty.
func set(q url.Values, name, v string) {
	if v != "" {
		q.Set(name, v)
	}
}

func list[T any](ctx context.Context, c *Client, path string, query url.Values) (*countersign.Page[T], error) {
	return call[countersign.Page[T]](ctx, c, Request{Method: http.MethodGet, Path: path, Query: query})
}

// walk goes through a list to its end, page by page. Each page is one snapshot;
// what is made meanwhile can push an item of a list that shows the newest first
// to the next page, so that it comes twice, but none is left out.
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
