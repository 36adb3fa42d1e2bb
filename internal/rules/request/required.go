package request

import "github.com/countersign/countersign"

// Required are the inputs without which a capability makes no request: those that its schema
// requires, and those that fill its path.
func Required(c *countersign.Capability) []string {
	m, err := newMapping(c)
	if err != nil { // checked at registration
		return nil
	}
	names := map[string]bool{}
	for name, field := range c.InputSchema {
		if field.Required {
			names[name] = true
		}
	}
	for name := range m.path {
		names[name] = true
	}
	return sortedNames(names)
}

// Takes reports an input that a capability names: in its schema, its path or where it says what goes
// to query and body.
func Takes(c *countersign.Capability, name string) bool {
	m, err := newMapping(c)
	if err != nil {
		return false
	}
	_, declared := c.InputSchema[name]
	return declared || m.path[name] || m.query[name] || m.body[name]
}
