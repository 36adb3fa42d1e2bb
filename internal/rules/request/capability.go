package request

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
)

// maxNameLength is the longest capability name, in bytes.
const maxNameLength = 128

var (
	methods    = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}
	inputTypes = []string{"string", "number", "boolean", "object", "array"}
)

// CheckCapability names everything that keeps a capability from ever making a
// request that the contract allows (specification 2.5, contract 5). Paths are
// relative to the capability: `path`, `request.body[1]`. Whether its probe
// exists and its name is the only one of its kind is its project's question.
// What is found after the meter has come to its end is left out.
func CheckCapability(m *cost.Meter, c *countersign.Capability) []countersign.Problem {
	k := capabilityCheck{meter: m}
	k.name(c.Name)
	if !slices.Contains(methods, c.Method) {
		k.add("method", "bad_method", "must be one of %s", strings.Join(methods, ", "))
	}
	k.types(c)
	goes, err := newMapping(c)
	if err != nil {
		k.add("path", "bad_path", "%s", err)
		return k.problems // where inputs go can't be told
	}
	k.title(goes)
	k.placeholders(goes)
	k.query(goes)
	k.body(goes)
	k.places(goes)
	return k.problems
}

type capabilityCheck struct {
	meter    *cost.Meter
	problems []countersign.Problem
}

func (k *capabilityCheck) add(path, code, format string, args ...any) {
	k.problems = append(k.problems, countersign.Problem{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (k *capabilityCheck) name(name string) {
	switch {
	case name == "":
		k.add("name", "bad_name", "must not be empty")
	case len(name) > maxNameLength:
		k.add("name", "bad_name", "must not be longer than %d bytes", maxNameLength)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		k.add("name", "bad_name", "must not hold control characters")
	}
}

func (k *capabilityCheck) types(c *countersign.Capability) {
	for _, name := range sortedNames(c.InputSchema) {
		if name == "" {
			k.add("inputSchema", "bad_name", "must not name an input with the empty text")
		}
		if !slices.Contains(inputTypes, c.InputSchema[name].Type) {
			k.add(typePath(name), "wrong_type", "must be one of %s", strings.Join(inputTypes, ", "))
			continue
		}
		k.orTypes(name, c.InputSchema[name])
		k.bounds(name, c.InputSchema[name])
	}
}

// placeholders: a path is filled from declared strings and numbers only.
func (k *capabilityCheck) placeholders(m mapping) {
	for _, name := range sortedNames(m.path) {
		field, declared := m.capability.InputSchema[name]
		switch {
		case !declared && name != resourceID:
			k.add("path", "undeclared_input", "{%s} must be declared in inputSchema as string or number; only {resourceId} needs no declaration", name)
		case declared && !all(field, isPathType):
			k.add(typePath(name), "wrong_type", "fills {%s} in the path, so it must be string or number", name)
		}
	}
	k.pathTexts(m)
}

func (k *capabilityCheck) query(m mapping) {
	if m.query == nil {
		return
	}
	seen := map[string]bool{}
	for i, name := range m.capability.Request.Query {
		path := fmt.Sprintf("request.query[%d]", i)
		k.listed(m, path, name, seen)
		if field, ok := m.capability.InputSchema[name]; ok && !all(field, isQueryType) {
			k.add(path, "wrong_type", "%s is declared as %s; a query carries string, number and boolean only", name, strings.Join(field.Types(), " or "))
		}
	}
}

func (k *capabilityCheck) body(m mapping) {
	if m.body == nil {
		return
	}
	if m.capability.Method == "GET" {
		k.add("request.body", "mapping_conflict", "GET sends no body; leave it out")
		return
	}
	seen := map[string]bool{}
	for i, name := range m.capability.Request.Body {
		path := fmt.Sprintf("request.body[%d]", i)
		k.listed(m, path, name, seen)
		if m.query[name] {
			k.add(path, "mapping_conflict", "%s is in request.query already; a field goes to one of the two", name)
		}
		if m.path[name] {
			k.add(path, "mapping_conflict", "%s fills the path already; a field of the path can't be in the body", name)
		}
	}
}

// listed checks what both lists ask of an entry.
func (k *capabilityCheck) listed(m mapping, path, name string, seen map[string]bool) {
	switch {
	case name == "":
		k.add(path, "bad_name", "must name an input")
	case seen[name]:
		k.add(path, "duplicate_field", "%s is listed already", name)
	case !m.declared(name):
		k.add(path, "undeclared_input", "%s is not declared in inputSchema", name)
	}
	seen[name] = true
}

// places: an input is never dropped, so each declared one has a place that can
// carry its type.
func (k *capabilityCheck) places(m mapping) {
	for _, name := range sortedNames(m.capability.InputSchema) {
		switch declared := m.capability.InputSchema[name]; {
		case !m.hasPlace(name):
			k.add("inputSchema."+name, "no_place", "has no place in the request; name it in %s", m.missingPlace())
		case m.query == nil && m.inQuery(name) && !all(declared, isQueryType) && slices.Contains(inputTypes, declared.Type):
			k.add(typePath(name), "wrong_type", "goes to the query, which carries string, number and boolean only")
		}
	}
}

// missingPlace names where an input without a place could go.
func (m mapping) missingPlace() string {
	if m.capability.Method == "GET" {
		return "request.query or the path"
	}
	return "request.query, request.body or the path"
}

func typePath(name string) string { return "inputSchema." + name + ".type" }

func isPathType(t string) bool { return t == "string" || t == "number" }

func isQueryType(t string) bool { return t == "string" || t == "number" || t == "boolean" }
