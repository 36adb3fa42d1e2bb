package manual

import (
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// apiPrefix is where the reference of the API lives: an index, a page a tag, and
// a page of the types.
const apiPrefix = Prefix + "/api"

// introduction is the page before the operations, on what they share.
const introduction = "api.md"

// examples are bodies that the pages and tests use too, by operation.
var examples = map[string]string{
	"putProject": "example/project.json", "putModel": "example/model.json", "compilePlan": "example/compile.json",
}

// typeAddress is where a named type is described.
func typeAddress(name string) string { return apiPrefix + "/types#" + name }

// field is a line of a table of fields.
type field struct {
	Name, Where string // where: path, query or header, for parameters
	Type        string
	Named       string // the type that Type leads to
	Required    bool
	Doc, Bounds string
}

// shown is an operation as the reference shows it.
type shown struct {
	ID, Method, Path, Summary, Who string
	Parameters                     []field
	Body                           *shownType
	Example                        string
	Status, StatusWord             string
	Answer                         *shownType
	AnswerKinds                    []string
	Headers                        []field
	Refusals                       []string
}

// shownType is a type and its fields.
type shownType struct {
	Name, Type, Named, Doc string
	Fields                 []field
}

// reference renders the API reference from the OpenAPI document that the service
// serves, so that the two can't differ.
func (b *builder) reference() error {
	var doc openAPI
	text, err := b.cfg.Document()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return fmt.Errorf("the OpenAPI document: %w", err)
	}
	groups := map[string][]shown{}
	for _, op := range doc.operations() {
		s, err := b.show(&doc, op)
		if err != nil {
			return err
		}
		groups[op.Tags[0]] = append(groups[op.Tags[0]], s)
		b.operations = append(b.operations, part{Page: "API: " + op.Tags[0], Title: s.Summary, Href: apiPrefix + "/" + op.Tags[0] + "#" + s.ID, Text: s.Method + " " + s.Path + " " + s.ID + " " + s.Who})
	}
	tags := slices.Sorted(maps.Keys(groups))
	intro := b.pages[introduction]
	data := map[string]any{"Info": doc.Info, "Servers": doc.Servers, "Tags": tags, "Groups": groups}
	if err := b.put(apiPrefix, "api", http.StatusOK, page{Title: intro.title, Source: Prefix + "/" + introduction, Body: template.HTML(intro.body), Data: data}); err != nil {
		return err
	}
	for _, tag := range tags {
		if err := b.put(apiPrefix+"/"+tag, "operations", http.StatusOK, page{Title: "API: " + tag, Data: groups[tag]}); err != nil {
			return err
		}
	}
	var types []shownType
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		types = append(types, *showType(&doc, &schema{Ref: "#/components/schemas/" + name}))
	}
	return b.put(apiPrefix+"/types", "types", http.StatusOK, page{Title: "API: types", Data: types})
}

func (b *builder) show(doc *openAPI, op operation) (shown, error) {
	s := shown{ID: op.OperationID, Method: op.method, Path: op.path, Summary: op.Summary, Who: op.Description}
	for _, p := range op.Parameters {
		f := fieldOf(p.Name, p.Schema, p.Required)
		f.Where = p.In
		f.Doc = strings.TrimSpace(p.Description + " " + f.Doc)
		s.Parameters = append(s.Parameters, f)
	}
	if op.RequestBody != nil {
		s.Body = showType(doc, op.RequestBody.Content["application/json"].Schema)
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		if status >= "400" {
			s.Refusals = append(s.Refusals, status)
			continue
		}
		s.answered(doc, status, op.Responses[status])
	}
	if name := examples[op.OperationID]; name != "" {
		text, err := fs.ReadFile(b.cfg.Files, name)
		if err != nil {
			return s, err
		}
		s.Example = string(text)
	}
	return s, nil
}

func (s *shown) answered(doc *openAPI, status string, r response) {
	s.Status, s.StatusWord = status, r.Description
	s.AnswerKinds = slices.Sorted(maps.Keys(r.Content))
	if m, isJSON := r.Content["application/json"]; isJSON {
		s.Answer = showType(doc, m.Schema)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		s.Headers = append(s.Headers, field{Name: name, Doc: r.Headers[name].Description})
	}
}

// showType lists the fields of a type: those that must be there in the order of
// the document, the others by name.
func showType(doc *openAPI, s *schema) *shownType {
	out := &shownType{Name: s.name()}
	out.Type, out.Named = s.words()
	if s.Ref != "" {
		s = doc.Components.Schemas[s.name()]
	}
	out.Doc = s.Description
	names := slices.Clone(s.Required)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if p := s.Properties[name]; p != nil && name != "$schema" {
			out.Fields = append(out.Fields, fieldOf(name, p, slices.Contains(s.Required, name)))
		}
	}
	return out
}

func fieldOf(name string, s *schema, required bool) field {
	f := field{Name: name, Required: required, Doc: s.Description, Bounds: s.bounds()}
	f.Type, f.Named = s.words()
	if s.Items != nil && f.Bounds == "" {
		f.Bounds = s.Items.bounds()
	}
	return f
}
