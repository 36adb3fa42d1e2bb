package project

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// authentication checks the shape of a project's outbound authentication.
func authentication(p *countersign.Project) []countersign.Problem {
	if p.Auth != nil && p.AuthSecretEnv != "" {
		return []countersign.Problem{problem("authSecretEnv", "it is legacy and can't stand beside auth; keep auth")}
	}
	var out []countersign.Problem
	for i, a := range p.Auth.List() {
		out = append(out, authFields(AuthPath(p, i), a)...)
	}
	if p.Auth != nil && p.Auth.One == nil {
		out = append(out, together(p.Auth.Several)...)
	}
	if len(p.EffectiveAuths()) == 0 && (p.Auth != nil || p.Adapter == countersign.AdapterHTTPJSON) {
		out = append(out, onlyReads(p)...)
	}
	return out
}

// AuthPath is where the document says how a project authenticates, in the i-th of its
// ways.
func AuthPath(p *countersign.Project, i int) string {
	if p.Auth == nil || p.Auth.One != nil {
		return "auth"
	}
	return fmt.Sprintf("auth[%d]", i)
}

// together: so many, and no header is set by two of them. That leaves one HMAC at most.
func together(list []countersign.Auth) []countersign.Problem {
	var out []countersign.Problem
	if len(list) == 0 || len(list) > countersign.MaxAuths {
		out = append(out, problem("auth", fmt.Sprintf("an array has 1 to %d objects, not %d", countersign.MaxAuths, len(list))))
	}
	first := map[string]int{}
	for i, a := range list {
		path, header := fmt.Sprintf("auth[%d]", i), request.AuthHeader(a)
		j, taken := first[strings.ToLower(header)]
		switch {
		case a.Type == countersign.AuthNone:
			out = append(out, problem(path+".type", "NONE stands alone, as an object"))
		case header == "": // authFields says what is missing
		case taken:
			out = append(out, problem(path, fmt.Sprintf("%s would set the header %s, and so would auth[%d] (%s)", a.Type, header, j, list[j].Type)))
		default:
			first[strings.ToLower(header)] = i
		}
	}
	return out
}

func authFields(path string, a countersign.Auth) []countersign.Problem {
	var out []countersign.Problem
	if a.Type == countersign.AuthNone {
		if a.CredentialEnv != "" || a.HeaderName != "" || a.User != "" {
			out = append(out, problem(path, "NONE takes neither credentialEnv nor headerName nor user"))
		}
		return out
	}
	if a.CredentialEnv == "" {
		out = append(out, problem(path+".credentialEnv", a.Type+" needs the name of a server environment variable"))
	}
	switch {
	case a.Type == countersign.AuthBasic && !usableUser(a.User):
		out = append(out, problem(path+".user", "BASIC needs the user: 1 to 128 visible ASCII characters without a colon"))
	case a.Type != countersign.AuthBasic && a.User != "":
		out = append(out, problem(path+".user", "only BASIC takes one"))
	}
	switch {
	case a.Type == countersign.AuthAPIKey && a.HeaderName == "":
		out = append(out, problem(path+".headerName", "API_KEY needs the header that carries the key"))
	case a.Type != countersign.AuthAPIKey && a.HeaderName != "":
		out = append(out, problem(path+".headerName", "only API_KEY takes one"))
	case a.HeaderName != "" && !usableHeader(a.HeaderName):
		out = append(out, problem(path+".headerName", fmt.Sprintf("%s is reserved or no header name; choose one such as X-Api-Key", a.HeaderName)))
	}
	return out
}

// onlyReads: without authentication only public reads may be called.
func onlyReads(p *countersign.Project) []countersign.Problem {
	var out []countersign.Problem
	for i, c := range p.Capabilities {
		if c.Method != "GET" {
			out = append(out, problem(fmt.Sprintf("capabilities[%d].method", i), "without authentication (NONE) only GET is allowed"))
		}
	}
	return out
}

