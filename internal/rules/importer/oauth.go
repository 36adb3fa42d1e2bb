package importer

import "net/url"

// OAuth is what a document says of the tokens that its operations take.
type OAuth struct {
	TokenURL string // "" where it isn't on the API's own origin: nobody else gets a secret by a document's word
	Refresh  bool   // a person agreed once, and what came of it is refreshed
}

// oauthOf is the flow by which a program gets tokens of a scheme, nil where there is none.
func (r *drafter) oauthOf(scheme node) *OAuth {
	if !scheme.present() || scheme.at("type").text() != "oauth2" {
		return nil
	}
	flows, _ := scheme.at("flows").resolved() // what can't be read is none
	byProgram, byPerson := flows.at("clientCredentials"), []node{flows.at("authorizationCode"), flows.at("password")}
	if scheme.doc.swagger {
		byProgram, byPerson = node{}, []node{scheme}
		if scheme.at("flow").text() == "application" {
			byProgram = scheme
		}
	}
	if byProgram.present() {
		return &OAuth{TokenURL: r.onOrigin(byProgram.at("tokenUrl").text())}
	}
	for _, flow := range byPerson {
		if address := flow.at("tokenUrl").text(); address != "" {
			return &OAuth{TokenURL: r.onOrigin(address), Refresh: true}
		}
	}
	return nil
}

// onOrigin is an address on the origin of the proposed server, "" for another.
func (r *drafter) onOrigin(text string) string {
	base, err := url.Parse(r.base.proposed.origin)
	if err != nil || len(text) > 2000 {
		return ""
	}
	address, err := base.Parse(text)
	if err != nil || address.Scheme != base.Scheme || address.Host != base.Host || address.User != nil || address.RawQuery != "" || address.Fragment != "" {
		return ""
	}
	return address.String()
}
