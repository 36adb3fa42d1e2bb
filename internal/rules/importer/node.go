package importer

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

// node is a value in a document. Reading a member that is absent or of another type gives the
// zero value, so that callers need no checks.
type node struct {
	doc  *Document
	file *file // that it stands in, to which its references are relative
	v    any
}

func (n node) present() bool { return n.v != nil }

// at returns a member of an object.
func (n node) at(key string) node {
	m, _ := n.v.(object)
	v, _ := m.get(key)
	return node{n.doc, n.file, v}
}

func (n node) has(key string) bool {
	m, _ := n.v.(object)
	_, ok := m.get(key)
	return ok
}

// keys returns the member names of an object, sorted, so that reports have a stable order.
// Like list it takes from the budget, and returns nothing when the budget is spent.
func (n node) keys() []string {
	m, _ := n.v.(object)
	cost := len(m)
	for _, member := range m {
		cost += len(member.key) / textUnit
	}
	if !n.doc.spend(cost) {
		return nil
	}
	out := make([]string, len(m))
	for i, member := range m {
		out[i] = member.key
	}
	return out
}

func (n node) list() []node {
	l, _ := n.v.([]any)
	if !n.doc.spend(len(l)) {
		return nil
	}
	out := make([]node, len(l))
	for i := range l {
		out[i] = node{n.doc, n.file, l[i]}
	}
	return out
}

// first returns the first element of a list.
func (n node) first() node {
	l, _ := n.v.([]any)
	if len(l) == 0 {
		return node{doc: n.doc, file: n.file}
	}
	return node{n.doc, n.file, l[0]}
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
	_, ok := n.v.(object)
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
	case object:
		return "object"
	case []any:
		return "array"
	default:
		return "null"
	}
}

// maxChain bounds a chain of references to references.
const maxChain = 16

// resolved follows references within this document and the files below its folder.
func (n node) resolved() (node, *refusal) {
	for range maxChain {
		ref := n.at("$ref").text()
		if ref == "" {
			return n, nil
		}
		target, why := n.doc.find(n.file, ref)
		if why != nil {
			return n, why
		}
		n = target
	}
	return n, refuse(ReferenceUnresolved, "references lead to one another without end")
}

// find returns the target of a reference (RFC 6901) that stands in a file.
func (d *Document) find(in *file, ref string) (node, *refusal) {
	elsewhere, pointer, _ := strings.Cut(ref, "#")
	if elsewhere != "" {
		other, why := d.referred(in, elsewhere)
		if why != nil {
			return node{}, why
		}
		in = other
	}
	unescaped, err := url.PathUnescape(pointer)
	if err != nil || unescaped != "" && unescaped[0] != '/' {
		return node{}, refuse(ReferenceUnresolved, "%s is no reference into the document", quoted(ref))
	}
	n := node{d, in, in.root}
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
		return node{doc: n.doc, file: n.file}
	}
	return node{n.doc, n.file, l[i]}
}
