package importer

import (
	"maps"
	"slices"

	"github.com/countersign/countersign"
)

// field is one input as described in the document.
type field struct {
	kind   string // string, number, boolean, object or array; "" without a single type
	secret bool   // its format says that it is secret
	says   countersign.InputField
}

// shape is an object's schema, read one level deep.
type shape struct {
	fields   map[string]field
	required map[string]bool
	readOnly map[string]bool // set by the receiver and never sent
	free     bool            // an empty schema: any value is valid
	null     bool            // only null is valid
}

// maxNesting bounds nested allOf, oneOf and anyOf, and so ends cycles.
const maxNesting = 16

var tooComplex = refuse(TooComplex, "its references multiply to more than is followed")

// shape reads a schema as an object's. It merges allOf. Of oneOf and anyOf it takes the fields
// of all alternatives, none of them required, since an inputSchema can't say which alternative
// applies.
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

// members adds the fields that a schema itself declares.
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

// merge adds the fields of another part of the same object.
func (s *shape) merge(p shape) {
	s.free = s.free && (p.free || p.null)
	maps.Copy(s.readOnly, p.readOnly)
	for name, f := range p.fields {
		s.add(name, f)
	}
}

// add sets a field's type, if all schemas that describe the field agree on it.
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

// types are the types that a schema allows; OpenAPI 3.1 can have several.
func (n node) types() []string {
	if t := n.at("type").text(); t != "" {
		return []string{t}
	}
	return n.at("type").texts()
}

// inputType is the input type that a schema describes, "" if there is none or several. It
// ignores null: an input without a value is not sent.
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

// inputTypes maps types of schemas to types of an inputSchema.
var inputTypes = map[string]string{
	"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "object": "object", "array": "array", "null": "null",
}

// partType is the type of one schema in allOf, oneOf or anyOf. In allOf a schema without a type
// only adds to the others, so it counts as null.
func (n node) partType(keyword string, depth int) string {
	if t := n.inputType(depth + 1); t != "" {
		return t
	}
	if types := n.types(); len(types) == 1 && types[0] == "null" || keyword == "allOf" && n.isObject() && n.at("$ref").text() == "" {
		return "null"
	}
	return ""
}

// one is the type on which all parts agree, ignoring null; "" if they differ.
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
