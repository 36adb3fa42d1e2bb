package importer

import (
	"bytes"
	"fmt"
	"regexp"
)

// MaxDocumentBytes bounds a document; MaxYAMLBytes bounds one in YAML, whose parser needs about
// 50 bytes of memory for each byte.
const (
	MaxDocumentBytes = 16 << 20
	MaxYAMLBytes     = 8 << 20
)

// Document is a parsed OpenAPI document.
type Document struct {
	main    *file
	files   files
	version string
	swagger bool // version 2.0
	values  int  // what is left of maxValues
	budget  int  // what is left of maxWork

	shapes, typed map[*member]bool // schemas that are being read: a circle ends where it is closed
}

// maxWork bounds the schemas and fields that one proposal reads.
const maxWork = 1_000_000

var supported = regexp.MustCompile(`^3\.[01](\.[0-9A-Za-z.-]{1,32})?$`)

// Read parses an OpenAPI 3.0 or 3.1 document, or one of Swagger 2.0, in JSON or YAML. The error
// says what is wrong and where.
func Read(data []byte) (*Document, error) {
	if len(data) > MaxDocumentBytes {
		return nil, fmt.Errorf("it is larger than %d bytes", MaxDocumentBytes)
	}
	d := &Document{main: &file{}, files: files{left: MaxDocumentBytes - len(data)}, values: maxValues, budget: maxWork, shapes: map[*member]bool{}, typed: map[*member]bool{}}
	var err error
	if d.main.root, err = tree(data, &d.values); err != nil {
		return nil, err
	}
	version, _ := d.top().at("openapi").value() // in YAML it may stand without quotes
	swagger, older := d.top().at("swagger").value()
	d.version, d.swagger = version.Text(), older && swagger.Text() == "2.0"
	switch {
	case d.swagger:
		d.version = "2.0"
	case older:
		return nil, fmt.Errorf("swagger: it must be version 2.0, not %q; or OpenAPI 3.0 or 3.1", short(swagger.Text(), 40))
	case !supported.MatchString(d.version):
		return nil, fmt.Errorf("openapi: it must be a version 3.0 or 3.1, not %q", short(d.version, 40))
	}
	return d, nil
}

// tree decodes a text once. JSON begins with a brace; everything else is parsed as YAML.
func tree(data []byte, left *int) (any, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if text := bytes.TrimLeft(data, " \t\r\n"); len(text) == 0 || text[0] != '{' {
		return yamlTree(data, left)
	}
	return jsonTree(data, left)
}

func (d *Document) top() node { return node{d, d.main, d.main.root} }

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
