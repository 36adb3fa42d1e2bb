package manual

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// openAPI is the part of an OpenAPI 3.1 document that the reference shows.
type openAPI struct {
	Info       struct{ Description, Version string }
	Servers    []struct{ URL, Description string }
	Paths      map[string]map[string]operation // path -> method in lower case
	Components struct{ Schemas map[string]*schema }
}

type operation struct {
	OperationID, Summary, Description string
	Tags                              []string
	Parameters                        []parameter
	RequestBody                       *struct{ Content map[string]media }
	Responses                         map[string]response

	method, path string
}

type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                *schema
}

type media struct{ Schema *schema }

type response struct {
	Description string
	Content     map[string]media
	Headers     map[string]struct{ Description string }
}

type schema struct {
	Ref                  string `json:"$ref"`
	Type                 kinds
	Format, Description  string
	Pattern              string
	Enum                 []any
	Default              any
	Minimum, Maximum     *json.Number
	MinLength, MaxLength *int
	MinItems, MaxItems   *int
	Items                *schema
	Properties           map[string]*schema
	Required             []string
	AnyOf, OneOf         []*schema
	AdditionalProperties *orBool
}

// kinds is JSON Schema's type: a word or a list of words.
type kinds []string

// UnmarshalJSON takes either.
func (k *kinds) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]string)(k))
	}
	var one string
	err := json.Unmarshal(b, &one)
	*k = kinds{one}
	return err
}

// orBool is a schema, or a word for all and nothing.
type orBool struct{ *schema }

// UnmarshalJSON leaves the schema nil for a boolean.
func (o *orBool) UnmarshalJSON(b []byte) error {
	if s := string(b); s == "true" || s == "false" {
		return nil
	}
	o.schema = &schema{}
	return json.Unmarshal(b, o.schema)
}

// operations are the document's, in the order of their paths.
func (o *openAPI) operations() []operation {
	order := map[string]int{"get": 0, "put": 1, "post": 2, "patch": 3, "delete": 4}
	var all []operation
	for _, path := range slices.Sorted(maps.Keys(o.Paths)) {
		methods := slices.SortedFunc(maps.Keys(o.Paths[path]), func(a, b string) int { return order[a] - order[b] })
		for _, m := range methods {
			op := o.Paths[path][m]
			op.method, op.path = strings.ToUpper(m), path
			all = append(all, op)
		}
	}
	return all
}

// name is the type that a schema refers to, "" for none.
func (s *schema) name() string {
	return strings.TrimPrefix(s.Ref, "#/components/schemas/")
}

// words is a schema's type in words, and the named type within it, which has a
// section of its own.
func (s *schema) words() (text, named string) {
	switch {
	case s.Ref != "":
		return s.name(), s.name()
	case len(s.OneOf) > 0:
		return anyOf(s.OneOf)
	case len(s.AnyOf) > 0:
		return anyOf(s.AnyOf)
	case s.Items != nil:
		item, named := s.Items.words()
		return "array of " + item, named
	case s.AdditionalProperties != nil && s.AdditionalProperties.schema != nil:
		item, named := s.AdditionalProperties.words()
		return "object of " + item, named
	case len(s.Type) == 0:
		return "any JSON value", ""
	default:
		return strings.Join(s.Type, " or "), ""
	}
}

// anyOf words a choice. Only one of its types can be linked.
func anyOf(choices []*schema) (text, named string) {
	var words []string
	for _, c := range choices {
		word, of := c.words()
		words = append(words, word)
		if of != "" {
			named = of
		}
	}
	return strings.Join(words, " or "), named
}

// bounds words a value's constraints.
func (s *schema) bounds() string {
	var out []string
	if s.Format != "" && s.Format != "int64" && s.Format != "double" {
		out = append(out, s.Format)
	}
	for _, e := range s.Enum {
		out = append(out, fmt.Sprint(e))
	}
	add := func(word string, value any) { out = append(out, fmt.Sprintf("%s %v", word, value)) }
	if s.Minimum != nil {
		add("at least", *s.Minimum)
	}
	if s.Maximum != nil {
		add("at most", *s.Maximum)
	}
	if s.MinLength != nil {
		add("at least characters:", *s.MinLength)
	}
	if s.MaxLength != nil {
		add("at most characters:", *s.MaxLength)
	}
	if s.MinItems != nil {
		add("at least items:", *s.MinItems)
	}
	if s.MaxItems != nil {
		add("at most items:", *s.MaxItems)
	}
	if s.Pattern != "" {
		add("matches", s.Pattern)
	}
	if s.Default != nil {
		add("default", s.Default)
	}
	return strings.Join(out, ", ")
}
