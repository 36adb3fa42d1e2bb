package harness

import (
	"context"
	"fmt"
	"hash/maphash"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Document is a server's OpenAPI document.
type Document struct {
	Operations []Operation

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by JSON pointer

	seed  maphash.Seed
	right sync.Map // the digests of bodies found valid
}

// documentURL is the name by which schemas refer to the document.
const documentURL = "http://server/openapi.json"

// Operation is an operation of a document.
type Operation struct {
	ID     string
	Method string
	Path   string // below the prefix, with its {placeholders}
	spec   *openapi3.Operation
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

// About is the operation's path about the object of this id.
func (o Operation) About(id string) string { return placeholder.ReplaceAllLiteralString(o.Path, id) }

// documents caches the parsed documents by program.
var documents = struct {
	sync.Mutex
	byProgram map[string]*Document
}{byProgram: map[string]*Document{}}

func parseDocument(text string) (*Document, error) {
	spec, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		return nil, err
	}
	if err := spec.Validate(context.Background()); err != nil {
		return nil, err
	}
	d := &Document{schemas: map[string]*jsonschema.Schema{}, seed: maphash.MakeSeed()}
	if d.compiler, err = newCompiler(text); err != nil {
		return nil, err
	}
	for path, item := range spec.Paths.Map() {
		for method, op := range item.Operations() {
			d.Operations = append(d.Operations, Operation{ID: op.OperationID, Method: method, Path: path, spec: op})
		}
	}
	slices.SortFunc(d.Operations, func(a, b Operation) int { return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method) })
	return d, nil
}

func newCompiler(text string) (*jsonschema.Compiler, error) {
	whole, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	return c, c.AddResource(documentURL, whole)
}

// find returns the operation of a request, nil if the document has none.
func (d *Document) find(method, path string) *Operation {
	if method == "HEAD" {
		method = "GET"
	}
	named := slices.ContainsFunc(d.Operations, func(o Operation) bool { return o.Path == path }) // a path of its own is no id
	for i := range d.Operations {
		if o := &d.Operations[i]; o.Method == method && (o.Path == path || !named && fitsTemplate(o.Path, path)) {
			return o
		}
	}
	return nil
}

func fitsTemplate(template, path string) bool {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && (!strings.HasPrefix(want[i], "{") || got[i] == "") {
			return false
		}
	}
	return true
}

// HasRequestBody reports whether the operation takes a body.
func (o Operation) HasRequestBody() bool { return o.spec.RequestBody != nil }

// Public reports whether the operation needs no token.
func (o Operation) Public() bool { return o.spec.Security != nil && len(*o.spec.Security) == 0 }

// Success is the one documented status below 400.
func (o Operation) Success() int {
	for status := range o.spec.Responses.Map() {
		if n, err := strconv.Atoi(status); err == nil && n < 400 {
			return n
		}
	}
	return 0
}

// Statuses are all documented statuses, sorted.
func (o Operation) Statuses() []string {
	var out []string
	for status := range o.spec.Responses.Map() {
		out = append(out, status)
	}
	slices.Sort(out)
	return out
}

// Parameters are the names of an operation's parameters in path, query or header.
func (o Operation) Parameters(in string) []string {
	var out []string
	for _, p := range o.spec.Parameters {
		if p.Value.In == in {
			out = append(out, p.Value.Name)
		}
	}
	return out
}

// checkAnswer validates a body by its schema in the document. A test that waits for a state gets the
// same body many times, so valid bodies are cached.
func (d *Document) checkAnswer(o *Operation, status int, contentType string, body JSON, text string) error {
	response := o.spec.Responses.Value(strconv.Itoa(status))
	if response == nil {
		return fmt.Errorf("%s does not document the status %d", o.ID, status)
	}
	if response.Value.Content.Get(contentType) == nil {
		return fmt.Errorf("%s does not document a %s answer of status %d", o.ID, contentType, status)
	}
	if contentType != "application/json" {
		return nil
	}
	pointer := o.place() + "/responses/" + strconv.Itoa(status) + jsonContent
	digest := maphash.String(d.seed, pointer+" "+text)
	if _, known := d.right.Load(digest); known {
		return nil
	}
	err := d.validate(body, pointer)
	if err == nil {
		d.right.Store(digest, true)
	}
	return err
}

// checkRequest validates an accepted body: the service may accept only what the document allows,
// where, as its description says, null for an optional field means that it is left out.
func (d *Document) checkRequest(o *Operation, body JSON) error {
	if o.spec.RequestBody == nil {
		return nil
	}
	place := o.place() + "/requestBody" + jsonContent
	err := d.validate(body, place)
	if err == nil {
		return nil
	}
	left := copied(body.value)
	for _, null := range refusedNull.FindAllStringSubmatch(err.Error(), -1) {
		parts := strings.Split(null[1], "/")
		if within, ok := reach(left, parts[:len(parts)-1]).(map[string]any); ok {
			delete(within, parts[len(parts)-1])
		}
	}
	return d.validate(JSON{value: left, there: true}, place)
}

// refusedNull finds where a schema refused null.
var refusedNull = regexp.MustCompile(`at '/([^']*)': got null`)

const jsonContent = "/content/application~1json/schema"

// place is the operation's JSON pointer in the document.
func (o *Operation) place() string {
	return "/paths/" + strings.ReplaceAll(o.Path, "/", "~1") + "/" + strings.ToLower(o.Method)
}

// validate validates a value by the schema at a JSON pointer: JSON Schema 2020-12, as OpenAPI 3.1
// says. Schemas are compiled once.
func (d *Document) validate(v JSON, pointer string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	schema := d.schemas[pointer]
	if schema == nil {
		var err error
		if schema, err = d.compiler.Compile(documentURL + "#" + pointer); err != nil {
			return err
		}
		d.schemas[pointer] = schema
	}
	return schema.Validate(v.value)
}

// Find returns the operation of a method and a path below the prefix, nil if there is none.
func (d *Document) Find(method, path string) *Operation { return d.find(method, path) }
