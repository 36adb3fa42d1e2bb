package request

import (
	"slices"

	"github.com/countersign/countersign"
)

// resourceID is the placeholder that the specification names. It needs no
// declaration: a path that holds it declares it.
const resourceID = "resourceId"

// mapping decides where a capability's inputs go (contract 5, Mapping), both for
// checking and for building.
type mapping struct {
	capability *countersign.Capability
	parts      []part
	path       map[string]bool
	query      map[string]bool // nil: the default
	body       map[string]bool // nil: the default
}

func newMapping(c *countersign.Capability) (mapping, error) {
	parts, err := parsePath(c.Path)
	m := mapping{capability: c, parts: parts, path: map[string]bool{}}
	for _, p := range parts {
		if p.name != "" {
			m.path[p.name] = true
		}
	}
	if c.Request != nil {
		m.query, m.body = set(c.Request.Query), set(c.Request.Body)
	}
	return m, err
}

func (m mapping) inPath(name string) bool { return m.path[name] }

// inQuery: what request.query lists; without it, GET's inputs that the path
// leaves over.
func (m mapping) inQuery(name string) bool {
	if m.query != nil {
		return m.query[name]
	}
	return m.capability.Method == "GET" && !m.path[name]
}

// inBody: what request.body lists; without it, the inputs of the other methods
// that path and query leave over.
func (m mapping) inBody(name string) bool {
	switch {
	case m.capability.Method == "GET":
		return false
	case m.body != nil:
		return m.body[name]
	default:
		return !m.path[name] && !m.inQuery(name)
	}
}

func (m mapping) hasPlace(name string) bool {
	return m.inPath(name) || m.inQuery(name) || m.inBody(name)
}

// declared reports an input that the capability takes by name.
func (m mapping) declared(name string) bool {
	_, ok := m.capability.InputSchema[name]
	return ok || m.capability.InputSchema == nil || name == resourceID && m.path[name]
}

// queryOrder lists which of the sorted names go to the query, in the order sent.
func (m mapping) queryOrder(names []string) []string {
	if m.query != nil {
		return given(m.capability.Request.Query, names)
	}
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !m.inQuery(n) })
}

// bodyOrder lists which of the sorted names go to the body, in the order sent.
func (m mapping) bodyOrder(names []string) []string {
	if m.body != nil && m.capability.Method != "GET" {
		return given(m.capability.Request.Body, names)
	}
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !m.inBody(n) })
}

// given returns the elements of list, in order, that are among the sorted names.
func given(list, names []string) []string {
	var out []string
	for _, name := range list {
		if _, ok := slices.BinarySearch(names, name); ok {
			out = append(out, name)
		}
	}
	return out
}

// set is nil for an absent list and empty for an empty one: absent means the default,
// empty means none.
func set(list []string) map[string]bool {
	if list == nil {
		return nil
	}
	out := make(map[string]bool, len(list))
	for _, name := range list {
		out[name] = true
	}
	return out
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TypesOf gives the types that an input may have; nil where the capability declares none,
// false for a name that it doesn't take.
func TypesOf(c *countersign.Capability, name string) (types []string, ok bool) {
	m, err := newMapping(c)
	if err != nil || !m.declared(name) {
		return nil, false
	}
	if field, told := c.InputSchema[name]; told {
		return field.Types(), true
	}
	if m.path[name] {
		return []string{"string", "number"}, true
	}
	return nil, true
}
