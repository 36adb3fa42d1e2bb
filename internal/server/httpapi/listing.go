package httpapi

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// Lists omit snapshots and each step's request, response and output; any other value
// over 16 KiB is replaced by {"$omitted": {bytes, sha256}} (contract 1). A read by ID
// is complete.

// listed is a page that is encoded with its items in list form, once they have their names.
func listed[T any](p countersign.Page[T], err error) (any, error) {
	return unlisted[T]{p}, err
}

type unlisted[T any] struct{ page countersign.Page[T] }

func (u unlisted[T]) encoded(ctx context.Context, s *control.Service, a control.Actor) (any, error) {
	p := control.Named(ctx, s, a, u.page)
	var err error
	items := make([]json.RawMessage, len(p.Items))
	for i := range p.Items {
		if items[i], err = bounded(p.Items[i]); err != nil {
			return nil, err
		}
	}
	return pageOf(countersign.Page[json.RawMessage]{Items: items, Total: p.Total, NextOffset: p.NextOffset}, nil)
}

// pageOf encodes a page around encoded items without copying them: a page may have
// hundreds of mebibytes.
func pageOf(p countersign.Page[json.RawMessage], err error) (any, error) {
	if err != nil {
		return nil, err
	}
	around, err := countersign.Marshal(countersign.Page[struct{}]{Items: []struct{}{}, Total: p.Total, NextOffset: p.NextOffset})
	if err != nil {
		return nil, err
	}
	const before = len(`{"items":[`)
	out := make(written, 0, 2*len(p.Items)+2)
	out = append(out, around[:before])
	for i, item := range p.Items {
		if i > 0 {
			out = append(out, []byte{','})
		}
		out = append(out, item)
	}
	return append(out, around[before:]), nil
}

// bounded encodes one item, omitting values over the limit.
func bounded[T any](item T) (json.RawMessage, error) {
	doc, err := countersign.Marshal(item)
	if err != nil || len(doc) <= countersign.MaxListedValue {
		return doc, err
	}
	return boundFields(doc)
}

// structural fields are lists of records, whose fields are bounded one by one instead
// of omitting the whole list.
var structural = map[string]bool{"steps": true, "capabilities": true}

func boundFields(doc json.RawMessage) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(doc, &fields); err != nil {
		return nil, err
	}
	for name, v := range fields {
		if len(v) <= countersign.MaxListedValue {
			continue
		}
		var err error
		if fields[name], err = boundValue(name, v); err != nil {
			return nil, err
		}
	}
	return countersign.Marshal(fields)
}

func boundValue(name string, v json.RawMessage) (json.RawMessage, error) {
	if !structural[name] || !strings.HasPrefix(string(v), "[{") { // an agent's capabilities are names
		return json.RawMessage(countersign.Listed(countersign.RawValue(string(v))).Raw()), nil
	}
	var records []json.RawMessage
	if err := json.Unmarshal(v, &records); err != nil {
		return nil, err
	}
	for i := range records {
		if len(records[i]) <= countersign.MaxListedValue { // then its values are within the limit too
			continue
		}
		var err error
		if records[i], err = boundFields(records[i]); err != nil {
			return nil, err
		}
	}
	return countersign.Marshal(records)
}
