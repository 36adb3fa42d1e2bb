package console

import (
	"context"
	"net/url"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// pageSize is how many rows a list shows on a page.
const pageSize = 50

// list is the page of a list that the address asks for.
func (v *pageRequest) list() control.List {
	offset, err := strconv.Atoi(v.query("offset"))
	if err != nil || offset < 0 {
		offset = 0
	}
	return control.List{Limit: pageSize, Offset: offset, Retired: v.query("retired") == "true"}
}

// pager links to the neighboring pages of a list.
type pager struct {
	Prev, Next      string
	From, To, Total int
}

func (v *pageRequest) pager(l control.List, shown, total int, next *int) pager {
	p := pager{From: l.Offset + 1, To: l.Offset + shown, Total: total}
	if l.Offset > 0 {
		p.Prev = v.with("offset", strconv.Itoa(max(0, l.Offset-pageSize)))
	}
	if next != nil {
		p.Next = v.with("offset", strconv.Itoa(*next))
	}
	return p
}

// with is the present address with one parameter changed; "" removes it.
func (v *pageRequest) with(name, value string) string {
	q := v.r.URL.Query()
	q.Set(name, value)
	if value == "" || name == "offset" && value == "0" {
		q.Del(name)
	}
	return withQuery(v, q)
}

// withQuery is the path of the present address with another query.
func withQuery(v *pageRequest, q url.Values) string {
	if len(q) == 0 {
		return v.r.URL.Path
	}
	return v.r.URL.Path + "?" + q.Encode()
}

type filter struct {
	Word, Href string
	Here       bool
}

// filters offers values of one parameter after "All".
func (v *pageRequest) filters(name string, values ...[2]string) []filter {
	now := v.query(name)
	out := []filter{{Word: "All", Href: v.withParam(name, ""), Here: now == ""}}
	for _, value := range values {
		out = append(out, filter{Word: value[1], Href: v.withParam(name, value[0]), Here: now == value[0]})
	}
	return out
}

// withParam is the address of this page with a parameter set to value, or removed if
// value is "", at the list's first page.
func (v *pageRequest) withParam(name, value string) string {
	q := v.r.URL.Query()
	q.Del("offset")
	q.Del(name)
	if value != "" {
		q.Set(name, value)
	}
	return withQuery(v, q)
}

// recordsData is a list of records of which some may be retired.
type recordsData[T any] struct {
	Items    []T
	Pager    pager
	Retirees retirees
}

// recordsPage lists models, projects or teams, each below an address of its own.
func recordsPage[T any](v *pageRequest, noun, title string, read func(context.Context, control.Actor, control.List) (countersign.Page[T], error)) (*page, error) {
	l := v.list()
	found, err := read(v.r.Context(), v.actor, l)
	if err != nil {
		return nil, err
	}
	d := recordsData[T]{found.Items, v.pager(l, len(found.Items), found.Total, found.NextOffset), retireesOf(v)}
	return &page{name: noun, Title: title, Nav: noun, Crumbs: []crumb{{Word: title}}, Data: d}, nil
}

type option struct {
	Value, Word string
	Here        bool
}

// retirees is a list's link that shows or hides retired records.
type retirees struct{ Word, Href string }

func retireesOf(v *pageRequest) retirees {
	if v.query("retired") == "true" {
		return retirees{"Hide retired", v.withParam("retired", "")}
	}
	return retirees{"Show retired", v.withParam("retired", "true")}
}

// projectRowOf keeps what a row shows: of the capabilities, how many there are.
func projectRowOf(p countersign.Project) (countersign.Project, error) {
	p.Capabilities, p.Headers = make([]countersign.Capability, len(p.Capabilities)), nil
	return p, nil
}
