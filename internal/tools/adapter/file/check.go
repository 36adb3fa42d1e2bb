package file

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/countersign/countersign/internal/rules/request"
)

type problem struct {
	line        int
	path, words string
}

type check struct {
	root     *yaml.Node
	problems []problem
}

func (c *check) say(path, format string, args ...any) {
	c.problems = append(c.problems, problem{at(c.root, path), path, fmt.Sprintf(format, args...)})
}

// that says a thing unless it holds.
func (c *check) that(holds bool, path, format string, args ...any) {
	if !holds {
		c.say(path, format, args...)
	}
}

var (
	nameForm   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	envForm    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	tokenForm  = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	placeForm  = regexp.MustCompile(`\{[^{}/]+\}`)
)

func (c *check) file(f *File) {
	_, port, err := net.SplitHostPort(f.Listen)
	_, number := strconv.ParseUint(port, 10, 16)
	c.that(err == nil && number == nil, "listen", "must be host:port, such as 127.0.0.1:8090")
	if f.TLS != nil {
		c.files("tls", f.TLS.CertFile, f.TLS.KeyFile)
	}
	c.that(f.Store != "", "store", "must be the directory in which keys and answers are kept")
	c.that(f.OpenAPI == "" || f.OpenAPI == "public", "openapi", `must be "public" or left out`)
	c.that(len(f.Upstreams) > 0, "upstreams", "there must be one at least")
	var taken []string
	for i := range f.Upstreams {
		taken = append(taken, f.Upstreams[i].Secrets()...)
	}
	seen := map[string]bool{}
	for i := range f.Upstreams {
		u, path := &f.Upstreams[i], fmt.Sprintf("upstreams[%d]", i)
		c.that(nameForm.MatchString(u.Name), path+".name", "must be small letters, digits and hyphens")
		c.that(!seen[u.Name], path+".name", "%q is there already", u.Name)
		seen[u.Name] = true
		c.env(path+".secretEnv", u.SecretEnv, true)
		c.env(path+".answerKeyEnv", u.AnswerKeyEnv, false)
		c.that((u.MCP == nil) != (u.HTTP == nil), path, "must have either mcp or http")
		if u.MCP != nil {
			c.mcp(path+".mcp", u.MCP, taken)
		}
		if u.HTTP != nil {
			c.http(path+".http", u.HTTP)
		}
	}
}

// Variables are all that FILE names with secrets of the adapter or of a command.
func (f *File) Variables() (names []string) {
	for i := range f.Upstreams {
		u := &f.Upstreams[i]
		names = append(names, u.Secrets()...)
		if u.MCP != nil {
			names = append(names, u.MCP.Env...)
		}
	}
	return names
}

// Secrets are the variables with secrets of the adapter that an upstream names: no command gets
// one of them.
func (u *Upstream) Secrets() []string {
	return append(u.Needs(), present(u.SecretEnv, u.AnswerKeyEnv)...)
}

// Needs are the variables without which an upstream isn't called.
func (u *Upstream) Needs() []string {
	if a := u.auth(); a != nil {
		return present(a.CredentialEnv, a.ClientIDEnv, a.ClientSecretEnv, a.RefreshTokenEnv)
	}
	return nil
}

