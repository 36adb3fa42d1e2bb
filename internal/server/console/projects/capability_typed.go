package projects

import (
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/rules"
	"github.com/countersign/countersign/internal/server/console/web"
)

func saveCapability(v *web.Request) (string, error) {
	p, _, err := projectToEdit(v)
	if err != nil {
		return "", err
	}
	if v.Form("more") != "" { // only adds rows; nothing is saved
		again, err := capabilityForm(v, nil)
		if err != nil {
			return "", err
		}
		return "", again
	}
	w := projectWriteOf(p)
	w.ExpectedRevision = v.FormRevision()
	var wrong error
	w.Capabilities, wrong = withTyped(v, p)
	err = web.Together(v.Chosen("name", "method", "path"), wrong)
	if err == nil {
		_, err = v.Control.PutProject(v.R.Context(), v.Actor, p.ID, w)
	}
	if err == nil {
		return "/projects/" + p.ID + "#capabilities", nil
	}
	return "", v.FormAgain(err, capabilityForm)
}

// withTyped is the project's capabilities with the form's changes applied.
func withTyped(v *web.Request, p countersign.Project) ([]countersign.Capability, error) {
	list := slices.Clone(p.Capabilities)
	was := v.Query("name")
	at := slices.IndexFunc(list, func(c countersign.Capability) bool { return c.Name == was })
	if was == "" || at < 0 {
		list = append(list, countersign.Capability{})
		at = len(list) - 1
	}
	c, err := typedCapability(v, list[at])
	list[at] = c
	return list, err
}

// typedCapability applies the form to a capability.
func typedCapability(v *web.Request, c countersign.Capability) (countersign.Capability, error) {
	c.Name, c.Title, c.Description, c.Method, c.Path = v.Form("name"), v.Form("title"), v.Form("description"), v.Form("method"), v.Form("path")
	c.Approval, c.Idempotent, c.OutputField, c.Probe = v.Form("approval"), v.Form("idempotent") != "", v.Form("outputField"), v.Form("probe")
	c.SideEffect, c.TimeoutMs = nil, 0
	if said := v.Form("sideEffect"); said != "" {
		c.SideEffect = new(said == "true")
	}
	var ofTimeout, ofBudgets, ofOutputs, ofInputs, ofExpectation, ofRules error
	if rules.ShowsBudgets(v) {
		c.Budgets, ofBudgets = rules.TypedBudgets(v)
	}
	c.TimeoutMs, ofTimeout = typedTimeout(v)
	c.Sensitive = form.Names(v.Form("sensitive"))
	if _, shown := v.R.PostForm["outputs"]; shown {
		if c.Outputs = form.Names(v.Form("outputs")); len(c.Outputs) > countersign.MaxOutputs {
			ofOutputs = web.Invalid("outputs", "%d are too many; at most %d", len(c.Outputs), countersign.MaxOutputs)
		}
	}
	c.Request = &countersign.RequestMapping{Query: form.Names(v.Form("request.query")), Body: form.Names(v.Form("request.body"))}
	if c.Request.Query == nil && c.Request.Body == nil {
		c.Request = nil
	}
	c.InputSchema, ofInputs = typedSchema(v, c)
	c.Expectation, ofExpectation = form.TypedExpectation(v)
	c.ApprovalRules, ofRules = rules.TypedRules(v, c)
	ofPrecondition := typedPrecondition(v, &c)
	return c, web.Together(ofTimeout, ofInputs, ofBudgets, ofExpectation, ofRules, ofOutputs, ofPrecondition)
}

// typedTimeout is 0 if the field is empty: then the default applies.
func typedTimeout(v *web.Request) (int64, error) {
	typed := v.Form("timeoutMs")
	if typed == "" {
		return 0, nil
	}
	ms, err := strconv.ParseInt(typed, 10, 64)
	if err != nil || ms < 100 || ms > 60000 {
		return 0, web.Invalid("timeoutMs", "a whole number from 100 to 60000")
	}
	return ms, nil
}

// typedSchema reads the rows. No rows mean no inputs, unless the capability accepted
// any input before: that is kept.
func typedSchema(v *web.Request, c countersign.Capability) (map[string]countersign.InputField, error) {
	schema := map[string]countersign.InputField{}
	for _, r := range typedRows(v) {
		_, twice := schema[r.Name]
		switch {
		case r.Name == "":
			return nil, web.Invalid("inputSchema", "row %d has no name", r.N+1)
		case twice:
			return nil, web.Invalid("inputSchema", "%s is there twice", r.Name)
		case !slices.Contains(inputTypes, r.Type):
			return nil, web.Invalid("inputSchema", "%s needs a type", r.Name)
		}
		schema[r.Name] = keptBounds(c.InputSchema[r.Was], r)
	}
	if len(schema) == 0 && v.Query("name") != "" && c.InputSchema == nil {
		return nil, nil
	}
	return schema, nil
}

// keptBounds is an input as typed, with the bounds and the description that it has. Bounds
// of another type mean nothing.
func keptBounds(was countersign.InputField, r inputRow) countersign.InputField {
	if was.Type != r.Type {
		was = countersign.InputField{Description: was.Description}
	}
	was.Type, was.Required = r.Type, r.Required
	return was
}

// Types are the types of an input.
func (capabilityData) Types() []string { return inputTypes }
