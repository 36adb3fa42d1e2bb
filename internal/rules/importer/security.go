package importer

import (
	"cmp"
	"fmt"
	"maps"
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
	open   map[string]string // what the document leaves open of a usable one
	nodes  map[string]node
}

func (d *Document) schemes() schemes {
	s := schemes{map[string]countersign.Auth{}, map[string]string{}, map[string]string{}, map[string]node{}}
	components, _ := d.top().at("components").resolved() // what can't be read declares nothing
	declared, _ := components.at("securitySchemes").resolved()
	if d.swagger {
		declared = d.top().at("securityDefinitions")
	}
	for _, name := range declared.keys() {
		n, why := declared.at(name).resolved()
		if why != nil {
			s.others[name] = why.words
			continue
		}
		s.nodes[name] = n
		auth, words, open := authOf(n)
		if words != "" {
			s.others[name] = words
			continue
		}
		if s.usable[name] = auth; open != "" {
			s.open[name] = open
		}
	}
	return s
}

const inAuthorization = "is the header Authorization, and the document doesn't say what stands before the key: a project sends 'Bearer'; another word, such as Token or Bot, or none, is sent by 'countersign adapter' (--adapter)"

// authOf is the authentication for a security scheme, with what has to be filled in of it, or
// the reason why a project can't use the scheme.
func authOf(n node) (_ countersign.Auth, words, open string) {
	kind, where := n.at("type").text(), n.at("in").text()
	switch {
	case kind == "http" && strings.EqualFold(n.at("scheme").text(), "bearer"):
		return countersign.Auth{Type: countersign.AuthBearer}, "", ""
	case kind == "http" && strings.EqualFold(n.at("scheme").text(), "basic"), kind == "basic":
		return countersign.Auth{Type: countersign.AuthBasic, User: "USER"}, "", ""
	case kind == "http":
		return countersign.Auth{}, fmt.Sprintf("HTTP %s, which the runtime doesn't speak", short(n.at("scheme").text(), 40)), ""
	case kind == "apiKey" && where == "header" && strings.EqualFold(n.at("name").text(), "Authorization"):
		return countersign.Auth{Type: countersign.AuthBearer}, "", inAuthorization
	case kind == "apiKey" && where == "header":
		auth := countersign.Auth{Type: countersign.AuthAPIKey, HeaderName: n.at("name").text()}
		if !allowed(auth) {
			return auth, fmt.Sprintf("an API key in the header %s, which is reserved or no header name", quoted(auth.HeaderName)), ""
		}
		return auth, "", ""
	case kind == "apiKey":
		return countersign.Auth{}, "an API key in the " + short(where, 20) + ", where it would be logged or stored; only headers carry one", ""
	case kind == "oauth2" || kind == "openIdConnect":
		return countersign.Auth{Type: countersign.AuthBearer}, "", "is " + kind + ": the runtime fetches and refreshes no tokens, so make one that lives long; where the API has none, 'countersign adapter' fetches them (--adapter)"
	default:
		return countersign.Auth{}, quoted(kind) + ", which the runtime doesn't speak", ""
	}
}

// keysInHeaders are what most operations require in headers with the names of secrets, of a
// document whose schemes don't serve: many describe their keys so.
func (r *drafter) keysInHeaders(operations []operation) (auths []countersign.Auth) {
	wants, names := map[string]int{}, map[string]string{}
	for _, o := range operations {
		for _, p := range o.params {
			if lower := strings.ToLower(p.name); p.in == "header" && p.required && secretName(p.name) && !ownKey(p.name) {
				wants[lower]++
				names[lower] = p.name
			}
		}
	}
	for _, lower := range slices.SortedFunc(maps.Keys(wants), func(a, b string) int { return cmp.Or(wants[b]-wants[a], cmp.Compare(a, b)) }) {
		auth := countersign.Auth{Type: countersign.AuthAPIKey, HeaderName: names[lower]}
		if lower == "authorization" {
			auth = countersign.Auth{Type: countersign.AuthBearer}
		}
		if more := append(slices.Clone(auths), auth); 2*wants[lower] > len(operations) && len(more) <= countersign.MaxAuths && allowed(more...) {
			auths, r.told = more, true
			if lower == "authorization" {
				r.known.open[names[lower]], r.scheme = inAuthorization, []string{names[lower]}
			}
		}
	}
	return auths
}

// allowed asks the service's own rule.
func allowed(auths ...countersign.Auth) bool {
	several := slices.Clone(auths)
	for i := range several {
		several[i].CredentialEnv = "X"
	}
	return registered(countersign.ProjectWrite{Auth: &countersign.Auths{Several: several}})
}

