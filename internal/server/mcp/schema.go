package mcp

import (
	"regexp"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/safetext"
)

// schema is the part of JSON Schema used here. Model providers refuse most of the rest.
type schema struct {
	Type        string            `json:"type,omitempty"`
	Description string            `json:"description,omitempty"`
	Properties  map[string]schema `json:"properties,omitempty"`
	Required    []string          `json:"required,omitempty"`
	Additional  *bool             `json:"additionalProperties,omitempty"`
	Pattern     string            `json:"pattern,omitempty"`
	MaxLength   int64             `json:"maxLength,omitempty"`
	AnyOf       []schema          `json:"anyOf,omitempty"`
	Items       *schema           `json:"items,omitempty"` // of an array; providers refuse one without

	Enum    []countersign.Value `json:"enum,omitempty"`
	Minimum countersign.Value   `json:"minimum,omitzero"`
	Maximum countersign.Value   `json:"maximum,omitzero"`
}

func object(properties map[string]schema, required ...string) schema {
	closed := false
	return schema{Type: "object", Properties: properties, Required: required, Additional: &closed}
}

// argumentsSchema is the schema of a tool's arguments: the capability's inputs, without
// those that the manifest fixes, and the agent's own words.
func argumentsSchema(c *countersign.Capability, fixed map[string]countersign.Value) schema {
	s := inputSchema(c, fixed)
	for _, w := range ownWords(c) {
		s.Properties[w.name] = w.schema()
	}
	return s
}

var placeholder = regexp.MustCompile(`\{([^{}]+)\}`)

// inputSchema is the schema of a capability's inputs. A capability that declares none
// accepts any.
func inputSchema(c *countersign.Capability, fixed map[string]countersign.Value) schema {
	needed, properties, names := map[string]bool{}, map[string]schema{}, propertiesOf(c)
	for _, m := range placeholder.FindAllStringSubmatch(c.Path, -1) {
		needed[names.property(m[1])] = true
		properties[names.property(m[1])] = schema{Type: "string"}.of(m[1], names) // unless declared otherwise
	}
	for name, field := range c.InputSchema {
		fit := names.property(name)
		properties[fit] = fieldSchema(field).of(name, names)
		needed[fit] = needed[fit] || field.Required
	}
	for name := range fixed {
		delete(properties, names.property(name))
	}
	s := schema{Type: "object", Properties: properties}
	if c.InputSchema != nil {
		s = object(properties)
	}
	for _, name := range sortedKeys(properties) {
		if needed[name] {
			s.Required = append(s.Required, name)
		}
	}
	return s
}

// fieldSchema is an input as its project declares it.
func fieldSchema(f countersign.InputField) schema {
	s := schema{
		Type: f.Type, Description: safetext.Text(f.Description), Enum: f.Enum,
		Minimum: f.Minimum, Maximum: f.Maximum, MaxLength: f.MaxLength, Pattern: f.Pattern, Items: itemsOf(f.Type),
	}
	if f.Pattern != "" && !readAlike(f.Pattern) {
		s.Pattern = ""
		s.says("It matches the pattern " + strconv.Quote(safetext.Text(f.Pattern)) + " (RE2).")
	}
	return ofSeveral(s, f)
}

// itemsOf are any, of an array.
func itemsOf(typ string) *schema {
	if typ == "array" {
		return &schema{}
	}
	return nil
}

// of says which input a property is that has another name.
func (s schema) of(input string, names properties) schema {
	if names.property(input) != input {
		s.says("The API calls it " + strconv.Quote(safetext.Text(input)) + ".")
	}
	return s
}

func (s *schema) says(sentence string) {
	if s.Description != "" {
		s.Description += " "
	}
	s.Description += sentence
}
