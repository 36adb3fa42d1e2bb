package importer

import (
	"maps"
	"slices"

	"github.com/countersign/countersign"
)

// field is one input as the document describes it.
type field struct {
	kind   string // string, number, boolean, object or array; "" where no one type holds
	secret bool   // by its format
	says   countersign.InputField
}

// shape is a schema of an object, looked at no deeper than its fields.
type shape struct {
	fields   map[string]field
	required map[string]bool
	readOnly map[string]bool // the receiver sets them: never sent
	free     bool            // it says nothing: any value fits
	null     bool            // null and nothing else
}

// maxNesting bounds allOf in allOf and its like, and with it cycles.
const maxNesting = 16

var tooComplex = refuse(TooComplex, "its references multiply to more than is followed")

// shape reads a schema as an object's: allOf is merged; of oneOf and anyOf the
// fields of all are taken, none of them required, for which of them holds can't
// be said in an inputSchema.
func (n node) shape(depth int) (shape, *refusal) {
	if depth > maxNesting || !n.doc.spend(1) {
		return shape{}, tooComplex
	}
	s := shape{fields: map[string]field{}, required: map[string]bool{}, readOnly: map[string]bool{}}
	if !n.isObject() { // absent, or a boolean schema
		s.free = true
		return s, nil
	}
	if n.at("$ref").text() != "" {
		target, why := n.resolved()
		if why != nil {
			return s, why
		}
		if s, why = target.shape(depth + 1); why != nil || !n.doc.is31() {
			return s, why
		}
	}
	return n.members(s, depth)
}

// members adds what a schema says itself.
func (n node) members(s shape, depth int) (shape, *refusal) {
	types := n.types()
	if s.null = len(types) == 1 && types[0] == "null"; s.null {
		return s, nil
	}
	if len(types) > 0 && !slices.Contains(types, "object") {
		return s, refuse(BodyNotObject, "the body is %s; inputs make an object", types[0])
	}
	s.free = len(types) == 0 && !n.has("properties") && !n.has("additionalProperties") && len(s.fields) == 0
	n.properties(&s)
	for _, part := range n.at("allOf").list() {
		p, why := part.shape(depth + 1)
		if why != nil {
			return s, why
		}
		s.merge(p)
		maps.Copy(s.required, p.required)
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		for _, part := range n.at(keyword).list() {
			p, why := part.shape(depth + 1)
			if why != nil {
				return s, why
			}
			s.merge(p)
		}
	}
	return s, nil
}

func (n node) properties(s *shape) {
	properties := n.at("properties")
	for _, name := range properties.keys() {
		p := properties.at(name)
		target, _ := p.resolved()
		if p.at("readOnly").isTrue() || target.at("readOnly").isTrue() {
			s.readOnly[name] = true
			continue
		}
		kind := p.inputType(0)
		s.add(name, field{kind: kind, secret: target.at("format").text() == "password", says: p.says(kind)})
	}
	for _, name := range n.at("required").texts() {
		s.required[name] = true
	}
}

// merge takes the fields of another part of the same object.
func (s *shape) merge(p shape) {
	s.free = s.free && (p.free || p.null)
	maps.Copy(s.readOnly, p.readOnly)
	for name, f := range p.fields {
		s.add(name, f)
	}
}

// add gives a field the one type that all who describe it agree on.
func (s *shape) add(name string, f field) {
	if before, known := s.fields[name]; known {
		if before.kind != f.kind {
			f.kind = ""
		}
		f.secret = f.secret || before.secret
		f.says = agreed(before.says, f.says)
	}
	s.fields[name] = f
}

// types are the types that a schema allows: one, or several in OpenAPI 3.1.
func (n node) types() []string {
	if t := n.at("type").text(); t != "" {
		return []string{t}
	}
	return n.at("type").texts()
}

// inputType is the type of an input that a schema describes, "" for none or
// several. null is left away: an input that is not known is not given.
func (n node) inputType(depth int) string {
	if depth > maxNesting || !n.doc.spend(1) {
		return ""
	}
	n, why := n.resolved()
	if why != nil {
		return ""
	}
	if types := n.types(); len(types) > 0 {
		return one(len(types), func(i int) string { return inputTypes[types[i]] })
	}
	if values := n.at("enum").list(); len(values) > 0 {
		return one(len(values), func(i int) string { return inputTypes[values[i].kind()] })
	}
	switch {
	case n.has("const"):
		return inputTypes[n.at("const").kind()]
	case n.has("properties"):
		return "object"
	case n.has("items"):
		return "array"
	}
	for _, keyword := range []string{"allOf", "oneOf", "anyOf"} {
		if parts := n.at(keyword).list(); len(parts) > 0 {
			return one(len(parts), func(i int) string { return parts[i].partType(keyword, depth) })
		}
	}
	return ""
}

// inputTypes are an inputSchema's words for a schema's.
var inputTypes = map[string]string{
	"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "object": "object", "array": "array", "null": "null",
}

// partType is the type of one of several schemas. In allOf one without a type
// only adds to the others.
func (n node) partType(keyword string, depth int) string {
	if t := n.inputType(depth + 1); t != "" {
		return t
	}
	if types := n.types(); len(types) == 1 && types[0] == "null" || keyword == "allOf" && n.isObject() && n.at("$ref").text() == "" {
		return "null"
	}
	return ""
}

// one is the type that all agree on, null left away.
func one(n int, kind func(i int) string) string {
	found := ""
	for i := range n {
		switch t := kind(i); {
		case t == "null":
		case t == "" || found != "" && found != t:
			return ""
		default:
			found = t
		}
	}
	return found
}
