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
	Name          string              // default: the document's title
	BaseURL       string              // default: the document's first server
	CredentialEnv []string            // one for each key, in the order proposed; default: made of the project's id
	Auth          []string            // names of the document's schemes, or BEARER, BASIC:USER, HMAC, API_KEY:HEADER; default: what most operations ask for
	Headers       countersign.Headers // sent with each call, in place of the document's
	RiskBased     bool                // RISK_BASED instead of ALWAYS where the document says idempotent
	Policies      map[string]string   // approval by tag; of reads ALWAYS only
	PathText      bool                // pathText for what needs more than ids in a path
	Adapter       bool                // one stands before the API: it makes forms of bodies, and sends the runtime's key under the API's own name
	Location      *url.URL            // where the document was read from, nil for a file
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
		Proposed: []Proposed{}, Skipped: []Skipped{}, Reasons: map[Reason]int{}, FillIn: []string{}, Headers: []Header{},
	}}
	r, err := d.drafter(base, operations, o)
	if err != nil {
		return nil, err
	}
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
	p.headersToFillIn(drafts, r)
	p.finish(drafts, o.Adapter)
	if len(drafts) == 0 {
		return p, errors.New("none of its operations can be proposed")
	}
	return p, nil
}

// drafter chooses what the project's operations share.
func (d *Document) drafter(base base, operations []operation, o Options) (*drafter, error) {
	r := &drafter{base: base, names: names{}, asked: map[string]bool{}, known: d.schemes(), Options: o}
	chosen, auths, err := r.known.told(o.Auth)
	if err != nil {
		return nil, err
	}
	if r.scheme, r.told = chosen, len(chosen) < len(o.Auth); len(auths) == 0 {
		r.scheme = r.known.choose(operations)
		for _, name := range r.scheme {
			if auth := r.known.usable[name]; !slices.Contains(auths, auth) {
				auths = append(auths, auth)
			}
		}
	}
	if len(auths) == 0 {
		auths = r.keysInHeaders(operations)
	}
	for i, auth := range auths {
		if i < len(o.CredentialEnv) {
			auth.CredentialEnv = o.CredentialEnv[i]
		} else {
			auth.CredentialEnv = credentialName(o.ProjectID, auth, len(auths) > 1)
		}
		r.auths = append(r.auths, auth)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Headers)) {
		if !r.sendable(name, o.Headers[name]) {
			return nil, fmt.Errorf("--header: %s=%s can't be sent with each call: the name is reserved or none, or the value isn't 1 to 1024 visible ASCII characters (for Accept: a JSON media type)", short(name, 80), short(o.Headers[name], 80))
		}
	}
	r.fixed = r.fixedHeaders(operations, o.Headers)
	return r, nil
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
	if len(r.scheme) > 0 && len(r.auths) == 1 {
		p.OAuth = r.oauthOf(r.known.nodes[r.scheme[0]])
	}
	p.authToFillIn(r)
	return drafts
}

// finish chooses probes and counts.
func (p *Proposal) finish(drafts []*draft, adapter bool) {
	p.Probes = probes(drafts)
	if p.Project.HealthPath = healthPath(drafts); p.Project.HealthPath == "" && !adapter { // an adapter has one of its own
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
	p.Groups = groups(p.Proposed)
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

// authToFillIn says what is missing: the user of BASIC, a token that somebody has to make, or
// everything where no scheme of the document serves.
func (p *Proposal) authToFillIn(r *drafter) {
	for i, a := range r.auths {
		if a.Type == countersign.AuthBasic && a.User == "USER" {
			p.FillIn = append(p.FillIn, "auth"+map[bool]string{true: fmt.Sprintf("[%d]", i)}[len(r.auths) > 1]+".user: the user, in place of "+a.User+"; the variable holds the password")
		}
	}
	for _, name := range r.scheme {
		if open := r.known.open[name]; open != "" && (!r.Adapter || p.OAuth == nil) { // an adapter fetches tokens
			p.FillIn = append(p.FillIn, "auth: the variable's value: "+quoted(name)+" "+open)
		}
	}
	if len(r.auths) > 0 {
		return
	}
	words := "auth: the document names no authentication; without any only reads may be registered"
	if len(r.known.others)+len(r.known.usable) > 0 {
		words = "auth: none of the document's serves"
	}
	for _, name := range slices.Sorted(maps.Keys(r.known.others)) {
		words += "; " + short(name, 60) + " is " + r.known.others[name]
	}
	p.FillIn = append(p.FillIn, words+`. Choose one with --auth, or write it: {"type":"BEARER","credentialEnv":"NAME"}, API_KEY with a headerName, BASIC with a user, HMAC where the API verifies the runtime's signatures, or an array of up to three`)
}

// headersToFillIn names each header that goes out with all calls, and those without a value.
func (p *Proposal) headersToFillIn(drafts []*draft, r *drafter) {
	wants := map[string]int{}
	for _, d := range drafts {
		for _, lower := range d.sent {
			wants[r.fixed[lower].name]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Project.Headers)) {
		value := p.Project.Headers[name]
		p.Headers = append(p.Headers, Header{name, value, wants[name]})
		if value == "" {
			p.FillIn = append(p.FillIn, fmt.Sprintf("headers.%s: its value, which %d of %d operations require and the document doesn't say; --header %s=VALUE", short(name, 80), wants[name], len(drafts), short(name, 80)))
		}
	}
	others := map[string]int{}
	for _, d := range drafts {
		if d.otherAuth != "" {
			others[d.otherAuth]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		p.FillIn = append(p.FillIn, fmt.Sprintf("auth: %d operations want a credential in the header %s besides; the project's is sent where they name a scheme, and --auth API_KEY:%s sends it there", others[name], quoted(name), short(name, 80)))
	}
	var texts []string
	for _, d := range drafts {
		for _, name := range d.needText {
			texts = append(texts, d.capability.Name+"."+name)
		}
	}
	if len(texts) > 0 && !r.PathText {
		p.FillIn = append(p.FillIn, fmt.Sprintf("pathText: %d inputs of paths take values that are no ids, and only ids are let through (%s); --path-text proposes it for them, percent-encoded whole", len(texts), few(texts)))
	}
}
