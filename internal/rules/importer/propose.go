package importer

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/countersign/countersign"
)

// Options are settings that a document can't have.
type Options struct {
	ProjectID     string
	Name          string   // default: the document's title
	BaseURL       string   // default: the document's first server
	CredentialEnv []string // one for each key, in the order proposed; default: made of the project's id
	RiskBased     bool     // RISK_BASED instead of ALWAYS where the document says idempotent
	Location      *url.URL // where the document was read from, nil for a file
	Filter
}

// Propose makes a project from the document. It returns an error if no project is possible:
// there is no server, or no operation that can be called.
func (d *Document) Propose(o Options) (*Proposal, error) {
	base, err := d.chooseBase(o.BaseURL, o.Location)
	if err != nil {
		return nil, err
	}
	operations, all, err := d.operations(o.Filter)
	if err != nil {
		return nil, err
	}
	p := &Proposal{Report: Report{
		Title: short(d.top().at("info").at("title").text(), 120), OpenAPI: d.version, Operations: all, Filtered: all - len(operations),
		Proposed: []Proposed{}, Skipped: []Skipped{}, Reasons: map[Reason]int{}, FillIn: []string{},
	}}
	r := d.drafter(base, operations, o)
	drafts := d.draftAll(p, r, operations)
	p.Project = countersign.ProjectWrite{
		Name: cmp.Or(o.Name, p.Title, o.ProjectID), Adapter: countersign.AdapterHTTPJSON, BaseURL: base.proposed.origin,
		Capabilities: []countersign.Capability{},
	}
	switch len(r.auths) {
	case 0:
	case 1:
		p.Project.Auth = countersign.OneAuth(r.auths[0])
	default:
		p.Project.Auth = &countersign.Auths{Several: r.auths}
	}
	p.Project.Headers = headersOf(drafts, r.fixed)
	p.finish(drafts)
	if len(drafts) == 0 {
		return p, errors.New("none of its operations can be proposed")
	}
	return p, nil
}

// drafter chooses what the project's operations share.
func (d *Document) drafter(b base, operations []operation, o Options) *drafter {
	r := &drafter{base: b, names: names{}, riskBased: o.RiskBased, fixed: fixedHeaders(operations)}
	r.known = d.schemes()
	r.scheme = r.known.choose(operations)
	for i, name := range r.scheme {
		auth := r.known.usable[name]
		if i < len(o.CredentialEnv) {
			auth.CredentialEnv = o.CredentialEnv[i]
		} else {
			auth.CredentialEnv = credentialName(o.ProjectID, auth, len(r.scheme) > 1)
		}
		r.auths = append(r.auths, auth)
	}
	return r
}

// draftAll makes what drafts can be made and notes the others.
func (d *Document) draftAll(p *Proposal, r *drafter, operations []operation) (drafts []*draft) {
	for _, op := range operations {
		made, why := r.draft(op)
		if why != nil {
			p.Skipped = append(p.Skipped, Skipped{op.method, short(op.path, 300), why.reason, why.words})
			p.Reasons[why.reason]++
			continue
		}
		drafts = append(drafts, made)
	}
	p.authToFillIn(r)
	return drafts
}

// finish chooses probes and counts.
func (p *Proposal) finish(drafts []*draft) {
	p.Probes = probes(drafts)
	if p.Project.HealthPath = healthPath(drafts); p.Project.HealthPath == "" {
		p.FillIn = append(p.FillIn, "healthPath: a GET that answers 2xx with the credential; without it the health check asks for /")
	}
	for _, d := range drafts {
		p.Project.Capabilities = append(p.Project.Capabilities, d.capability)
		line := d.line()
		p.Proposed = append(p.Proposed, line)
		if line.SideEffect && !d.capability.NeedsApproval() {
			p.Unasked++
		}
	}
	p.measure()
}

// measure computes the project's size, and how many capabilities fit in one request.
func (p *Proposal) measure() {
	whole, err := countersign.Marshal(p.Project)
	if err != nil {
		panic(err) // never happens: the project has only strings, numbers and booleans
	}
	p.Bytes, p.Fits = len(whole), len(p.Project.Capabilities)
	if !p.TooLarge() {
		return
	}
	size := len(whole)
	for p.Fits > 0 && size > countersign.MaxBodyBytes {
		p.Fits--
		one, err := countersign.Marshal(p.Project.Capabilities[p.Fits])
		if err != nil {
			panic(err)
		}
		size -= len(one) + 1 // the comma
	}
}

// authToFillIn says what is missing: the user of BASIC, or everything where no scheme of
// the document serves.
func (p *Proposal) authToFillIn(r *drafter) {
	for i, a := range r.auths {
		if a.Type == countersign.AuthBasic {
			p.FillIn = append(p.FillIn, "auth"+map[bool]string{true: fmt.Sprintf("[%d]", i)}[len(r.auths) > 1]+".user: the user, in place of "+a.User+"; the variable holds the password")
		}
	}
	if len(r.auths) > 0 {
		return
	}
	words := "auth: the document names no authentication; without any only reads may be registered"
	if len(r.known.others) > 0 {
		words = "auth: none of the document's serves"
	}
	for _, name := range slices.Sorted(maps.Keys(r.known.others)) {
		words += "; " + short(name, 60) + " is " + r.known.others[name]
	}
	p.FillIn = append(p.FillIn, words+`. Choose one: {"type":"BEARER","credentialEnv":"NAME"}, API_KEY with a headerName, BASIC with a user, HMAC where the API verifies the runtime's signatures, or an array of up to three`)
}
