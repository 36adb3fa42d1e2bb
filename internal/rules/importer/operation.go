package importer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// MaxOperations bounds the operations of one proposal.
const MaxOperations = 20_000

// operation is one method of a path in the document.
type operation struct {
	node
	item   node // the path item with the operation
	method string
	path   string   // as written in the document
	unread *refusal // why it can't be read, or its parameters
	params []parameter
}

// Filter selects operations. The empty filter selects all.
type Filter struct {
	Include *regexp.Regexp // nil: all; else "METHOD /path" or the operationId must match
	Exclude *regexp.Regexp // nil: none
	Tags    []string       // none: all; else one of them must be the operation's
}

func (f Filter) takes(o operation) bool {
	line, id := o.method+" "+o.path, o.at("operationId").text()
	switch {
	case f.Include != nil && !f.Include.MatchString(line) && !f.Include.MatchString(id):
		return false
	case f.Exclude != nil && (f.Exclude.MatchString(line) || f.Exclude.MatchString(id)):
		return false
	case len(f.Tags) == 0:
		return true
	}
	return slices.ContainsFunc(o.at("tags").texts(), func(tag string) bool { return slices.Contains(f.Tags, tag) })
}

var httpMethods = []string{"get", "post", "put", "patch", "delete", "head", "options", "trace"}

// operations returns the selected operations, sorted by path and then method, and the number
// of all operations.
func (d *Document) operations(f Filter) (chosen []operation, all int, err error) {
	paths, why := d.top().at("paths").resolved()
	if why != nil {
		return nil, 0, fmt.Errorf("paths: %s", why.words)
	}
	for _, path := range paths.keys() {
		for _, o := range paths.methods(path) {
			all++
			if !f.takes(o) {
				continue
			}
			if chosen = append(chosen, o); len(chosen) > MaxOperations {
				return nil, 0, fmt.Errorf("it has more than %d operations; choose some of them", MaxOperations)
			}
		}
	}
	return chosen, all, nil
}

// tag is the first of an operation's: the group that it is shown in.
func (o operation) tag() string { return short(o.at("tags").first().text(), 80) }

// methods are the operations of a path. If its path item is an unreadable reference, methods
// returns one operation of method ANY, so that the report mentions it.
func (n node) methods(path string) []operation {
	if strings.HasPrefix(path, "x-") {
		return nil
	}
	item, why := n.at(path).resolved()
	if why != nil {
		return []operation{{node: item, item: item, method: "ANY", path: path, unread: why}}
	}
	var out []operation
	for _, method := range httpMethods {
		at := item.at(method)
		if !at.isObject() {
			continue
		}
		o := operation{item: item, method: strings.ToUpper(method), path: path}
		if o.node, o.unread = at.resolved(); o.unread == nil {
			o.params, o.unread = o.readParameters()
		}
		out = append(out, o)
	}
	return out
}

// description is the operation's summary, or the beginning of its description.
func (o operation) description() string {
	if s := short(o.at("summary").text(), 120); s != "" {
		return s
	}
	text := o.at("description").text()
	paragraph, _, _ := strings.Cut(strings.TrimSpace(text[:min(len(text), 2000)]), "\n\n")
	return short(paragraph, 120)
}

// words are the texts of an operation, bounded.
func (o operation) words() string {
	summary, text := o.at("summary").text(), o.at("description").text()
	return summary[:min(len(summary), 1000)] + "\n" + text[:min(len(text), 4000)]
}
