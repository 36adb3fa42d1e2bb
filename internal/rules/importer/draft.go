package importer

import (
	"cmp"
	"maps"
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
	because    string   // why the capability is idempotent
	otherKey   string   // another header by which the receiver deduplicates
	sent       []string // the fixed headers that it requires, in lower case
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
	fixed  map[string]fixedHeader
	names  names

	riskBased bool
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
	if alternatives := o.alternatives(); len(r.auths) > 0 && !accepts(alternatives, r.scheme) {
		return nil, refuse(AuthenticationOther, "it doesn't take %s alone, the authentication of the others", quoted(strings.Join(r.scheme, " and ")))
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

func (r *drafter) fill(d *draft, o operation) *refusal {
	path := countersign.Capability{Name: "path", Method: "GET", Path: d.capability.Path} // validated before its inputs are known
	for _, p := range request.CheckCapability(nil, &path) {
		if p.Code == "bad_path" {
			return refuse(PathUnusable, "the path %s", p.Message)
		}
	}
	params, why := o.parameters()
	if why != nil {
		return why
	}
	for _, step := range []func() *refusal{
		func() *refusal { return d.pathInputs(params) },
		func() *refusal { return d.queryInputs(params) },
		func() *refusal { return d.headers(params, r) },
		func() *refusal { return d.body(o) },
		func() *refusal { return d.responses(o) },
	} {
		if why := step(); why != nil {
			return why
		}
	}
	d.policy(params, r.riskBased)
	return d.judge()
}

// authenticatesBy reports a header, in small letters, that carries a key.
func (r *drafter) authenticatesBy(lower string) bool {
	return slices.ContainsFunc(r.auths, func(a countersign.Auth) bool { return strings.EqualFold(a.HeaderName, lower) })
}

// policy decides whether a capability asks for approval: a read never does, a side effect
// always. Only with riskBased a side effect whose receiver is said to deduplicate does not
// ask: that a payment is made once doesn't mean that anybody agreed to it.
func (d *draft) policy(params []parameter, riskBased bool) {
	c := &d.capability
	effect := c.Method != "GET"
	c.SideEffect, c.Approval = &effect, countersign.ApprovalNone
	if effect {
		c.Approval = countersign.ApprovalAlways
		d.because = d.operation.idempotency(params)
		d.otherKey = otherKey(params)
		c.Idempotent = d.because != ""
		if riskBased && c.Idempotent && c.Method != "DELETE" {
			c.Approval = countersign.ApprovalRiskBased
		}
	}
	for _, p := range params {
		if _, declared := c.InputSchema[p.name]; declared {
			d.secret(p.name, p.at("schema").at("format").text() == "password")
		}
	}
	c.Sensitive = slices.Sorted(maps.Keys(d.sensitive))
	if c.Outputs = slices.Sorted(maps.Keys(d.answers)); len(c.Outputs) > countersign.MaxOutputs {
		c.Outputs = c.Outputs[:countersign.MaxOutputs]
	}
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
