package importer

import (
	"maps"
	"mime"
	"slices"
	"strings"
)

// body adds the fields of a JSON body, which must be an object, to the inputs.
func (d *draft) body(o operation) *refusal {
	d.capability.Request.Body = []string{}
	body, why := o.at("requestBody").resolved()
	if why != nil {
		return why
	}
	switch {
	case o.method == "GET":
		d.capability.Request.Body = nil // GET has no body
		if body.at("required").isTrue() {
			return refuse(BodyNotJSON, "it is a GET that requires a body")
		}
		return nil
	case len(body.at("content").keys()) == 0:
		return nil
	}
	media, why := body.jsonBody()
	if why != nil {
		return why
	}
	s, why := media.at("schema").shape(0)
	if why != nil {
		return why
	}
	return d.bodyFields(s, body.at("required").isTrue())
}

// jsonBody finds the body's schema for application/json, the media type that the runtime
// sends.
func (n node) jsonBody() (node, *refusal) {
	content := n.at("content")
	for _, name := range content.keys() {
		if kind := mediaType(name); kind == "application/json" || kind == "*/*" || kind == "application/*" {
			return content.at(name), nil
		}
	}
	return node{}, refuse(BodyNotJSON, "its body is %s; the runtime sends application/json", few(content.keys()))
}

func (d *draft) bodyFields(s shape, needed bool) *refusal {
	for name := range s.required {
		if _, known := s.fields[name]; !known && !s.readOnly[name] {
			s.fields[name] = field{}
		}
	}
	if len(s.fields) == 0 && (needed || s.free) {
		return refuse(BodyNotObject, "the body is described by no fields")
	}
	for _, name := range slices.Sorted(maps.Keys(s.fields)) {
		f := s.fields[name]
		_, taken := d.capability.InputSchema[name]
		switch {
		case taken:
			return refuse(NameClash, "%s is in the body and in the path or query", quoted(name))
		case f.kind != "" && usableName(name):
			d.declare(name, f.kind, s.required[name], f.says)
			d.capability.Request.Body = append(d.capability.Request.Body, name)
			d.secret(name, f.secret)
		case s.required[name]:
			return refuse(BodyFieldNeeded, "the body's field %s is required and of no one type", quoted(name))
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

// mediaType is the media type in lower case without its parameters.
func mediaType(name string) string {
	const longest = 256
	if len(name) > longest {
		return ""
	}
	kind, _, err := mime.ParseMediaType(name)
	if err != nil {
		return strings.ToLower(name)
	}
	return kind
}
