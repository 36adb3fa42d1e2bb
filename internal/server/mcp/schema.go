package mcp

import (
	"regexp"

	"github.com/countersign/countersign"
)

// schema is the part of JSON Schema used here. Model providers refuse most of the rest.
type schema struct {
	Type        string            `json:"type,omitempty"`
	Description string            `json:"description,omitempty"`
	Properties  map[string]schema `json:"properties,omitempty"`
	Required    []string          `json:"required,omitempty"`
	Additional  *bool             `json:"additionalProperties,omitempty"`
	Enum        []string          `json:"enum,omitempty"`
	Default     string            `json:"default,omitempty"`
	Pattern     string            `json:"pattern,omitempty"`
	MaxLength   int               `json:"maxLength,omitempty"`
	Minimum     int               `json:"minimum,omitempty"`
	Maximum     int               `json:"maximum,omitempty"`
}

func object(properties map[string]schema, required ...string) schema {
	closed := false
	return schema{Type: "object", Properties: properties, Required: required, Additional: &closed}
}

// argumentsSchema is the schema of a tool's arguments: those of an agent run, without
// the inputs that the manifest fixes.
func argumentsSchema(c *countersign.Capability, fixed map[string]countersign.Value) schema {
	input := inputSchema(c, fixed)
	s := object(map[string]schema{
		"input":          input,
		"mode":           {Type: "string", Enum: []string{countersign.ModeDryRun, countersign.ModeLive}, Default: countersign.ModeDryRun, Description: "DRY_RUN rehearses and sends nothing. LIVE sends the request, once, after any approval that it needs."},
		"expectation":    expectationSchema(),
		"idempotencyKey": {Type: "string", Pattern: "^[!-~]+$", MaxLength: countersign.MaxKeyLength, Description: "Required for LIVE. A stable name of this piece of work, such as refund-of-A-48213: the same key with the same arguments finds the same run, so a call that was lost can be repeated. A LIVE call takes another key than its rehearsal."},
	})
	if len(input.Required) > 0 {
		s.Required = []string{"input"}
	}
	return s
}

func expectationSchema() schema {
	s := object(map[string]schema{
		"field":      {Type: "string", Description: "a field of the output"},
		"equals":     {Description: "the JSON value that it must have"},
		"statusCode": {Type: "integer", Minimum: 200, Maximum: 299},
	}, "field", "equals")
	s.Description = "Required for LIVE. What the output must say for the run to count as done: a status of 200 alone proves nothing."
	return s
}

var placeholder = regexp.MustCompile(`\{([^{}]+)\}`)

// inputSchema is the schema of a capability's inputs. A capability that declares none
// accepts any.
func inputSchema(c *countersign.Capability, fixed map[string]countersign.Value) schema {
	needed, properties := map[string]bool{}, map[string]schema{}
	for _, m := range placeholder.FindAllStringSubmatch(c.Path, -1) {
		needed[m[1]] = true
		properties[m[1]] = schema{Type: "string"} // unless declared otherwise
	}
	for name, field := range c.InputSchema {
		properties[name] = schema{Type: field.Type}
		needed[name] = needed[name] || field.Required
	}
	for name := range fixed {
		delete(properties, name)
	}
	s := schema{Type: "object", Properties: properties, Description: "the capability's inputs"}
	if c.InputSchema != nil {
		s = object(properties)
		s.Description = "the capability's inputs"
	}
	for _, name := range sortedKeys(properties) {
		if needed[name] {
			s.Required = append(s.Required, name)
		}
	}
	return s
}
