package importer

import (
	"maps"
	"mime"
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// body adds the fields of a JSON body, which must be an object, to the inputs.
func (d *draft) body(o operation, adapter bool) *refusal {
	d.capability.Request.Body = []string{}
	read := o.requestBody
	if o.doc.swagger {
		read = o.swaggerBody
	}
	schema, needed, why := read(d, adapter)
	switch {
	case why != nil:
		return why
	case o.method == "GET":
		d.capability.Request.Body = nil // GET has no body
		if needed {
			return refuse(BodyNotJSON, "it is a GET that requires a body")
		}
		return nil
	case schema == nil:
		return nil
	}
	s, why := schema()
	if why != nil {
		return why
	}
	return d.bodyFields(s, needed)
}

// aShape reads the shape of a body once it is known to be asked for.
type aShape = func() (shape, *refusal)

// requestBody finds the body's schema, nil for no body.
func (o operation) requestBody(d *draft, adapter bool) (_ aShape, needed bool, _ *refusal) {
	body, why := o.at("requestBody").resolved()
	if why != nil {
		return nil, false, why
	}
	needed = body.at("required").isTrue()
	content, why := body.at("content").resolved()
	if why != nil {
		return nil, needed, why
	}
	kinds := content.keys()
	if len(kinds) == 0 || o.method == "GET" {
		return nil, needed, nil
	}
	kind, why := d.encoding(kinds, adapter)
	if why != nil {
		return nil, needed, why
	}
	media, why := content.at(kind).resolved()
	return func() (shape, *refusal) { return media.at("schema").shape(0) }, needed, why
}

// encoding chooses of media types the one that the runtime sends, application/json, or one that
// an adapter writes: other JSON, or a form.
func (d *draft) encoding(kinds []string, adapter bool) (chosen string, _ *refusal) {
	if i := slices.IndexFunc(kinds, sentJSON); i >= 0 {
		return kinds[i], nil
	}
	if i := slices.IndexFunc(kinds, otherJSON); i >= 0 && adapter {
		d.sends = jsonType(kinds[i])
		return kinds[i], nil
	}
	if i := slices.IndexFunc(kinds, isForm); i >= 0 && adapter {
		d.form = true
		return kinds[i], nil
	}
	return "", notJSON(kinds)
}

func sentJSON(name string) bool {
	kind := mediaType(name)
	return kind == "application/json" || kind == "*/*" || kind == "application/*"
}

// otherJSON are media types of JSON by another name, such as application/vnd.api+json. That of a
// JSON Patch is always a list, which no inputs make.
func otherJSON(name string) bool {
	kind := mediaType(name)
	return strings.HasSuffix(kind, "+json") && kind != "application/json-patch+json" && jsonType(name) != ""
}

func isForm(name string) bool { return mediaType(name) == formEncoded }

// jsonType is a media type as it is sent, "" for none.
func jsonType(name string) string {
	kind, parameters, err := mime.ParseMediaType(name)
	if err != nil || len(name) > longestType {
		return ""
	}
	return strings.ReplaceAll(mime.FormatMediaType(kind, parameters), "; ", ";")
}

const formEncoded = "application/x-www-form-urlencoded"

func notJSON(kinds []string) *refusal {
	words := "the runtime sends application/json"
	switch {
	case slices.ContainsFunc(kinds, isForm):
		words += "; 'countersign adapter' sends forms: import it with --adapter"
	case slices.ContainsFunc(kinds, otherJSON):
		words += "; 'countersign adapter' sends JSON under other names: import it with --adapter"
	}
	return refuse(BodyNotJSON, "its body is %s; %s", few(kinds), words)
}

// swaggerBody is requestBody of Swagger 2.0, where a body is a parameter, or each field of a
// form.
func (o operation) swaggerBody(d *draft, adapter bool) (_ aShape, needed bool, _ *refusal) {
	var fields []parameter
	consumes := o.swaggerTypes("consumes")
	for _, p := range o.params {
		switch p.in {
		case "body":
			if len(consumes) > 0 { // none is no promise of another
				if _, why := d.encoding(consumes, adapter); why != nil || d.form {
					d.form = false
					return nil, p.required, notJSON(consumes)
				}
			}
			return func() (shape, *refusal) { return p.at("schema").shape(0) }, p.required, nil
		case "formData":
			fields = append(fields, p)
		}
	}
	switch {
	case len(fields) == 0:
		return nil, false, nil
	case slices.ContainsFunc(fields, func(p parameter) bool { return p.at("type").text() == "file" }):
		return nil, true, notJSON([]string{"multipart/form-data"})
	case !adapter && (len(consumes) == 0 || !takesJSON(consumes)):
		return nil, true, notJSON([]string{formEncoded})
	}
	d.form = !takesJSON(consumes) || len(consumes) == 0
	return func() (shape, *refusal) { return formFields(fields), nil }, false, nil
}

func formFields(params []parameter) shape {
	s := shape{fields: map[string]field{}, required: map[string]bool{}, readOnly: map[string]bool{}}
	for _, p := range params {
		kinds := p.schema().inputTypes()
		s.add(p.name, field{kinds: kinds, secret: p.at("format").text() == "password", says: p.says(kinds)}, common)
		if p.required {
			s.required[p.name] = true
		}
	}
	return s
}

// swaggerTypes are the media types of an operation of Swagger 2.0.
func (o operation) swaggerTypes(keyword string) []string {
	if o.has(keyword) {
		return o.at(keyword).texts()
	}
	return o.doc.top().at(keyword).texts()
}

// takesJSON reports media types of which the runtime sends one; none is no promise of another.
func takesJSON(kinds []string) bool { return len(kinds) == 0 || slices.ContainsFunc(kinds, sentJSON) }

func (d *draft) bodyFields(s shape, needed bool) *refusal {
	for name := range s.required {
		if _, known := s.fields[name]; !known && !s.readOnly[name] {
			s.fields[name] = field{kinds: everyType, says: ofTypes(countersign.InputField{}, everyType)}
		}
	}
	switch {
	case len(s.fields) == 0 && s.not != "":
		return refuse(BodyNotObject, "%s", s.not)
	case len(s.fields) == 0 && (needed || s.free):
		return refuse(BodyNotObject, "the body is described by no fields")
	}
	if s.not != "" {
		d.leaveOut("body", "otherwise than as an object")
	}
	for _, name := range slices.Sorted(maps.Keys(s.fields)) {
		f := s.fields[name]
		_, taken := d.capability.InputSchema[name]
		switch {
		case taken && s.required[name]:
			return refuse(NameClash, "%s is required in the body, and is in the path or query", quoted(name))
		case len(f.kinds) > 0 && usableName(name) && !taken:
			d.declare(name, f.kinds, s.required[name], f.says)
			d.capability.Request.Body = append(d.capability.Request.Body, name)
			d.secretField(name, f)
		case s.required[name]:
			return refuse(BodyFieldNeeded, "the body's field %s is required, and what it may be can't be told", quoted(name))
		default:
			d.leaveOut("body field", name)
		}
	}
	return nil
}

// few lists the first names of many.
func few(names []string) string {
	words := make([]string, 0, 3)
	for _, name := range names[:min(len(names), 3)] {
		words = append(words, short(name, 60))
	}
	if len(names) > 3 {
		words = append(words, "…")
	}
	return strings.Join(words, ", ")
}

const longestType = 256

// mediaType is the media type in lower case without its parameters.
func mediaType(name string) string {
	if len(name) > longestType {
		return ""
	}
	kind, _, err := mime.ParseMediaType(name)
	if err != nil {
		return strings.ToLower(name)
	}
	return kind
}
