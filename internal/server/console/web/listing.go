package web

import (
	"context"
	"net/url"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// PageSize is how many rows a list shows on a page.
const PageSize = 50

// List is the page of a list that the address asks for.
func (r *Request) List() control.List {
	offset, err := strconv.Atoi(r.Query("offset"))
	if err != nil || offset < 0 {
		offset = 0
	}
	return control.List{Limit: PageSize, Offset: offset, Retired: r.Query("retired") == "true"}
}

// Pager links to the neighboring pages of a list.
type Pager struct {
	Prev, Next      string
	From, To, Total int
}

// Pager links the pages of a list around the one that is shown.
func (r *Request) Pager(l control.List, shown, total int, next *int) Pager {
	p := Pager{From: l.Offset + 1, To: l.Offset + shown, Total: total}
	if l.Offset > 0 {
		p.Prev = r.with("offset", strconv.Itoa(max(0, l.Offset-PageSize)))
	}
	if next != nil {
		p.Next = r.with("offset", strconv.Itoa(*next))
	}
	return p
}

// with is the present address with one parameter changed; "" removes it.
func (r *Request) with(name, value string) string {
	q := r.R.URL.Query()
	q.Set(name, value)
	if value == "" || name == "offset" && value == "0" {
		q.Del(name)
	}
	return withQuery(r, q)
}

// withQuery is the path of the present address with another query.
func withQuery(v *Request, q url.Values) string {
	if len(q) == 0 {
		return v.R.URL.Path
	}
	return v.R.URL.Path + "?" + q.Encode()
}

// Filter is a value of a parameter to choose by a link.
type Filter struct {
	Word, Href string
	Here       bool
}

// Filters offers values of one parameter after "All".
func (r *Request) Filters(name string, values ...[2]string) []Filter {
	now := r.Query(name)
	out := []Filter{{Word: "All", Href: r.WithParam(name, ""), Here: now == ""}}
	for _, value := range values {
		out = append(out, Filter{Word: value[1], Href: r.WithParam(name, value[0]), Here: now == value[0]})
	}
	return out
}

// WithParam is the address of this page with a parameter set to value, or removed if
// value is "", at the list's first page.
func (r *Request) WithParam(name, value string) string {
	q := r.R.URL.Query()
	q.Del("offset")
	q.Del(name)
	if value != "" {
		q.Set(name, value)
	}
	return withQuery(r, q)
}

// recordsData is a list of records of which some may be retired.
type recordsData[T any] struct {
	Items    []T
	Pager    Pager
	Retirees Retirees
}

// RecordsPage lists models, projects or teams, each below an address of its own.
func RecordsPage[T any](v *Request, noun, title string, read func(context.Context, control.Actor, control.List) (countersign.Page[T], error)) (*Page, error) {
	l := v.List()
	found, err := read(v.R.Context(), v.Actor, l)
	if err != nil {
		return nil, err
	}
	d := recordsData[T]{found.Items, v.Pager(l, len(found.Items), found.Total, found.NextOffset), RetireesOf(v)}
	return &Page{Name: noun, Title: title, Nav: noun, Crumbs: []Crumb{{Word: title}}, Data: d}, nil
}

// Option is a value of a parameter to choose from a list.
type Option struct {
	Value, Word string
	Here        bool
}

// Retirees is a list's link that shows or hides retired records.
type Retirees struct{ Word, Href string }

// RetireesOf is the link of the present list.
func RetireesOf(v *Request) Retirees {
	if v.Query("retired") == "true" {
		return Retirees{"Hide retired", v.WithParam("retired", "")}
	}
	return Retirees{"Show retired", v.WithParam("retired", "true")}
}

// ProjectRowOf keeps what a row shows: of the capabilities, how many there are.
func ProjectRowOf(p countersign.Project) (countersign.Project, error) {
	p.Capabilities, p.Headers = make([]countersign.Capability, len(p.Capabilities)), nil
	return p, nil
}
