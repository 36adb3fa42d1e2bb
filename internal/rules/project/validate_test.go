package project_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/project"
)

// allowed is what the server's settings let projects use in these tests.
func allowed() project.Allowed {
	listed := credential.Plain([]string{"SIGNING"}, []string{"CREDENTIAL"})
	listed.General = append(listed.General, credential.Entry{Name: "ELSEWHERE", Tenant: "other"})
	return project.Allowed{
		Origins:     []string{"https://api.example.com", "http://localhost:8081", "https://[::1]:8443"},
		Credentials: listed,
		SecretBytes: func(env string) int { return map[string]int{"CREDENTIAL": 31}[env] },
	}
}

// base is a project without a problem; a test replaces members of it.
var base = map[string]string{
	"name": `"Shop"`, "adapter": `"HTTP_JSON"`, "baseUrl": `"https://api.example.com"`, "healthPath": `"/health"`,
	"auth":         `{"type":"HMAC","credentialEnv":"CREDENTIAL"}`,
	"capabilities": `[{"name":"read","method":"GET","path":"/orders/{resourceId}"},{"name":"refund","method":"POST","path":"/refunds"}]`,
}

// put is PUT /projects/{id} as far as content goes: the body is decoded as the
// API does, then judged. A member replaced by "" is left out.
func put(t *testing.T, members map[string]string) (countersign.Project, error) {
	t.Helper()
	all := maps.Clone(base)
	maps.Copy(all, members)
	maps.DeleteFunc(all, func(_, v string) bool { return v == "" })
	body := map[string]json.RawMessage{}
	for k, v := range all {
		body[k] = json.RawMessage(v)
	}
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	var w countersign.ProjectWrite
	if err := exactjson.Decode(b, &w); err != nil {
		return countersign.Project{}, err
	}
	return project.Validate(nil, "acme", w, allowed())
}

// rule is one way to write a project, and what it comes to: a code with words
// that the message has, or nothing when it is accepted.
type rule struct {
	name    string
	members map[string]string
	code    countersign.Code
	words   string
}

func check(t *testing.T, rules []rule) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			_, err := put(t, r.members)
			if countersign.ErrorCode(err) != r.code {
				t.Fatalf("%v, want %q", err, r.code)
			}
			if err != nil && !strings.Contains(err.Error(), r.words) {
				t.Errorf("%v does not say %q", err, r.words)
			}
		})
	}
}

const (
	invalid  = countersign.CodeInvalidRequest
	origin   = countersign.CodeOriginNotAllowed
	unlisted = countersign.CodeCredentialNotAllowed
)

func TestProjectShape(t *testing.T) {
	check(t, []rule{
		{"as it is", nil, "", ""},
		{"without a name", map[string]string{"name": ""}, invalid, "name: "},
		{"an empty name", map[string]string{"name": `""`}, invalid, "name: "},
		{"without an adapter", map[string]string{"adapter": ""}, invalid, "adapter: "},
		{"another adapter", map[string]string{"adapter": `"SOAP"`}, invalid, "adapter: "},
		{"without capabilities", map[string]string{"capabilities": ""}, invalid, "capabilities: "},
		{"no capability at all", map[string]string{"capabilities": `[]`}, "", ""},
		{"a misspelt member", map[string]string{"healthpath2": `"/"`}, invalid, "healthpath2"},
		{"what the server sets", map[string]string{"id": `"x"`, "revision": `7`, "secretConfigured": `true`, "createdAt": `"x"`, "updatedAt": `"x"`}, "", ""},
	})
}

func TestBaseURL(t *testing.T) {
	check(t, []rule{
		{"HTTP_JSON without", map[string]string{"baseUrl": ""}, invalid, "baseUrl: an HTTP_JSON project needs one"},
		{"LOCAL_ECHO without", map[string]string{"baseUrl": "", "adapter": `"LOCAL_ECHO"`, "auth": ""}, "", ""},
		{"LOCAL_ECHO with one off the list", map[string]string{"baseUrl": `"https://other.example.com"`, "adapter": `"LOCAL_ECHO"`}, origin, "baseUrl: "},
		{"another host", map[string]string{"baseUrl": `"https://api.example.org"`}, origin, "SVC_PLATFORM_CONNECTION_ORIGINS"},
		{"another scheme", map[string]string{"baseUrl": `"http://api.example.com"`}, origin, ""},
		{"another port", map[string]string{"baseUrl": `"https://api.example.com:8443"`}, origin, ""},
		{"a host below it", map[string]string{"baseUrl": `"https://x.api.example.com"`}, origin, ""},
		{"the host with a dot behind", map[string]string{"baseUrl": `"https://api.example.com."`}, invalid, "baseUrl: "},
		{"a path", map[string]string{"baseUrl": `"https://api.example.com/v1"`}, invalid, "baseUrl: must be an origin only"},
		{"a query", map[string]string{"baseUrl": `"https://api.example.com?x=1"`}, invalid, "baseUrl: must be an origin only"},
		{"a fragment", map[string]string{"baseUrl": `"https://api.example.com#x"`}, invalid, "baseUrl: must be an origin only"},
		{"a user", map[string]string{"baseUrl": `"https://me:secret@api.example.com"`}, invalid, "baseUrl: must be an origin only"},
		{"another protocol", map[string]string{"baseUrl": `"ftp://api.example.com"`}, invalid, "baseUrl: "},
		{"no URL", map[string]string{"baseUrl": `"api.example.com"`}, invalid, "baseUrl: "},
	})
}

