package importer

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// node is a value in a document. Reading a member that is absent or of another type gives the
// zero value, so that callers need no checks.
type node struct {
	doc *Document
	v   any
}

func (n node) present() bool { return n.v != nil }

// at returns a member of an object.
func (n node) at(key string) node {
	m, _ := n.v.(map[string]any)
	return node{n.doc, m[key]}
}

func (n node) has(key string) bool {
	m, _ := n.v.(map[string]any)
	_, ok := m[key]
	return ok
}

// keys returns the member names of an object, sorted, so that reports have a stable order.
// Like list it takes from the budget, and returns nothing when the budget is spent.
func (n node) keys() []string {
	m, _ := n.v.(map[string]any)
	cost := len(m)
	for key := range m {
		cost += len(key) / textUnit
	}
	if !n.doc.spend(cost) {
		return nil
	}
	return slices.Sorted(maps.Keys(m))
}

func (n node) list() []node {
	l, _ := n.v.([]any)
	if !n.doc.spend(len(l)) {
		return nil
	}
	out := make([]node, len(l))
	for i := range l {
		out[i] = node{n.doc, l[i]}
	}
	return out
}

// first returns the first element of a list.
func (n node) first() node {
	l, _ := n.v.([]any)
	if len(l) == 0 {
		return node{doc: n.doc}
	}
	return node{n.doc, l[0]}
}

// textUnit is the number of bytes of text that cost as much as one value.
const textUnit = 256

func (n node) text() string {
	s, _ := n.v.(string)
	if !n.doc.spend(len(s) / textUnit) {
		return ""
	}
	return s
}

func (n node) texts() []string {
	var out []string
	for _, item := range n.list() {
		if _, ok := item.v.(string); ok {
			out = append(out, item.text())
		}
	}
	return out
}

func (n node) isTrue() bool {
	b, _ := n.v.(bool)
	return b
}

func (n node) isFalse() bool {
	b, ok := n.v.(bool)
	return ok && !b
}

func (n node) isObject() bool {
	_, ok := n.v.(map[string]any)
	return ok
}

// kind is the JSON type of a value, by its name in schemas.
func (n node) kind() string {
	switch n.v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number, number:
		return "number"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	default:
		return "null"
	}
}

// maxChain bounds a chain of references to references.
const maxChain = 16

// resolved follows references within this document.
func (n node) resolved() (node, *refusal) {
	for range maxChain {
		ref := n.at("$ref").text()
		if ref == "" {
			return n, nil
		}
		target, why := n.doc.find(ref)
		if why != nil {
			return n, why
		}
		n = target
	}
	return n, refuse(ReferenceUnresolved, "references lead to one another without end")
}

// find returns the target of a local reference (RFC 6901).
func (d *Document) find(ref string) (node, *refusal) {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local {
		return node{}, refuse(ExternalReference, "it needs %s, which is outside the document; bundle the document first", quoted(ref))
	}
	unescaped, err := url.PathUnescape(pointer)
	if err != nil || unescaped != "" && unescaped[0] != '/' {
		return node{}, refuse(ReferenceUnresolved, "%s is no reference into the document", quoted(ref))
	}
	n := d.top()
	for _, token := range strings.Split(unescaped, "/")[1:] {
		n = n.child(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	if n.v == nil || !d.spend(1) {
		return node{}, refuse(ReferenceUnresolved, "%s points to nothing in the document", quoted(ref))
	}
	return n, nil
}

func (n node) child(token string) node {
	l, ok := n.v.([]any)
	if !ok {
		return n.at(token)
	}
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || i >= len(l) {
		return node{doc: n.doc}
	}
	return node{n.doc, l[i]}
}
