package importer

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// fixedHeader is a header that operations require with one value.
type fixedHeader struct{ name, value string }

// fixedValue is the only value that a header may have, or else the one that it has by
// default: a version, mostly.
func (p parameter) fixedValue() (value string, ok bool) {
	schema, why := p.at("schema").resolved()
	if why != nil || p.in != "header" {
		return "", false
	}
	candidates := schema.at("enum").list()
	switch {
	case schema.has("const"):
		candidates = []node{schema.at("const")}
	case len(candidates) != 1 && schema.has("default"):
		candidates = []node{schema.at("default")}
	}
	if len(candidates) != 1 {
		return "", false
	}
	v, ok := candidates[0].value()
	return v.Text(), ok && sendable(p.name, v.Text())
}

// sendable asks the service's own rule.
func sendable(name, value string) bool {
	return registered(countersign.ProjectWrite{Headers: countersign.Headers{name: value}})
}

// fixedHeaders are those that operations require, by their names in small letters, each
// with the value that most of them ask for.
func fixedHeaders(operations []operation) map[string]fixedHeader {
	counts := map[string]map[fixedHeader]int{}
	for _, o := range operations {
		params, _ := o.parameters()
		for _, p := range params {
			if value, ok := p.fixedValue(); ok && p.required {
				lower := strings.ToLower(p.name)
				if counts[lower] == nil {
					counts[lower] = map[fixedHeader]int{}
				}
				counts[lower][fixedHeader{p.name, value}]++
			}
		}
	}
	out := map[string]fixedHeader{}
	for lower, of := range counts {
		out[lower] = slices.MaxFunc(slices.Collect(maps.Keys(of)), func(a, b fixedHeader) int {
			return cmp.Or(of[a]-of[b], cmp.Compare(a.value, b.value), cmp.Compare(a.name, b.name)) // of versions the last
		})
	}
	return out
}

// headersOf are those that some draft requires.
func headersOf(drafts []*draft, fixed map[string]fixedHeader) countersign.Headers {
	var out countersign.Headers
	for _, d := range drafts {
		for _, lower := range d.sent {
			if out == nil {
				out = countersign.Headers{}
			}
			out[fixed[lower].name] = fixed[lower].value
		}
	}
	return out
}