func TestSecretInABaseURLIsNotRepeated(t *testing.T) {
	_, err := put(t, map[string]string{"baseUrl": `"https://me:hunter2@api.example.com"`})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
}

// TestOriginsCompareNormalised: scheme, host case, default port and a lone slash
// make no difference, and what is stored is the normal form.
func TestOriginsCompareNormalised(t *testing.T) {
	for written, want := range map[string]string{
		"https://api.example.com":      "https://api.example.com",
		"https://api.example.com/":     "https://api.example.com",
		"HTTPS://API.Example.COM":      "https://api.example.com",
		"https://api.example.com:443":  "https://api.example.com",
		"https://api.example.com:443/": "https://api.example.com",
		"http://LOCALHOST:8081":        "http://localhost:8081",
		"https://[0:0::1]:8443":        "https://[::1]:8443",
	} {
		p, err := put(t, map[string]string{"baseUrl": `"` + written + `"`})
		if err != nil || p.BaseURL != want {
			t.Errorf("%s is stored as %q, %v, want %s", written, p.BaseURL, err, want)
		}
	}
}

func TestHealthPath(t *testing.T) {
	check(t, []rule{
		{"none", map[string]string{"healthPath": ""}, "", ""},
		{"the root", map[string]string{"healthPath": `"/"`}, "", ""},
		{"relative", map[string]string{"healthPath": `"health"`}, invalid, "healthPath: must be an absolute path"},
		{"a query", map[string]string{"healthPath": `"/health?deep=1"`}, invalid, "healthPath: must not hold a query"},
		{"a traversal", map[string]string{"healthPath": `"/a/../health"`}, invalid, "healthPath: must not hold"},
		{"a hidden traversal", map[string]string{"healthPath": `"/a/%2e%2e/health"`}, invalid, "healthPath: must not hold"},
		{"another host", map[string]string{"healthPath": `"//evil.example.com/"`}, invalid, "healthPath: must not hold an empty segment"},
		{"a line feed", map[string]string{"healthPath": `"/a\nb"`}, invalid, "healthPath: must not hold"},
		{"a placeholder", map[string]string{"healthPath": `"/health/{resourceId}"`}, invalid, "healthPath: it takes no placeholder"},
	})
}

