package importer

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// parameter is one parameter of an operation.
type parameter struct {
	node
	name, in string
	required bool
}

// parameters are those of the operation, and those of its path item that it doesn't replace,
// in document order.
func (o operation) parameters() ([]parameter, *refusal) {
	var out []parameter
	at := map[[2]string]int{}
	for _, n := range append(o.item.at("parameters").list(), o.at("parameters").list()...) {
		n, why := n.resolved()
		if why != nil {
			return nil, why
		}
		p := parameter{node: n, name: n.at("name").text(), in: n.at("in").text(), required: n.at("required").isTrue()}
		key := [2]string{p.in, p.name}
		if i, known := at[key]; known {
			out[i] = p
			continue
		}
		at[key] = len(out)
		out = append(out, p)
	}
	return out, nil
}

var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// pathInputs adds an input for each placeholder. Its value must be an id (contract 5), so only
// text and numbers in the simple style are possible.
func (d *draft) pathInputs(params []parameter) *refusal {
	declared := map[string]parameter{}
	for _, p := range params {
		if p.in == "path" {
			declared[p.name] = p
		}
	}
	for _, found := range placeholder.FindAllStringSubmatch(d.capability.Path, -1) {
		p, ok := declared[found[1]]
		if !ok {
			return refuse(PathParameterUnusable, "the document declares no parameter for %s in the path", quoted(found[0]))
		}
		kind := p.at("schema").inputType(0)
		style := p.at("style").text()
		if kind != "string" && kind != "number" || style != "" && style != "simple" {
			return refuse(PathParameterUnusable, "the path parameter %s is neither plain text nor a number", quoted(p.name))
		}
		d.declare(p.name, kind, true, p.says(kind))
	}
	return nil
}

// queryInputs adds the scalar query parameters as inputs. Others can't be sent.
func (d *draft) queryInputs(params []parameter) *refusal {
	d.capability.Request.Query = []string{}
	for _, p := range params {
		if p.in != "query" {
			continue
		}
		kind := p.at("schema").inputType(0)
		_, taken := d.capability.InputSchema[p.name]
		switch fits := usableName(p.name) && (kind == "string" || kind == "number" || kind == "boolean"); {
		case fits && !taken:
			d.declare(p.name, kind, p.required, p.says(kind))
			d.capability.Request.Query = append(d.capability.Request.Query, p.name)
		case p.required && taken:
			return refuse(NameClash, "%s is in the path and in the query", quoted(p.name))
		case p.required:
			return refuse(QueryParameterNeeded, "the query parameter %s is required and no text, number or boolean", quoted(p.name))
		default:
			d.leaveOut("query parameter", p.name)
		}
	}
	return nil
}

// runtimeHeaders are headers that the runtime sends itself or that OpenAPI ignores.
var runtimeHeaders = []string{"idempotency-key", "authorization", "content-type", "accept"}

// headers: a capability has no inputs in headers or cookies. A header that it requires
// must be sent with each call of the project.
func (d *draft) headers(params []parameter, r *drafter) *refusal {
	for _, p := range params {
		lower := strings.ToLower(p.name)
		value, fixed := p.fixedValue()
		switch {
		case p.in == "header" && (slices.Contains(runtimeHeaders, lower) || r.authenticatesBy(lower)):
		case p.in == "header" && p.required && fixed && r.fixed[lower].value == value:
			d.sent = append(d.sent, lower)
		case p.in == "header" && p.required && fixed && r.fixed[lower].value != "":
			return refuse(HeaderNeeded, "the header %s must be %s, and %s for others", quoted(p.name), quoted(value), quoted(r.fixed[lower].value))
		case p.in == "header" && p.required:
			return refuse(HeaderNeeded, "the header %s is required, and the runtime sends none such", quoted(p.name))
		case p.in == "cookie" && p.required:
			return refuse(CookieNeeded, "the cookie %s is required, and the runtime keeps none", quoted(p.name))
		case p.in == "header" || p.in == "cookie":
			d.leaveOut(p.in, p.name)
		}
	}
	return nil
}

// says is what a parameter says of its values; its own description goes before its
// schema's.
func (p parameter) says(kind string) countersign.InputField {
	f := p.at("schema").says(kind)
	f.Description = cmp.Or(short(p.at("description").text(), maxDescription), f.Description)
	return f
}

func (d *draft) declare(name, kind string, required bool, says countersign.InputField) {
	says.Type, says.Required = kind, required
	d.capability.InputSchema[name] = says
}

// usableName refuses names of inputs with characters that a person can't type or distinguish.
func usableName(name string) bool {
	return name != "" && len(name) <= 128 && short(name, 128) == name
}
