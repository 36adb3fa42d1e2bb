package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/countersign/countersign/internal/rules/exactjson"
)

// MaxDocumentBytes bounds a document; MaxYAMLBytes bounds one in YAML, whose parser needs about
// 50 bytes of memory for each byte.
const (
	MaxDocumentBytes = 16 << 20
	MaxYAMLBytes     = 8 << 20
)

// Document is a parsed OpenAPI document.
type Document struct {
	root    any
	version string
	budget  int // what is left of maxWork
}

// maxWork bounds the schemas and fields that one proposal reads.
const maxWork = 1_000_000

var supported = regexp.MustCompile(`^3\.[01](\.[0-9A-Za-z.-]{1,32})?$`)

// Read parses an OpenAPI 3.0 or 3.1 document in JSON or YAML. The error says what is wrong and
// where.
func Read(data []byte) (*Document, error) {
	if len(data) > MaxDocumentBytes {
		return nil, fmt.Errorf("it is larger than %d bytes", MaxDocumentBytes)
	}
	root, err := tree(bytes.TrimPrefix(data, []byte("\uFEFF")))
	if err != nil {
		return nil, err
	}
	d := &Document{root: root, budget: maxWork}
	version, _ := d.top().at("openapi").value() // in YAML it may stand without quotes
	d.version = version.Text()
	switch {
	case d.top().at("swagger").present():
		return nil, fmt.Errorf("swagger: it is Swagger %s; convert it to OpenAPI 3 first", d.top().at("swagger").text())
	case !supported.MatchString(d.version):
		return nil, fmt.Errorf("openapi: it must be a version 3.0 or 3.1, not %q", short(d.version, 40))
	}
	return d, nil
}

// tree decodes a text once. JSON begins with a brace; everything else is parsed as YAML.
func tree(data []byte) (any, error) {
	if text := bytes.TrimLeft(data, " \t\r\n"); len(text) == 0 || text[0] != '{' {
		return yamlTree(data)
	}
	if err := exactjson.Check(data); err != nil {
		return nil, err
	}
	var root any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber() // numbers are never computed with, and 1e999 must not be an error
	err := d.Decode(&root)
	return root, err
}

func (d *Document) top() node { return node{doc: d, v: d.root} }

// is31 reports whether the document is of version 3.1, which differs from 3.0.
func (d *Document) is31() bool { return d.version[:3] == "3.1" }

// spent returns a refusal if the budget is spent.
func (d *Document) spent() *refusal {
	if d.budget < 0 {
		return tooComplex
	}
	return nil
}

// spend takes n from the budget, and reports whether there was enough.
func (d *Document) spend(n int) bool {
	d.budget -= n
	return d.budget >= 0
}