func present(names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

func (u *Upstream) auth() *Auth {
	switch {
	case u.MCP != nil:
		return u.MCP.Auth
	case u.HTTP != nil:
		return u.HTTP.Auth
	}
	return nil
}

func (c *check) env(path, name string, required bool) {
	if name != "" || required {
		c.that(envForm.MatchString(name), path, "must be the name of an environment variable, never a secret itself")
	}
}

func (c *check) files(path, cert, key string) {
	for name, file := range map[string]string{".certFile": cert, ".keyFile": key} {
		_, err := os.Stat(file)
		c.that(err == nil, path+name, "must name a file in PEM that is there")
	}
}

func (c *check) mcp(path string, m *MCP, taken []string) {
	c.that((len(m.Command) == 0) != (m.URL == ""), path, "must have either command or url")
	if len(m.Command) > 0 {
		c.that(m.Command[0] != "", path+".command", "must begin with a program")
		c.that(m.Auth == nil && len(m.Headers) == 0, path, "headers and auth are for a url; a command gets what env names")
		for i, name := range m.Env {
			at := fmt.Sprintf("%s.env[%d]", path, i)
			c.env(at, name, true)
			c.that(name != "HOME" && name != "PATH", at, "a command has a PATH and a HOME already")
			c.that(!slices.Contains(taken, strings.TrimSuffix(name, "_FILE")) && !slices.Contains(taken, name), at, "%s is a secret of the adapter, which no command gets", name)
		}
	} else {
		c.that(len(m.Env) == 0 && m.User == "", path, "env and user are for a command")
		c.url(path+".url", m.URL)
		c.headers(path+".headers", m.Headers)
		c.auth(path+".auth", m.Auth)
	}
	c.that(len(m.Tools) > 0, path+".tools", "there must be one at least: what isn't listed isn't offered")
	for name, tool := range m.Tools {
		c.that(digestForm.MatchString(tool.Digest), path+".tools."+name, "digest must be sha256: and 64 hex digits, as import mcp writes it")
	}
}

func (c *check) http(path string, h *HTTP) {
	c.url(path+".baseUrl", h.BaseURL)
	c.that(len(h.Operations) > 0, path+".operations", "there must be one at least: what isn't listed isn't offered")
	for i, o := range h.Operations {
		at := fmt.Sprintf("%s.operations[%d]", path, i)
		c.that(slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, o.Method), at+".method", "must be GET, POST, PUT, PATCH or DELETE")
		c.path(at+".path", o.Path)
	}
	c.auth(path+".auth", h.Auth)
	c.that(h.Encode == "" || h.Encode == "json" || h.Encode == "form", path+".encode", "must be json or form")
	c.headers(path+".headers", h.Headers)
	if name, kind := h.ContentType(); name != "" {
		c.that(h.Encode != "form" && request.IsJSONMediaType(kind), path+".headers."+name, "must be a media type of JSON, for a body that is encoded as json")
	}
	c.that(sendable(h.Accept), path+".accept", "can't be sent in a header")
	if h.Key != nil {
		c.that((h.Key.Header == "") != (h.Key.Field == ""), path+".key", "must have either header or field")
		c.that(h.Key.Header == "" || mayName(h.Key.Header), path+".key.header", "can't carry a key")
	}
	if h.Job != nil {
		c.job(path+".job", h.Job)
	}
	if h.CAFile != "" {
		_, err := os.Stat(h.CAFile)
		c.that(err == nil, path+".caFile", "must name a file of certificates in PEM that is there")
	}
}

func (c *check) path(at, path string) {
	bare := placeForm.ReplaceAllString(path, "x")
	c.that(strings.HasPrefix(path, "/") && !strings.Contains(path, "//") && !strings.ContainsAny(bare, "{}?#\\ "), at, "must be a path from / on, with {places} and no query")
	for _, segment := range strings.Split(strings.Trim(bare, "/"), "/") {
		c.that(segment != "." && segment != "..", at, "no segment may be . or ..")
	}
}

func (c *check) job(path string, j *Job) {
	c.path(path+".statusPath", j.StatusPath)
	c.that(placeForm.MatchString(j.StatusPath), path+".statusPath", "must have the {field} of the first answer that names the job")
	c.that(j.Every > 0, path+".every", "must say how often the status is asked for, such as 2s")
	c.that(len(j.Until) > 0, path+".until", "there must be one condition at least")
	for i := range j.Until {
		c.condition(fmt.Sprintf("%s.until[%d]", path, i), &j.Until[i])
	}
	c.condition(path+".done", j.Done)
}