func TestCapabilityRules(t *testing.T) {
	capability := func(members string) map[string]string {
		return map[string]string{"capabilities": `[{"name":"x",` + members + `}]`}
	}
	check(t, []rule{
		{"every member", capability(`"description":"d","method":"POST","path":"/x/{resourceId}","sideEffect":true,"approval":"RISK_BASED","idempotent":true,"timeoutMs":100,
			"inputSchema":{"resourceId":{"type":"string","required":true},"a":{"type":"number","required":false}},"request":{"query":[],"body":["a"]},"outputField":"o","sensitive":["a"]`), "", ""},
		{"without a method", capability(`"path":"/x"`), invalid, "capabilities[0].method: "},
		{"another method", capability(`"method":"HEAD","path":"/x"`), invalid, "capabilities[0].method: "},
		{"a method in small letters", capability(`"method":"get","path":"/x"`), invalid, "capabilities[0].method: "},
		{"without a path", capability(`"method":"GET"`), invalid, "capabilities[0].path: "},
		{"a relative path", capability(`"method":"GET","path":"x"`), invalid, "capabilities[0].path: must be an absolute path"},
		{"a URL as path", capability(`"method":"GET","path":"https://evil.example.com/"`), invalid, "capabilities[0].path: must be an absolute path"},
		{"a query in the path", capability(`"method":"GET","path":"/x?y=1"`), invalid, "capabilities[0].path: must not hold a query"},
		{"a traversal", capability(`"method":"GET","path":"/x/.."`), invalid, "capabilities[0].path: must not hold"},
		{"an undeclared placeholder", capability(`"method":"GET","path":"/x/{id}"`), invalid, "capabilities[0].path: {id} must be declared"},
		{"a placeholder of a type that no path carries", capability(`"method":"GET","path":"/x/{id}","inputSchema":{"id":{"type":"boolean","required":true}}`), invalid, "capabilities[0].inputSchema.id.type: "},
		{"another approval", capability(`"method":"GET","path":"/x","approval":"SOMETIMES"`), invalid, "capabilities[0].approval: "},
		{"a timeout too short", capability(`"method":"GET","path":"/x","timeoutMs":99`), invalid, "capabilities[0].timeoutMs: "},
		{"the longest timeout", capability(`"method":"GET","path":"/x","timeoutMs":60000`), "", ""},
		{"a timeout too long", capability(`"method":"GET","path":"/x","timeoutMs":60001`), invalid, "capabilities[0].timeoutMs: "},
		{"an input without type", capability(`"method":"GET","path":"/x","inputSchema":{"a":{"required":true}}`), invalid, "capabilities[0].inputSchema.a.type: "},
		{"an input without required", capability(`"method":"GET","path":"/x","inputSchema":{"a":{"type":"string"}}`), invalid, "capabilities[0].inputSchema.a.required: "},
		{"an input of another type", capability(`"method":"GET","path":"/x","inputSchema":{"a":{"type":"date","required":true}}`), invalid, "capabilities[0].inputSchema.a.type: "},
		{"a body on GET", capability(`"method":"GET","path":"/x","request":{"body":["a"]}`), invalid, "capabilities[0].request.body: GET sends no body"},
		{"a field in query and body", capability(`"method":"POST","path":"/x","request":{"query":["a"],"body":["a"]}`), invalid, "capabilities[0].request.body[0]: a is in request.query already"},
		{"a field in path and body", capability(`"method":"POST","path":"/x/{resourceId}","request":{"body":["resourceId"]}`), invalid, "capabilities[0].request.body[0]: resourceId fills the path already"},
		{"a field in path and query", capability(`"method":"POST","path":"/x/{resourceId}","request":{"query":["resourceId"]}`), "", ""},
		{"a query field that is no scalar", capability(`"method":"GET","path":"/x","inputSchema":{"a":{"type":"array","required":true}},"request":{"query":["a"]}`), invalid, "capabilities[0].request.query[0]: "},
		{"a mapped field that is not declared", capability(`"method":"POST","path":"/x","inputSchema":{},"request":{"body":["a"]}`), invalid, "capabilities[0].request.body[0]: a is not declared"},
		{"an input without a place", capability(`"method":"POST","path":"/x","inputSchema":{"a":{"type":"string","required":true}},"request":{"body":[]}`), invalid, "capabilities[0].inputSchema.a: has no place"},
		{"an empty name", map[string]string{"capabilities": `[{"name":"","method":"GET","path":"/x"}]`}, invalid, "capabilities[0].name: "},
		{"a misspelt member", capability(`"method":"POST","path":"/x","sideeffect2":false`), invalid, "sideeffect2"},
	})
}

func TestCapabilityNamesAreUnique(t *testing.T) {
	check(t, []rule{{"twice", map[string]string{
		"capabilities": `[{"name":"a","method":"GET","path":"/a"},{"name":"b","method":"GET","path":"/b"},{"name":"a","method":"POST","path":"/c"}]`,
	}, invalid, "capabilities[2].name: a is the name of capabilities[0] already"}})
}

func TestProbeIsAReadOfTheSameProject(t *testing.T) {
	capabilities := func(probe string) map[string]string {
		return map[string]string{"capabilities": `[
			{"name":"refund","method":"POST","path":"/refunds","probe":"` + probe + `"},
			{"name":"look","method":"GET","path":"/refunds"},
			{"name":"trigger","method":"GET","path":"/trigger","sideEffect":true},
			{"name":"pay","method":"POST","path":"/payments","sideEffect":false}]`}
	}
	check(t, []rule{
		{"a GET that only reads", capabilities("look"), "", ""},
		{"nothing so named", capabilities("none"), invalid, "capabilities[0].probe: none is no GET capability"},
		{"a GET with a side effect", capabilities("trigger"), invalid, "capabilities[0].probe: trigger is no GET capability"},
		{"a POST that only reads", capabilities("pay"), invalid, "capabilities[0].probe: pay is no GET capability"},
		{"itself", capabilities("refund"), invalid, "capabilities[0].probe: refund is no GET capability"},
	})
}

func TestAllProblemsAreNamedTogether(t *testing.T) {
	_, err := put(t, map[string]string{"baseUrl": `"x"`, "healthPath": `"y"`, "auth": `{"type":"API_KEY"}`, "capabilities": `[{"name":"a","method":"GET","path":"z"}]`})
	for _, path := range []string{"baseUrl: ", "healthPath: ", "auth.credentialEnv: ", "auth.headerName: ", "capabilities[0].path: "} {
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%v does not name %s", err, path)
		}
	}
}
