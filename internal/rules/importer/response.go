package importer

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
)

// responses checks that each success answer in the document can be read: JSON, or no body.
// Answers to failures needn't be readable. A document that says nothing of a success leaves it
// open: what isn't JSON won't be read then.
func (d *draft) responses(o operation) *refusal {
	responses, why := o.at("responses").resolved()
	if why != nil {
		return why
	}
	statuses := responses.keys()
	others := 0
	for _, status := range statuses {
		switch {
		case strings.HasPrefix(status, "2"):
			if why := d.success(o, status, responses.at(status)); why != nil {
				return why
			}
		case strings.HasPrefix(status, "1"), strings.HasPrefix(status, "3"):
			others++
		}
	}
	switch {
	case d.successes > 0:
		return nil
	case responses.has("default"):
		return d.success(o, "default", responses.at("default"))
	case others > 0:
		return refuse(ResponseUnknown, "the document describes no 2xx response, and no redirect is followed")
	}
	d.leaveOut("answer:", "the document describes no 2xx")
	return nil
}

func (d *draft) success(o operation, status string, response node) *refusal {
	response, why := response.resolved()
	if why != nil {
		return why
	}
	d.successes++
	if d.nothing = d.nothing || d.successes == 1; status != "204" {
		d.nothing = false
	}
	schema, kinds := response.at("schema"), []string(nil)
	if o.doc.swagger && schema.present() {
		if kinds = o.swaggerTypes("produces"); len(kinds) == 0 || slices.ContainsFunc(kinds, readsJSON) {
			d.outputs(schema)
			return nil
		}
	}
	if !o.doc.swagger {
		content, why := response.at("content").resolved()
		if why != nil {
			return why
		}
		kinds = content.keys()
		if i := slices.IndexFunc(kinds, readsJSON); i >= 0 {
			media, why := content.at(kinds[i]).resolved()
			if why == nil {
				d.outputs(media.at("schema"))
			}
			return why
		}
	}
	if len(kinds) > 0 {
		return refuse(ResponseNotJSON, "the response %s is %s; the runtime reads JSON", short(status, 10), few(kinds))
	}
	d.constants(nil)
	return nil
}

// readsJSON reports a media type of which the runtime may read values.
func readsJSON(name string) bool {
	kind := mediaType(name)
	return kind == "application/json" || kind == "*/*" || kind == "application/*" || strings.HasSuffix(kind, "+json")
}

// outputs records the fields of an answer, and which of them are sensitive, if the answer is
// an object.
func (d *draft) outputs(schema node) {
	s, why := schema.shape(0)
	if why != nil {
		d.constants(nil)
		return
	}
	if d.answers == nil {
		d.answers = map[string]bool{}
	}
	constants := map[string]countersign.Value{}
	for name, f := range s.fields {
		d.secretField(name, f)
		d.answers[name] = true
		if s.required[name] && len(f.says.Enum) == 1 {
			constants[name] = f.says.Enum[0]
		}
	}
	for name := range s.readOnly {
		d.secret(name, false)
		d.answers[name] = true
	}
	delete(d.answers, "") // no field can be called so
	d.constants(constants)
}

// constants keeps what all success answers have with one value.
func (d *draft) constants(of map[string]countersign.Value) {
	if d.successes == 1 {
		d.always = of
	}
	maps.DeleteFunc(d.always, func(name string, v countersign.Value) bool { return !v.Equal(of[name]) })
}

// saysSuccess are fields that tell whether something was done. A document that gives one a
// single value says what success is; the type of an answer, as of "object", says nothing.
var saysSuccess = []string{"ok", "success", "succeeded", "isError", "error", "status", "state", "result"}

// expectation is what the document says of each success.
func (d *draft) expectation() *countersign.Expectation {
	for _, name := range saysSuccess {
		if v, ok := d.always[name]; ok {
			return &countersign.Expectation{Field: name, Equals: v}
		}
	}
	if d.nothing {
		return &countersign.Expectation{Field: "$", Equals: countersign.Null, StatusCode: 204}
	}
	return nil
}

// outputsOf are the fields of the answers, as far as a capability may name them.
func (d *draft) outputsOf() []string {
	out := slices.SortedFunc(maps.Keys(d.answers), cmp.Compare[string])
	return out[:min(len(out), countersign.MaxOutputs)]
}
