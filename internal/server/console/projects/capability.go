package projects

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/rules"
	"github.com/countersign/countersign/internal/server/console/web"
)

// The form that adds a capability to a project or changes one. Either is an edit of the
// project: a new, disabled revision (contract 5).

type capabilityData struct {
	Project countersign.Project
	Was     string // name of the capability to change; "" adds one
	Fields  []form.Field
	Inputs  []inputRow
	Wrong   string // error of the inputs as a whole
	Rules   []rules.RuleRow
	Budgets rules.BudgetForm
	Unclear string // error of the rules as a whole
	Defaults,
	Places []form.Field
	Expected []form.Field
	Use      control.ProjectUse
	Problem  *web.Problem
}

// inputRow is one row of the inputs' table.
type inputRow struct {
	N          int
	Name, Type string
	Was        string // the stored input, whose bounds and description the row keeps
	Required   bool
}

func (r inputRow) field(what string) string { return "input" + strconv.Itoa(r.N) + what }

// The table shows the existing inputs and spareRows empty rows; a button adds more.
const (
	spareRows = 4
	maxRows   = 200
)

var inputTypes = []string{"string", "number", "boolean", "object", "array"}

func capabilityPage(v *web.Request) (*web.Page, error) { return capabilityForm(v, nil) }

// capabilityForm shows the capability that the address names, or an empty form.
func capabilityForm(v *web.Request, err error) (*web.Page, error) {
	p, use, unread := projectToEdit(v)
	if unread != nil {
		return nil, unread
	}
	was := v.Query("name")
	c := countersign.Capability{}
	at := len(p.Capabilities)
	if was != "" {
		if at = slices.IndexFunc(p.Capabilities, func(c countersign.Capability) bool { return c.Name == was }); at < 0 {
			return nil, countersign.Errorf(countersign.CodeNotFound, "project %s has no capability %s", p.ID, was)
		}
		c = p.Capabilities[at]
	}
	s := form.Of(v, err, "capabilities["+strconv.Itoa(at)+"]")
	d := capabilityData{Project: p, Was: was, Use: use, Fields: operationFields(s, c), Defaults: policyFields(s, c), Places: placeFields(s, p, c), Expected: s.Expectation(c.Expectation, "Every step of it is judged by this, an answer of 200 proves nothing. $ is the whole output.")}
	d.Inputs, d.Wrong = inputRows(v, c), s.Take("inputSchema")
	d.Budgets = rules.BudgetsOf(s, c.Budgets)
	d.Rules, d.Unclear = rules.RuleRows(v, c), s.Take("approvalRules")
	d.Problem = s.Problem()
	word := "Add a capability"
	if was != "" {
		word = "Change " + was
	}
	return &web.Page{Name: "capability", Title: word, Nav: "projects", Crumbs: Crumbs(p.ID, web.Crumb{Word: word}), Data: d}, nil
}

func operationFields(s *form.Form, c countersign.Capability) []form.Field {
	methods := []form.Choice{{Value: "", Word: "choose"}}
	for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		methods = append(methods, form.Choice{Value: m, Word: m})
	}
	return []form.Field{
		form.Must(s.Mono("name", "Name", "What plans call it, such as refunds.create.", c.Name)),
		s.Line("title", "Title", "What approvers read, with each {input} filled in from the request. Example: Refund {amount} to {customer.name}", c.Title),
		s.Line("description", "Description", "What it does, in words: approvers read it.", c.Description),
		form.Must(s.Choose("select", "method", "Method", "", c.Method, methods...)),
		form.Must(s.Mono("path", "Path", "On the project’s origin, such as /orders/{orderId}. A name in braces is filled from an input of type string or number.", c.Path)),
	}
}

