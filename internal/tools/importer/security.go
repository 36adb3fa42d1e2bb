package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/project"
)

// schemes are the document's security schemes: the ones that a project can use, by name, and
// for each other one the reason why not.
type schemes struct {
	usable map[string]countersign.Auth
	others map[string]string
}

func (d *Document) schemes(credentialEnv func(authType string) string) schemes {
	s := schemes{map[string]countersign.Auth{}, map[string]string{}}
	declared := d.top().at("components").at("securitySchemes")
	for _, name := range declared.keys() {
		n, why := declared.at(name).resolved()
		if why != nil {
			s.others[name] = why.words
			continue
		}
		auth, words := authOf(n)
		if words != "" {
			s.others[name] = words
			continue
		}
		auth.CredentialEnv = credentialEnv(auth.Type)
		s.usable[name] = auth
	}
	return s
}

// authOf is the authentication for a security scheme, or the reason why a project can't use
// the scheme.
func authOf(n node) (countersign.Auth, string) {
	kind, where := n.at("type").text(), n.at("in").text()
	switch {
	case kind == "http" && strings.EqualFold(n.at("scheme").text(), "bearer"):
		return countersign.Auth{Type: countersign.AuthBearer}, ""
	case kind == "http":
		return countersign.Auth{}, fmt.Sprintf("HTTP %s, which the runtime doesn't speak", short(n.at("scheme").text(), 40))
	case kind == "apiKey" && where == "header":
		auth := countersign.Auth{Type: countersign.AuthAPIKey, HeaderName: n.at("name").text()}
		if !allowed(auth) {
			return auth, fmt.Sprintf("an API key in the header %s, which is reserved or no header name", quoted(auth.HeaderName))
		}
		return auth, ""
	case kind == "apiKey":
		return countersign.Auth{}, "an API key in the " + short(where, 20) + ", where it would be logged or stored; only headers carry one"
	case kind == "oauth2" || kind == "openIdConnect":
		return countersign.Auth{}, short(kind, 20) + ": the runtime fetches and refreshes no tokens; BEARER serves with a long-lived one"
	default:
		return countersign.Auth{}, quoted(kind) + ", which the runtime doesn't speak"
	}
}

// allowed applies the service's own rule.
func allowed(a countersign.Auth) bool {
	a.CredentialEnv = "X"
	_, err := project.Validate("", countersign.ProjectWrite{Name: "x", Adapter: countersign.AdapterHTTPJSON, BaseURL: "https://x", Auth: countersign.OneAuth(a)},
		project.Allowed{Origins: []string{"https://x"}, Credentials: credential.Plain(nil, []string{"X"})})
	return err == nil
}

// alternatives are the sets of schemes of which an operation requires one; nil if the
// operation has no security requirement.
func (o operation) alternatives() [][]string {
	n := o.at("security")
	if !o.has("security") {
		n = o.doc.top().at("security")
	}
	var out [][]string
	for _, set := range n.list() {
		out = append(out, set.keys())
	}
	return out
}

// accepts reports whether an operation can be called with this scheme alone, or without any.
func accepts(alternatives [][]string, scheme string) bool {
	return len(alternatives) == 0 || slices.ContainsFunc(alternatives, func(set []string) bool {
		return len(set) == 0 || len(set) == 1 && set[0] == scheme
	})
}

// choose returns the usable scheme that most operations accept, "" if there is none.
func (s schemes) choose(operations []operation) string {
	best, most := "", -1
	counts := map[string]int{}
	for _, o := range operations {
		for _, set := range o.alternatives() {
			if len(set) == 1 {
				counts[set[0]]++
			}
		}
	}
	for name := range s.usable {
		if counts[name] > most || counts[name] == most && name < best {
			best, most = name, counts[name]
		}
	}
	return best
}

// credentialName is the name that is proposed for the project's credential variable.
func credentialName(projectID, authType string) string {
	upper := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		default:
			return '_'
		}
	}, projectID)
	if authType == countersign.AuthAPIKey {
		return upper + "_API_KEY"
	}
	return upper + "_TOKEN"
}
