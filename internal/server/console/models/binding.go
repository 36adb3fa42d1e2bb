package models

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/text"
	"github.com/countersign/countersign/internal/server/console/web"
)

// bindingForm binds an action to a capability: the inputs that are sent and the
// expected response (contract 5, actionBindings).
type bindingForm struct {
	Alike      []web.Option // capabilities that are called alike
	Index      int
	Action     countersign.Action
	Chosen     string // project/capability
	Project    *countersign.Project
	Capability *countersign.Capability

	Input, Variables, Field, Equals string            // as typed
	Errs                            map[string]string // by field
}

// Err is the error of a field, "" for none.
func (b bindingForm) Err(field string) string { return b.Errs[field] }

// At is a field's element ID on the page.
func (b bindingForm) At(field string) string { return fieldID(b.Index, field) }

// Asks says whether a step of this capability asks for approval.
func (b bindingForm) Asks() string { return text.AskingWords(b.Capability) }

// Declared lists the capability's inputs with their types.
func (b bindingForm) Declared() string {
	if b.Capability.InputSchema == nil {
		return "The capability declares no inputs: what is written here is sent."
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(b.Capability.InputSchema)) {
		words := name + " (" + form.TypesOf(b.Capability.InputSchema[name])
		if !b.Capability.InputSchema[name].Required {
			words += ", optional"
		}
		parts = append(parts, words+")")
	}
	if len(parts) == 0 {
		return "The capability takes no inputs."
	}
	return "The capability takes " + strings.Join(parts, ", ") + "."
}

func bindingOf(d *compileData, actionID string, form url.Values) bindingForm {
	b := bindingForm{Index: len(d.Actions), Action: countersign.Action{ID: actionID, Name: actionID}, Chosen: form.Get("cap_" + actionID), Errs: map[string]string{}}
	for _, a := range d.Document.Actions {
		if a.ID == actionID {
			b.Action = a
		}
	}
	if before, ok := d.earlier.steps[actionID]; ok && !form.Has("cap_"+actionID) {
		b.Chosen = before.ProjectID + "/" + before.Capability
	}
	b.Project, b.Capability = d.find(b.Chosen)
	b.Alike = d.alike(b.Action)
	b.Input, b.Variables = strings.TrimSpace(form.Get("input_"+actionID)), strings.TrimSpace(form.Get("vars_"+actionID))
	b.Field, b.Equals = strings.TrimSpace(form.Get("field_"+actionID)), strings.TrimSpace(form.Get("equals_"+actionID))
	return b
}

// placeholder matches {name} in a path.
var placeholder = regexp.MustCompile(`\{([^{}]+)\}`)

// prefill fills in the capability's fields. Those that the model has a variable for are
// bound to it; the other required ones are set to null, which no field accepts, so that
// none is sent by mistake. Values of an earlier plan's step are kept.
func (b *bindingForm) prefill(d *compileData) {
	if b.Capability == nil {
		return
	}
	before := d.earlier.steps[b.Action.ID]
	if before.Capability != b.Capability.Name || before.ProjectID != b.Project.ID {
		before = countersign.Step{}
	}
	if e := before.Expectation; e != nil {
		b.Field, b.Equals = e.Field, text.Inline(e.Equals)
	}
	literal, variables := map[string]countersign.Value{}, map[string]countersign.Value{}
	for _, name := range b.fields(before) {
		field, declared := b.Capability.InputSchema[name]
		value, sent := before.Input[name]
		if from := d.earlier.variable(value); sent && from != "" {
			variables[name] = countersign.String(from)
			continue
		}
		switch {
		case sent:
			literal[name] = value
		case hasVariable(d.Document, name):
			variables[name] = countersign.String(name)
		case field.Required || !declared:
			literal[name] = countersign.Null
		}
	}
	b.Input, b.Variables = text.Indented(countersign.ObjectValue(literal).Raw()), text.Indented(countersign.ObjectValue(variables).Raw())
}

// fields are the inputs that a capability declares, that its path needs, or that an
// earlier step sent.
func (b *bindingForm) fields(before countersign.Step) []string {
	names := slices.Collect(maps.Keys(b.Capability.InputSchema))
	for _, found := range placeholder.FindAllStringSubmatch(b.Capability.Path, -1) {
		names = append(names, found[1])
	}
	if b.Capability.InputSchema == nil {
		names = slices.AppendSeq(names, maps.Keys(before.Input))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func hasVariable(doc countersign.AgentModel, id string) bool {
	return slices.ContainsFunc(doc.Variables, func(v countersign.Variable) bool { return v.ID == id })
}

// binding parses what was typed; read is false if no capability is chosen.
func (b *bindingForm) binding() (out countersign.ActionBinding, read bool) {
	if b.Capability == nil {
		b.Errs["cap"] = "Choose what carries this action out."
		return out, false
	}
	out.ProjectID, out.Capability = b.Project.ID, b.Capability.Name
	if b.Input != "" {
		b.take("input", exactjson.Decode([]byte(b.Input), &out.Input))
	}
	if b.Variables != "" {
		b.take("vars", exactjson.Decode([]byte(b.Variables), &out.InputVariables))
	}
	switch {
	case b.Field != "":
		out.Expectation = &countersign.Expectation{Field: b.Field}
		b.take("equals", exactjson.Decode([]byte(b.Equals), &out.Expectation.Equals))
	case b.Equals != "":
		b.Errs["field"] = "Name the field of the answer that must have this value."
	}
	return out, true
}

func (b *bindingForm) take(field string, err error) {
	if p := web.Refusal(err, ""); p != nil {
		b.Errs[field] = p.Detail
	}
}

// rows is the height of a text area that shows its text.
func rows(text string) int { return min(16, max(3, strings.Count(text, "\n")+2)) }
