package mcp

import "github.com/countersign/countersign"

// ofSeveral says of an input of several types what each may be: model providers read anyOf
// where they refuse a list of types.
func ofSeveral(s schema, f countersign.InputField) schema {
	if len(f.OrTypes) == 0 {
		return s
	}
	s.Type, s.Items = "", nil
	for _, t := range f.Types() {
		s.AnyOf = append(s.AnyOf, schema{Type: t, Items: itemsOf(t)})
	}
	return s
}
