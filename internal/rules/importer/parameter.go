package importer

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/countersign/countersign"
)

// parameter is one parameter of an operation.
type parameter struct {
	node
	name, in string
	required bool
}

// readParameters are those of the operation, and those of its path item that it doesn't
// replace, in document order.
func (o operation) readParameters() ([]parameter, *refusal) {
	var out []parameter
	at := map[[2]string]int{}
	shared, why := o.item.at("parameters").resolved()
	own, refused := o.at("parameters").resolved()
	if why = cmp.Or(why, refused); why != nil {
		return nil, why
	}
	for _, n := range append(shared.list(), own.list()...) {
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

// schema is what a parameter's value must be. Swagger has it in the parameter itself.
func (p parameter) schema() node {
	if p.doc.swagger {
		return p.node
	}
	return p.at("schema")
}

var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// pathInputs adds an input for each placeholder: text and numbers in the simple style. What is
// written without quotes is text to whoever reads a path.
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
		kinds, style := p.schema().inputTypes(), p.at("style").text()
		switch text, number := slices.Contains(kinds, "string"), slices.Contains(kinds, "number"); {
		case p.has("content") || style != "" && style != "simple" || len(kinds) == 0:
			return refuse(PathParameterUnusable, "the path parameter %s is neither plain text nor a number", quoted(p.name))
		case text && number && len(kinds) < len(everyType):
			kinds = []string{"string", "number"}
		case text:
			kinds = []string{"string"}
		case number:
			kinds = []string{"number"}
		case slices.Contains(kinds, "boolean"):
			d.declare(p.name, kinds[:0], true, countersign.InputField{Type: "string", Enum: []countersign.Value{countersign.String("false"), countersign.String("true")}, Description: p.says(kinds).Description})
			continue
		default:
			return refuse(PathParameterUnusable, "the path parameter %s is neither plain text nor a number", quoted(p.name))
		}
		d.declare(p.name, kinds, true, p.says(kinds))
	}
	return nil
}

// queryInputs adds the scalar query parameters as inputs; of several types those that are. Others
// can't be sent.
func (d *draft) queryInputs(params []parameter) *refusal {
	d.capability.Request.Query = []string{}
	for _, p := range params {
		if p.in != "query" {
			continue
		}
		kinds, part := p.queryTypes()
		_, taken := d.capability.InputSchema[p.name]
		switch fits := usableName(p.name) && len(kinds) > 0; {
		case fits && !taken:
			d.declare(p.name, kinds, p.required, p.says(kinds))
			d.capability.Request.Query = append(d.capability.Request.Query, p.name)
			if part != "" {
				d.leaveOut("query parameter", p.name+" "+part)
			}
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

// queryTypes are the types in which a parameter can be sent, and what of it can't be.
func (p parameter) queryTypes() (kinds []string, part string) {
	style := p.at("style").text()
	if p.has("content") || style == "deepObject" {
		return nil, ""
	}
	isScalar := func(t string) bool { return t == "string" || t == "number" || t == "boolean" }
	all := p.schema().inputTypes()
	kinds = slices.DeleteFunc(slices.Clone(all), func(t string) bool { return !isScalar(t) })
	if len(kinds) > 0 && len(kinds) < len(all) && len(all) < len(everyType) {
		part = "as a list or an object"
	}
	return kinds, part
}

// says is what a parameter says of its values; its own description goes before its
// schema's.
func (p parameter) says(kinds []string) countersign.InputField {
	f := p.schema().says(kinds)
	f.Description = cmp.Or(short(p.at("description").text(), maxDescription), f.Description)
	return f
}

// declare adds an input; without kinds it has those that says has.
func (d *draft) declare(name string, kinds []string, required bool, says countersign.InputField) {
	if len(kinds) > 0 {
		says = ofTypes(says, kinds)
	}
	says.Required = required
	d.capability.InputSchema[name] = says
}

// usableName refuses names of inputs with characters that a person can't type or distinguish.
func usableName(name string) bool {
	return name != "" && len(name) <= 128 && short(name, 128) == name
}
