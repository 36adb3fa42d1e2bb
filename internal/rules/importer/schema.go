package importer

import (
	"maps"
	"slices"

	"github.com/countersign/countersign"
)

// field is one input as described in the document.
type field struct {
	kinds  []string // types of an input; none where they can't be told
	secret bool     // its format says that it is secret
	says   countersign.InputField
}

// shape is an object's schema, read one level deep.
type shape struct {
	fields   map[string]field
	required map[string]bool
	readOnly map[string]bool // set by the receiver and never sent
	free     bool            // an empty schema: any value is valid
	null     bool            // only null is valid
	not      string          // an alternative that is no object
}

// maxNesting bounds nested allOf, oneOf and anyOf, and so ends cycles.
const maxNesting = 16

var tooComplex = refuse(TooComplex, "its references multiply to more than is followed; choose fewer operations with --include or --tag")

// shape reads a schema as an object's. It merges allOf. Of oneOf and anyOf it takes the fields
// of all alternatives that are objects, and requires what each of them requires: an
// inputSchema can't say which alternative applies.
func (n node) shape(depth int) (shape, *refusal) {
	if depth > maxNesting || !n.doc.spend(1) {
		return shape{}, tooComplex
	}
	s := shape{fields: map[string]field{}, required: map[string]bool{}, readOnly: map[string]bool{}}
	if !n.isObject() { // absent, or a boolean schema
		s.free = true
		return s, nil
	}
	end, circle := n.begin(n.doc.shapes)
	if circle {
		s.null = true // adds nothing
		return s, nil
	}
	defer end()
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

// begin marks a schema as being read. What leads back to it, as a child that names its parent
// by allOf while the parent names its children by oneOf, adds nothing to it.
func (n node) begin(open map[*member]bool) (end func(), circle bool) {
	o, _ := n.v.(object)
	if len(o) == 0 {
		return func() {}, false
	}
	at := &o[0]
	if open[at] {
		return nil, true
	}
	open[at] = true
	return func() { delete(open, at) }, false
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
	if why := n.properties(&s); why != nil {
		return s, why
	}
	for _, part := range n.at("allOf").list() {
		p, why := part.shape(depth + 1)
		if why != nil {
			return s, why
		}
		s.merge(p, common)
		maps.Copy(s.required, p.required)
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if why := n.alternatives(keyword, &s, depth); why != nil {
			return s, why
		}
	}
	return s, nil
}

// alternatives adds those of a schema, of which one at least is an object.
func (n node) alternatives(keyword string, s *shape, depth int) *refusal {
	var needed map[string]bool
	var last *refusal
	parts := n.at(keyword).list()
	objects := 0
	for _, part := range parts {
		p, why := part.shape(depth + 1)
		switch {
		case why != nil && why.reason == BodyNotObject:
			last, s.not = why, why.words
			continue
		case why != nil:
			return why
		case p.null:
			continue
		}
		objects++
		s.merge(p, either)
		if needed == nil {
			needed = maps.Clone(p.required)
		}
		maps.DeleteFunc(needed, func(name string, _ bool) bool { return !p.required[name] })
	}
	if objects == 0 && last != nil {
		return last
	}
	maps.Copy(s.required, needed)
	return nil
}

func (n node) properties(s *shape) *refusal {
	properties, why := n.at("properties").resolved()
	if why != nil {
		return why
	}
	for _, name := range properties.keys() {
		p := properties.at(name)
		target, _ := p.resolved()
		if p.at("readOnly").isTrue() || target.at("readOnly").isTrue() {
			s.readOnly[name] = true
			continue
		}
		kinds := p.inputTypes()
		s.add(name, field{kinds: kinds, secret: target.at("format").text() == "password", says: p.says(kinds)}, common)
	}
	for _, name := range n.at("required").texts() {
		s.required[name] = true
	}
	return nil
}

// merge adds the fields of another part of the same object, or of an alternative.
func (s *shape) merge(p shape, types func(a, b []string) []string) {
	s.free = s.free && (p.free || p.null)
	maps.Copy(s.readOnly, p.readOnly)
	for name, f := range p.fields {
		s.add(name, f, types)
	}
}

func (s *shape) add(name string, f field, types func(a, b []string) []string) {
	if before, known := s.fields[name]; known {
		f.kinds = types(before.kinds, f.kinds)
		f.secret = f.secret || before.secret
		f.says = agreed(before.says, f.says, f.kinds)
	}
	s.fields[name] = f
}

// common are the types that two parts of one schema both allow.
func common(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(t string) bool { return !slices.Contains(b, t) })
}

// either are the types of two alternatives, none where one's can't be told.
func either(a, b []string) []string {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	out := slices.Clone(a)
	for _, t := range b {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// types are the types that a schema allows; OpenAPI 3.1 can have several.
func (n node) types() []string {
	if t := n.at("type").text(); t != "" {
		return []string{t}
	}
	return n.at("type").texts()
}

// everyType are the types of an input of which a schema says nothing.
var everyType = []string{"string", "number", "boolean", "object", "array"}

// inputTypes are the types of an input that a schema describes, in its order; none where they
// can't be told. Null is none: an input without a value is not sent.
func (n node) inputTypes() []string {
	return slices.DeleteFunc(n.typesAt(0), func(t string) bool { return t == "null" })
}

func (n node) typesAt(depth int) []string {
	if depth > maxNesting || !n.doc.spend(1) {
		return nil
	}
	n, why := n.resolved()
	if why != nil || n.isFalse() {
		return nil
	}
	end, circle := n.begin(n.doc.typed)
	if circle {
		return append(slices.Clone(everyType), "null")
	}
	defer end()
	out := n.ownTypes()
	for _, part := range n.at("allOf").list() {
		out = common(out, part.typesAt(depth+1))
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		parts := n.at(keyword).list()
		if len(parts) == 0 {
			continue
		}
		some := parts[0].typesAt(depth + 1)
		for _, part := range parts[1:] {
			some = either(some, part.typesAt(depth+1))
		}
		out = common(some, out)
	}
	return out
}

// inputTypesOf maps types of schemas to types of an inputSchema.
var inputTypesOf = map[string]string{
	"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "object": "object", "array": "array", "null": "null",
}

// ownTypes are the types that a schema allows by itself. Where it names none, what it says
// else tells what is meant.
func (n node) ownTypes() (out []string) {
	named := n.types()
	if len(named) == 0 {
		for _, value := range n.at("enum").list() {
			named = append(named, value.kind())
		}
	}
	if len(named) == 0 && n.has("const") {
		named = []string{n.at("const").kind()}
	}
	for _, t := range named {
		if t = inputTypesOf[t]; t == "" {
			return nil
		} else if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	switch {
	case len(out) > 0:
		return out
	case n.has("properties"):
		return []string{"object"}
	case n.has("items"):
		return []string{"array"}
	case n.has("pattern"), n.has("maxLength"), n.has("minLength"):
		return []string{"string"}
	}
	return append(slices.Clone(everyType), "null")
}
