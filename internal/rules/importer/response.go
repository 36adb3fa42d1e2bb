package importer

import (
	"strings"
)

// responses checks that each success answer in the document can be read: JSON, or no body.
// Answers to failures needn't be readable.
func (d *draft) responses(o operation) *refusal {
	responses := o.at("responses")
	successes := 0
	for _, status := range responses.keys() {
		if strings.HasPrefix(status, "2") {
			successes++
			if why := d.success(status, responses.at(status)); why != nil {
				return why
			}
		}
	}
	switch {
	case successes > 0:
		return nil
	case responses.has("default"):
		return d.success("default", responses.at("default"))
	default:
		return refuse(ResponseUnknown, "the document describes no 2xx response")
	}
}

func (d *draft) success(status string, response node) *refusal {
	response, why := response.resolved()
	if why != nil {
		return why
	}
	content := response.at("content")
	kinds := content.keys()
	for _, name := range kinds {
		kind := mediaType(name)
		if kind == "application/json" || kind == "*/*" || kind == "application/*" || strings.HasSuffix(kind, "+json") {
			d.outputs(content.at(name).at("schema"))
			return nil
		}
	}
	if len(kinds) > 0 {
		return refuse(ResponseNotJSON, "the response %s is %s; the runtime reads JSON", short(status, 10), few(kinds))
	}
	return nil
}

// outputs records the fields of an answer, and which of them are sensitive, if the answer is
// an object.
func (d *draft) outputs(schema node) {
	s, why := schema.shape(0)
	if why != nil {
		return
	}
	if d.answers == nil {
		d.answers = map[string]bool{}
	}
	for name, f := range s.fields {
		d.secret(name, f.secret)
		d.answers[name] = true
	}
	for name := range s.readOnly {
		d.secret(name, false)
		d.answers[name] = true
	}
	delete(d.answers, "") // no field can be called so
}