// policyFields are the fields that have a default.
func policyFields(s *form.Form, c countersign.Capability) []form.Field {
	effect := ""
	if c.SideEffect != nil {
		effect = strconv.FormatBool(*c.SideEffect)
	}
	timeout := ""
	if c.TimeoutMs != 0 {
		timeout = strconv.FormatInt(c.TimeoutMs, 10)
	}
	return []form.Field{
		s.Choose("radio", "sideEffect", "Does it change anything?", "", effect,
			form.Choice{Value: "", Word: "By the method", Note: "Every method but GET does. The default."},
			form.Choice{Value: "true", Word: "It changes something", Note: "A lost answer leaves the outcome unknown until a person says what happened."},
			form.Choice{Value: "false", Word: "It only reads", Note: "A lost answer fails the step; nothing was changed."}),
		s.Choose("radio", "approval", "Does it ask for approval?", "", c.Approval,
			form.Choice{Value: "", Word: "By the effect", Note: "What changes something always asks, a read never. The default."},
			form.Choice{Value: countersign.ApprovalAlways, Word: "Always", Note: "Reads too."},
			form.Choice{Value: countersign.ApprovalRiskBased, Word: "By risk", Note: "What changes something asks, unless the receiver deduplicates and it is no DELETE."},
			form.Choice{Value: countersign.ApprovalNone, Word: "Never", Note: "Steps are sent without anybody’s decision."}),
		s.Check("idempotent", "The receiver deduplicates durably", "Tick it only if the same idempotency key has its effect once, whatever happens there. Unticked: it doesn’t.", c.Idempotent),
		s.Mono("timeoutMs", "Time for the whole call, in milliseconds", "100 to 60000. Default 10000.", timeout),
	}
}

func placeFields(s *form.Form, p countersign.Project, c countersign.Capability) []form.Field {
	reads := []form.Choice{{Value: "", Word: "none"}}
	for _, r := range p.Capabilities {
		if r.Method == "GET" && !r.HasSideEffect() && r.Name != c.Name {
			reads = append(reads, form.Choice{Value: r.Name, Word: r.Name})
		}
	}
	var query, body []string
	if c.Request != nil {
		query, body = c.Request.Query, c.Request.Body
	}
	return []form.Field{
		s.Mono("outputField", "Field of the answer that is the output", "Default: the whole answer.", c.OutputField),
		s.Mono("outputs", "Fields of the output", "Separated by commas, with a dotted path for nested ones, such as status, payment.id. Forms offer them where a later step takes one.", strings.Join(c.Outputs, ", ")),
		s.Choose("select", "probe", "Read that shows, in recovery, what happened", "", c.Probe, reads...),
		s.Choose("select", "precondition.capability", "Read that shows whether it may still be sent", "It is read before approval is asked for and again before it is sent. Its required inputs are taken by name.", preconditionOf(c).Capability, reads...),
		s.Mono("precondition.fields", "Fields of that read on which approval rests", "1 to 10, separated by commas. If one changes between approval and sending, nothing is sent and approval is asked for again.", strings.Join(preconditionOf(c).Fields, ", ")),
		s.Document("precondition.when", "What must be so", "A condition over these fields, as JSON; empty: anything. Where it doesn’t hold, nobody is asked and nothing is sent.", whenOf(c), 3),
		s.Mono("sensitive", "Fields masked for viewers and in logs", "Names of inputs or output fields, separated by commas.", strings.Join(c.Sensitive, ", ")),
		s.Mono("request.query", "Inputs that go into the query", "Separated by commas. Default: for GET, all that are not in the path; otherwise none. A hyphen means none.", listed(query)),
		s.Mono("request.body", "Inputs that go into the body", "Separated by commas. Default: all that are in neither path nor query, except for GET. A hyphen means none.", listed(body)),
	}
}

// listed joins names; "-" stands for a list that is present and empty.
func listed(names []string) string {
	if names != nil && len(names) == 0 {
		return "-"
	}
	return strings.Join(names, ", ")
}

// inputRows are the stored or typed inputs, followed by empty rows.
func inputRows(v *web.Request, c countersign.Capability) []inputRow {
	var rows []inputRow
	if v.R.Method == http.MethodPost {
		rows = typedRows(v)
	} else {
		for _, in := range form.InputsOf(c) {
			rows = append(rows, inputRow{Name: in.Name, Was: in.Name, Type: in.Field.Type, Required: in.Required})
		}
	}
	for range spareRows {
		rows = append(rows, inputRow{})
	}
	for i := range rows {
		rows[i].N = i
	}
	return rows
}

// typedRows are the form's rows that aren't empty.
func typedRows(v *web.Request) []inputRow {
	var rows []inputRow
	for n := range maxRows {
		r := inputRow{N: n}
		r.Name, r.Type, r.Required = v.Form(r.field("name")), v.Form(r.field("type")), v.Form(r.field("required")) != ""
		r.Was = v.Form(r.field("was"))
		if r.Name != "" || r.Required {
			rows = append(rows, r)
		}
	}
	return rows
}
