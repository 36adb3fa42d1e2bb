package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// The form that adds a capability to a project or changes one. Either is an edit of the
// project: a new, disabled revision (contract 5).

type capabilityData struct {
	Project countersign.Project
	Was     string // name of the capability to change; "" adds one
	Fields  []field
	Inputs  []inputRow
	Wrong   string // error of the inputs as a whole
	Rules   []ruleRow
	Budgets budgetForm
	Unclear string // error of the rules as a whole
	Defaults,
	Places []field
	Expected []field
	Use      control.ProjectUse
	Problem  *problem
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

func capabilityPage(v *pageRequest) (*page, error) { return v.capabilityForm(nil) }

// capabilityForm shows the capability that the address names, or an empty form.
func (v *pageRequest) capabilityForm(err error) (*page, error) {
	p, use, unread := v.projectToEdit()
	if unread != nil {
		return nil, unread
	}
	was := v.query("name")
	c := countersign.Capability{}
	at := len(p.Capabilities)
	if was != "" {
		if at = slices.IndexFunc(p.Capabilities, func(c countersign.Capability) bool { return c.Name == was }); at < 0 {
			return nil, countersign.Errorf(countersign.CodeNotFound, "project %s has no capability %s", p.ID, was)
		}
		c = p.Capabilities[at]
	}
	s := v.formOf(err, "capabilities["+strconv.Itoa(at)+"]")
	d := capabilityData{Project: p, Was: was, Use: use, Fields: s.operation(c), Defaults: s.policy(c), Places: s.places(p, c), Expected: s.expectation(c.Expectation, "Every step of it is judged by this, an answer of 200 proves nothing. $ is the whole output.")}
	d.Inputs, d.Wrong = v.inputRows(c), s.take("inputSchema")
	d.Budgets = s.budgets(c.Budgets)
	d.Rules, d.Unclear = v.ruleRows(c), s.take("approvalRules")
	d.Problem = s.problem()
	word := "Add a capability"
	if was != "" {
		word = "Change " + was
	}
	return &page{name: "capability", Title: word, Nav: "projects", Crumbs: projectCrumbs(p.ID, crumb{Word: word}), Data: d}, nil
}

func (s *form) operation(c countersign.Capability) []field {
	methods := []choice{{Value: "", Word: "choose"}}
	for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		methods = append(methods, choice{Value: m, Word: m})
	}
	return []field{
		must(s.mono("name", "Name", "What plans call it, such as refunds.create.", c.Name)),
		s.line("title", "Title", "What approvers read, with each {input} filled in from the request. Example: Refund {amount} to {customer.name}", c.Title),
		s.line("description", "Description", "What it does, in words: approvers read it.", c.Description),
		must(s.choose("select", "method", "Method", "", c.Method, methods...)),
		must(s.mono("path", "Path", "On the project’s origin, such as /orders/{orderId}. A name in braces is filled from an input of type string or number.", c.Path)),
	}
}

// policy are the fields that have a default.
func (s *form) policy(c countersign.Capability) []field {
	effect := ""
	if c.SideEffect != nil {
		effect = strconv.FormatBool(*c.SideEffect)
	}
	timeout := ""
	if c.TimeoutMs != 0 {
		timeout = strconv.FormatInt(c.TimeoutMs, 10)
	}
	return []field{
		s.choose("radio", "sideEffect", "Does it change anything?", "", effect,
			choice{Value: "", Word: "By the method", Note: "Every method but GET does. The default."},
			choice{Value: "true", Word: "It changes something", Note: "A lost answer leaves the outcome unknown until a person says what happened."},
			choice{Value: "false", Word: "It only reads", Note: "A lost answer fails the step; nothing was changed."}),
		s.choose("radio", "approval", "Does it ask for approval?", "", c.Approval,
			choice{Value: "", Word: "By the effect", Note: "What changes something always asks, a read never. The default."},
			choice{Value: countersign.ApprovalAlways, Word: "Always", Note: "Reads too."},
			choice{Value: countersign.ApprovalRiskBased, Word: "By risk", Note: "What changes something asks, unless the receiver deduplicates and it is no DELETE."},
			choice{Value: countersign.ApprovalNone, Word: "Never", Note: "Steps are sent without anybody’s decision."}),
		s.check("idempotent", "The receiver deduplicates durably", "Tick it only if the same idempotency key has its effect once, whatever happens there. Unticked: it doesn’t.", c.Idempotent),
		s.mono("timeoutMs", "Time for the whole call, in milliseconds", "100 to 60000. Default 10000.", timeout),
	}
}

func (s *form) places(p countersign.Project, c countersign.Capability) []field {
	reads := []choice{{Value: "", Word: "none"}}
	for _, r := range p.Capabilities {
		if r.Method == "GET" && !r.HasSideEffect() && r.Name != c.Name {
			reads = append(reads, choice{Value: r.Name, Word: r.Name})
		}
	}
	var query, body []string
	if c.Request != nil {
		query, body = c.Request.Query, c.Request.Body
	}
	return []field{
		s.mono("outputField", "Field of the answer that is the output", "Default: the whole answer.", c.OutputField),
		s.mono("outputs", "Fields of the output", "Separated by commas, with a dotted path for nested ones, such as status, payment.id. Forms offer them where a later step takes one.", strings.Join(c.Outputs, ", ")),
		s.choose("select", "probe", "Read that shows, in recovery, what happened", "", c.Probe, reads...),
		s.mono("sensitive", "Fields masked for viewers and in logs", "Names of inputs or output fields, separated by commas.", strings.Join(c.Sensitive, ", ")),
		s.mono("request.query", "Inputs that go into the query", "Separated by commas. Default: for GET, all that are not in the path; otherwise none. A hyphen means none.", listed(query)),
		s.mono("request.body", "Inputs that go into the body", "Separated by commas. Default: all that are in neither path nor query, except for GET. A hyphen means none.", listed(body)),
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
func (v *pageRequest) inputRows(c countersign.Capability) []inputRow {
	var rows []inputRow
	if v.r.Method == http.MethodPost {
		rows = v.typedRows()
	} else {
		for _, in := range inputsOf(c) {
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
func (v *pageRequest) typedRows() []inputRow {
	var rows []inputRow
	for n := range maxRows {
		r := inputRow{N: n}
		r.Name, r.Type, r.Required = v.form(r.field("name")), v.form(r.field("type")), v.form(r.field("required")) != ""
		r.Was = v.form(r.field("was"))
		if r.Name != "" || r.Required {
			rows = append(rows, r)
		}
	}
	return rows
}
