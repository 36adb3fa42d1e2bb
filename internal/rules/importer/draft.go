package importer

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// draft is a capability that is being built.
type draft struct {
	operation  operation
	capability countersign.Capability
	sensitive  map[string]bool
	answers    map[string]bool // fields of a success answer
	leftOut    []string
	because    string                       // why the capability is idempotent
	otherKey   string                       // another header by which the receiver deduplicates
	sent       []string                     // the fixed headers that it requires, in lower case
	needText   []string                     // inputs of the path for which ids aren't enough
	otherAuth  string                       // a header with a credential that it wants besides
	form       bool                         // its body is a form, which an adapter makes of it
	sends      string                       // the media type of its JSON, where that has another name
	successes  int                          // answers of 2xx
	nothing    bool                         // 204 is the only one
	always     map[string]countersign.Value // what each of them has with one value
}

func (d *draft) leaveOut(what, name string) {
	d.leftOut = append(d.leftOut, what+" "+short(name, 80))
}

// drafter makes drafts of operations with the same server and credential.
type drafter struct {
	base   base
	scheme []string           // the chosen security schemes
	auths  []countersign.Auth // theirs
	known  schemes
	told   bool // the caller says how the project authenticates, whatever operations ask for
	fixed  map[string]fixedHeader
	asked  map[string]bool // headers that the service's own rule was asked about
	names  names
	Options
}

// draft makes a capability of an operation, or returns why that is not possible.
func (r *drafter) draft(o operation) (*draft, *refusal) {
	if o.unread != nil {
		return nil, o.unread
	}
	if !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, o.method) {
		return nil, refuse(MethodNotOffered, "a capability is GET, POST, PUT, PATCH or DELETE")
	}
	if why := o.doc.spent(); why != nil {
		return nil, why
	}
	at, why := r.base.serverFor(o)
	if why != nil {
		return nil, why
	}
	if alternatives := o.alternatives(); len(r.auths) > 0 && !r.told && !r.known.accepts(alternatives, r.scheme) {
		return nil, r.known.other(alternatives, r.scheme)
	}
	d := &draft{operation: o, sensitive: map[string]bool{}}
	d.capability = countersign.Capability{
		Method: o.method, Path: at.prefix + o.path,
		InputSchema: map[string]countersign.InputField{}, Request: &countersign.RequestMapping{},
	}
	if why := r.fill(d, o); why != nil || o.doc.budget < 0 {
		return nil, cmp.Or(o.doc.spent(), why)
	}
	d.capability.Name, d.capability.Description = r.names.of(o), o.description()
	return d, nil
}

// colonPlace is a placeholder of a router, which is no placeholder of OpenAPI.
var colonPlace = regexp.MustCompile(`/:([A-Za-z_][A-Za-z0-9_]{0,60})(?:/|$)`)

func (r *drafter) fill(d *draft, o operation) *refusal {
	path := countersign.Capability{Name: "path", Method: "GET", Path: d.capability.Path} // validated before its inputs are known
	for _, p := range request.CheckCapability(nil, &path) {
		if p.Code == "bad_path" {
			return refuse(PathUnusable, "the path %s", p.Message)
		}
	}
	if at := colonPlace.FindStringSubmatch(o.path); at != nil {
		return refuse(PathUnusable, "the path has %s where a placeholder would be {%s}; as it is, it would be sent so", quoted(":"+at[1]), at[1])
	}
	params := o.params
	for _, step := range []func() *refusal{
		func() *refusal { return d.pathInputs(params) },
		func() *refusal { return d.queryInputs(params) },
		func() *refusal { return d.headers(params, r) },
		func() *refusal { return d.body(o, r.Adapter) },
		func() *refusal { return d.responses(o) },
	} {
		if why := step(); why != nil {
			return why
		}
	}
	d.text(params, r.PathText)
	d.policy(params, r)
	return d.judge()
}

// authenticatesBy reports a header, in small letters, that carries a key.
func (r *drafter) authenticatesBy(lower string) bool {
	return slices.ContainsFunc(r.auths, func(a countersign.Auth) bool { return strings.EqualFold(request.AuthHeader(a), lower) })
}

// policy decides whether a capability asks for approval: a read never does, a side effect
// always. Only with riskBased a side effect whose receiver is said to deduplicate does not
// ask: that a payment is made once doesn't mean that anybody agreed to it.
// What the caller says of a group holds for it.
func (d *draft) policy(params []parameter, r *drafter) {
	c := &d.capability
	effect := c.Method != "GET"
	c.SideEffect, c.Approval = &effect, countersign.ApprovalNone
	if effect {
		c.Approval = countersign.ApprovalAlways
		d.because = d.operation.idempotency(params)
		d.otherKey = otherKey(params, c.Request.Body)
		c.Idempotent = d.because != ""
		if r.RiskBased && c.Idempotent && c.Method != "DELETE" {
			c.Approval = countersign.ApprovalRiskBased
		}
	}
	if said := r.Policies[d.operation.tag()]; said != "" && (effect || said == countersign.ApprovalAlways) {
		c.Approval = said
	}
	for _, p := range params {
		if f, declared := c.InputSchema[p.name]; declared {
			d.secretField(p.name, field{kinds: f.Types(), secret: p.schema().at("format").text() == "password"})
		}
	}
	c.Sensitive = slices.Sorted(maps.Keys(d.sensitive))
	c.Outputs, c.Expectation = d.outputsOf(), d.expectation()
}

// judge validates the finished draft with the service's own rules, so that the proposal has
// nothing that the service would refuse.
func (d *draft) judge() *refusal {
	c := d.capability
	c.Name = "judged"
	if problems := request.CheckCapability(nil, &c); len(problems) > 0 {
		return refuse(PathUnusable, "%s", problems[0])
	}
	return nil
}