// registered reports whether the service takes what is given of a project.
func registered(w countersign.ProjectWrite) bool {
	w.Name, w.Adapter, w.BaseURL = "x", countersign.AdapterHTTPJSON, "https://x"
	_, err := project.Validate(nil, "", w, project.Allowed{Origins: []string{"https://x"}, Credentials: credential.Plain(nil, []string{"X"})})
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

// accepts reports an operation that can be called with these schemes, or without any.
func (s schemes) accepts(alternatives [][]string, chosen []string) bool {
	return len(alternatives) == 0 || slices.ContainsFunc(alternatives, func(set []string) bool { return s.within(set, chosen) })
}

// within reports schemes that are all among the chosen ones. A token of OAuth or OpenID is
// sent as any bearer's, so that they stand for each other; two keys that a document names
// apart are two.
func (s schemes) within(set, chosen []string) bool {
	return !slices.ContainsFunc(set, func(name string) bool {
		return !slices.ContainsFunc(chosen, func(c string) bool {
			a, usable := s.usable[name]
			return name == c || usable && a == s.usable[c] && (s.open[name] != "" || s.open[c] != "")
		})
	})
}

// other is why an operation isn't called with the chosen schemes, and what would call it.
func (s schemes) other(alternatives [][]string, chosen []string) *refusal {
	words := "its authentication is"
	for i, set := range alternatives[:min(len(alternatives), 3)] {
		if s.together(set) {
			return refuse(AuthenticationOther, "it takes %s, and the others %s; import it as another project with --auth %s", quoted(strings.Join(set, " and ")), quoted(strings.Join(chosen, " and ")), short(strings.Join(set, " --auth "), 80))
		}
		if i > 0 {
			words += "; or"
		}
		for _, name := range set {
			said := cmp.Or(s.others[name], "which can't stand beside another")
			if _, usable := s.usable[name]; !usable && s.others[name] == "" {
				said = "which the document doesn't declare"
			}
			words += fmt.Sprintf(" %s, %s", quoted(name), said)
		}
	}
	return refuse(AuthenticationOther, "%s; --auth BEARER, BASIC, HMAC or API_KEY:HEADER says what serves instead", words)
}

// maxChoices is how many sets of schemes are compared, the ones that most operations name
// first: a document may name as many as it has operations.
const maxChoices = 32

// choose takes the schemes that most operations ask for, nil where none can be used: of
// those that serve as many the fewest, and rather those that leave nothing to fill in.
func (s schemes) choose(operations []operation) (best []string) {
	var asked [][][]string
	for _, o := range operations {
		asked = append(asked, o.alternatives())
	}
	most := -1
	for _, set := range s.choices(asked) {
		n := 0
		for _, alternatives := range asked {
			if slices.ContainsFunc(alternatives, func(a []string) bool { return len(a) > 0 && s.within(a, set) }) {
				n++
			}
		}
		if cmp.Or(n-most, len(best)-len(set), s.users(best)-s.users(set)) > 0 {
			best, most = set, n
		}
	}
	return best
}

// choices are sets that a project can have, in one order: those that operations name, or
// else each scheme alone.
func (s schemes) choices(asked [][][]string) (out [][]string) {
	sets, counts := map[string][]string{}, map[string]int{}
	for _, alternatives := range asked {
		for _, set := range alternatives {
			key := strings.Join(set, "\n")
			sets[key] = set
			counts[key]++
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(sets), func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) }) {
		if len(out) < maxChoices && s.together(sets[key]) {
			out = append(out, sets[key])
		}
	}
	slices.SortFunc(out, slices.Compare)
	if len(sets) == 0 && len(s.usable) > 0 {
		out = [][]string{{slices.Min(slices.Collect(maps.Keys(s.usable)))}}
	}
	return out
}

// together reports schemes that one project can have.
func (s schemes) together(set []string) bool {
	var auths []countersign.Auth
	for _, name := range set {
		auth, usable := s.usable[name]
		if !usable {
			return false
		}
		if !slices.Contains(auths, auth) {
			auths = append(auths, auth)
		}
	}
	return len(auths) > 0 && len(auths) <= countersign.MaxAuths && allowed(auths...)
}

// told reads what the caller says of authentication: names of the document's schemes, or types
// of a project's auth, which are then taken to be what each operation asks for.
func (s schemes) told(words []string) (chosen []string, auths []countersign.Auth, _ error) {
	for _, word := range words {
		kind, rest, _ := strings.Cut(word, ":")
		switch auth, declared := s.usable[word]; {
		case declared:
			chosen, auths = append(chosen, word), append(auths, auth)
		case s.others[word] != "":
			return nil, nil, fmt.Errorf("--auth: %s is %s", quoted(word), s.others[word])
		case kind == countersign.AuthBearer, kind == countersign.AuthHMAC:
			auths = append(auths, countersign.Auth{Type: kind})
		case kind == countersign.AuthBasic:
			auths = append(auths, countersign.Auth{Type: kind, User: cmp.Or(rest, "USER")})
		case kind == countersign.AuthAPIKey && rest != "":
			auths = append(auths, countersign.Auth{Type: kind, HeaderName: rest})
		default:
			return nil, nil, fmt.Errorf("--auth: %s is none of the document's schemes that can be used (%s), and not BEARER, BASIC, BASIC:USER, HMAC or API_KEY:HEADER", quoted(word), few(slices.Sorted(maps.Keys(s.usable))))
		}
	}
	if len(auths) > 0 && !allowed(auths...) {
		return nil, nil, fmt.Errorf("--auth: a project can't authenticate so: at most %d, and no two that set one header", countersign.MaxAuths)
	}
	return chosen, auths, nil
}

// users counts the schemes of which the document doesn't tell the user.
func (s schemes) users(set []string) (n int) {
	for _, name := range set {
		if s.usable[name].User != "" {
			n++
		}
	}
	return n
}

// credentialName is the environment variable that is proposed for a key of a project, or
// for one of several.
func credentialName(projectID string, a countersign.Auth, several bool) string {
	words := map[string]string{countersign.AuthAPIKey: "API_KEY", countersign.AuthBasic: "PASSWORD"}
	name := cmp.Or(words[a.Type], "TOKEN")
	if several && a.HeaderName != "" {
		name = a.HeaderName
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		default:
			return '_'
		}
	}, projectID+"_"+name)
}