func (c *check) condition(path string, cond *Condition) {
	c.that(cond != nil && cond.Field != "" && cond.Equals != nil, path, "must have field and equals")
}

func (c *check) auth(path string, a *Auth) {
	if a == nil {
		return
	}
	given := map[string]string{"scheme": a.Scheme, "name": a.Name, "user": a.User, "credentialEnv": a.CredentialEnv, "tokenUrl": a.TokenURL,
		"clientIdEnv": a.ClientIDEnv, "clientSecretEnv": a.ClientSecretEnv, "refreshTokenEnv": a.RefreshTokenEnv,
		"scopes": strings.Join(a.Scopes, " "), "certFile": a.CertFile, "keyFile": a.KeyFile}
	takes, known := map[string][]string{
		"bearer": {"credentialEnv", "scheme?"},
		"header": {"name", "credentialEnv"},
		"basic":  {"user", "credentialEnv"},
		"oauth2": {"tokenUrl", "clientIdEnv", "clientSecretEnv", "refreshTokenEnv?", "scopes?"},
		"mtls":   {"certFile", "keyFile"},
	}[a.Type]
	if !known {
		c.say(path+".type", "must be bearer, header, basic, oauth2 or mtls")
		return
	}
	for name, value := range given {
		switch {
		case slices.Contains(takes, name):
			c.that(value != "", path+"."+name, "%s needs it", a.Type)
		case !slices.Contains(takes, name+"?"):
			c.that(value == "", path+"."+name, "%s has no such field", a.Type)
		}
		if strings.HasSuffix(name, "Env") {
			c.env(path+"."+name, value, false)
		}
	}
	c.that(a.Scheme == "" || tokenForm.MatchString(a.Scheme), path+".scheme", "must be one word, such as Bearer")
	c.that(a.Name == "" || mayName(a.Name) || strings.EqualFold(a.Name, "Authorization"), path+".name", "can't carry a key")
	if a.TokenURL != "" {
		c.url(path+".tokenUrl", a.TokenURL)
	}
	if a.Type == "mtls" {
		c.files(path, a.CertFile, a.KeyFile)
	}
}

func (c *check) url(path, text string) {
	u, err := url.Parse(text)
	ok := err == nil && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
	if ok {
		_, err = request.NormalizeOrigin(u.Scheme + "://" + u.Host)
	}
	c.that(ok && err == nil, path, "must be an http or https address without user, query and fragment")
}

func (c *check) headers(path string, headers map[string]string) {
	for name, value := range headers {
		c.that(value != "", path+"."+name, "is a place for a value: fill it in")
		c.that((mayName(name) || strings.HasSuffix(path, ".http.headers") && isContentType(name)) && sendable(value), path+"."+name, "can't be sent: the adapter or HTTP itself writes it, or its value holds control characters")
	}
}

// ContentType is the header in which an upstream gives its JSON another name, "" where it doesn't.
func (h *HTTP) ContentType() (name, value string) {
	for name, value := range h.Headers {
		if isContentType(name) {
			return name, value
		}
	}
	return "", ""
}

func isContentType(name string) bool { return strings.EqualFold(name, "Content-Type") }

// mayName refuses headers that frame a request, route it, or are written by the adapter.
func mayName(name string) bool {
	switch lower := strings.ToLower(name); lower {
	case "host", "connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "expect", "cookie", "authorization", "accept", "accept-encoding",
		"x-http-method", "x-http-method-override", "x-method-override":
		return false
	default:
		return tokenForm.MatchString(name) && !strings.HasPrefix(lower, "content-") && !strings.HasPrefix(lower, "proxy-") && !strings.HasPrefix(lower, "x-runtime-")
	}
}

func sendable(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// Exposed reports whether other machines reach the adapter at its address, and in clear text.
func (f *File) Exposed() bool {
	host, _, _ := net.SplitHostPort(f.Listen)
	return f.TLS == nil && !request.IsLoopback(host)
}