// reservedHeaders are those that a key must not replace (specification 5.2,
// contract 8); the prefixes below likewise.
var reservedHeaders = map[string]bool{
	"cookie": true, "host": true, "authorization": true, "idempotency-key": true, "user-agent": true, "accept": true,
	"accept-encoding": true, // no compression is asked for
	"connection":      true, "keep-alive": true, "proxy-authenticate": true, "proxy-authorization": true, "proxy-connection": true,
	"te": true, "trailer": true, "trailers": true, "transfer-encoding": true, "upgrade": true, "expect": true, "set-cookie": true,
}

var reservedPrefixes = []string{"x-runtime-", "content-", "x-forwarded-"}

// methodHeaders are those by which receivers are asked for another method than the one that
// approvers see. Some receivers take an underscore for a hyphen.
var methodHeaders = map[string]bool{"x-http-method": true, "x-http-method-override": true, "x-method-override": true}

func changesMethod(name string) bool {
	return methodHeaders[strings.ReplaceAll(strings.ToLower(name), "_", "-")]
}

func usableHeader(name string) bool {
	lower := strings.ToLower(name)
	if reservedHeaders[lower] || changesMethod(name) || len(name) > 64 {
		return false
	}
	for _, prefix := range reservedPrefixes {
		if strings.HasPrefix(lower, prefix) {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return !isTokenRune(r) })
}

// isTokenRune reports a character of RFC 9110's token.
func isTokenRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

func usableUser(user string) bool {
	return user != "" && len(user) <= 128 && !strings.ContainsFunc(user, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == ':' })
}

// A project has so many headers at most, of such values.
const (
	maxHeaders     = 20
	maxHeaderValue = 1024
)

// headers: none that a key may not replace, and none twice in another case.
func headers(p *countersign.Project) []countersign.Problem {
	var out []countersign.Problem
	if len(p.Headers) > maxHeaders {
		out = append(out, problem("headers", fmt.Sprintf("a project has at most %d", maxHeaders)))
	}
	taken := map[string]string{}
	for i, a := range p.Auth.List() {
		if a.HeaderName != "" {
			taken[strings.ToLower(a.HeaderName)] = AuthPath(p, i) + ".headerName"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Headers)) {
		path, lower := "headers."+name, strings.ToLower(name)
		switch by := taken[lower]; {
		case changesMethod(name):
			out = append(out, problem(path, changedMethod))
		case lower == "accept" && !request.IsJSONMediaType(p.Headers[name]):
			out = append(out, problem(path, "it must be a JSON media type, such as application/vnd.example+json; the runtime reads nothing else"))
		case lower == "accept" && by != "":
			out = append(out, problem(path, by+" is the same header"))
		case lower == "accept":
		case name == "" || !usableHeader(name):
			out = append(out, problem(path, "it is reserved or no header name; choose one such as X-Api-Version"))
		case by != "":
			out = append(out, problem(path, by+" is the same header"))
		case !usableValue(p.Headers[name]):
			out = append(out, problem(path, fmt.Sprintf("its value must be 1 to %d visible ASCII characters and spaces between them", maxHeaderValue)))
		}
		taken[lower] = path
	}
	return out
}

// changedMethod is why such a header is refused.
const changedMethod = "it asks the receiver for another method than approvers see; make it a capability of that method"

// MethodHeaders are those of a stored project's headers that are refused since they ask for
// another method: they go on until the project is edited.
func MethodHeaders(p *countersign.Project) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(p.Headers)) {
		if changesMethod(name) {
			names = append(names, name)
		}
	}
	for _, a := range p.Auth.List() {
		if changesMethod(a.HeaderName) {
			names = append(names, a.HeaderName)
		}
	}
	return names
}

func usableValue(v string) bool {
	return v != "" && len(v) <= maxHeaderValue && v == strings.TrimSpace(v) && !strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r >= 0x7f })
}
