package importer

import (
	"cmp"
	"errors"
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
	CredentialEnv string   // default: made from the project's id
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
	drafts, auth := d.draftAll(p, base, operations, o)
	p.Project = countersign.ProjectWrite{
		Name: cmp.Or(o.Name, p.Title, o.ProjectID), Adapter: countersign.AdapterHTTPJSON, BaseURL: base.proposed.origin,
		Capabilities: []countersign.Capability{},
	}
	if auth != nil {
		p.Project.Auth = countersign.OneAuth(*auth)
	}
	p.finish(drafts)
	if len(drafts) == 0 {
		return p, errors.New("none of its operations can be proposed")
	}
	return p, nil
}

// draftAll makes the drafts, and reports the operations for which there is none.
func (d *Document) draftAll(p *Proposal, b base, operations []operation, o Options) ([]*draft, *countersign.Auth) {
	known := d.schemes(func(authType string) string {
		return cmp.Or(o.CredentialEnv, credentialName(o.ProjectID, authType))
	})
	r := drafter{base: b, scheme: known.choose(operations), names: names{}, riskBased: o.RiskBased}
	if auth, ok := known.usable[r.scheme]; ok {
		r.auth = &auth
	}
	var drafts []*draft
	for _, op := range operations {
		made, why := r.draft(op)
		if why != nil {
			p.Skipped = append(p.Skipped, Skipped{op.method, short(op.path, 300), why.reason, why.words})
			p.Reasons[why.reason]++
			continue
		}
		drafts = append(drafts, made)
	}
	p.authToFillIn(r.auth, known)
	return drafts, r.auth
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

// authToFillIn says what a person must fill in if no scheme of the document can be used.
func (p *Proposal) authToFillIn(auth *countersign.Auth, known schemes) {
	if auth != nil {
		return
	}
	words := "auth: the document names no authentication; without any only reads may be registered"
	if len(known.others) > 0 {
		words = "auth: none of the document's serves"
	}
	for _, name := range slices.Sorted(maps.Keys(known.others)) {
		words += "; " + short(name, 60) + " is " + known.others[name]
	}
	p.FillIn = append(p.FillIn, words+`. Choose one: {"type":"BEARER","credentialEnv":"NAME"}, API_KEY with a headerName, or HMAC where the API verifies the runtime's signatures`)
}
