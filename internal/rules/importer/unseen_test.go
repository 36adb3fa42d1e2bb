package importer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// proposedOf reads and proposes a document of the test's own.
func proposedOf(t *testing.T, text string, o Options) *Proposal {
	t.Helper()
	d, err := Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o.ProjectID = "acme-api"
	p, err := d.Propose(o)
	if p == nil {
		t.Fatal(err)
	}
	return p
}

// TestAReferenceIsFollowedWhereverItStands: in place of the content of a body or an answer, of
// one of its media types, of all properties, all answers, all parameters, all schemes, all paths.
func TestAReferenceIsFollowedWhereverItStands(t *testing.T) {
	const text = `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"servers":[{"url":"https://api.example.com"}],"security":[{"key":[]}],
		"paths":{"$ref":"#/x-paths"},
		"components":{"securitySchemes":{"$ref":"#/x-schemes"}},
		"x-schemes":{"key":{"type":"apiKey","in":"header","name":"X-Key"}},
		"x-content":{"application/json":{"$ref":"#/x-media"}},
		"x-media":{"schema":{"type":"object","required":["a"],"properties":{"$ref":"#/x-properties"}}},
		"x-properties":{"a":{"type":"string"}},
		"x-answers":{"200":{"description":"","content":{"$ref":"#/x-content"}}},
		"x-parameters":[{"name":"q","in":"query","schema":{"type":"string"}}],
		"x-paths":{"/a":{"post":{"parameters":{"$ref":"#/x-parameters"},"requestBody":{"content":{"$ref":"#/x-content"}},"responses":{"$ref":"#/x-answers"}}}}}`
	p := proposedOf(t, text, Options{})
	registers(t, p)
	if got, want := all(p), "POST /a ALWAYS [a:string! q:string] query=[q] body=[a]"; got != want {
		t.Errorf("is\n%s\nnot\n%s", got, want)
	}
	if got := fmt.Sprint(p.Project.Auth.List(), p.Project.Capabilities[0].Outputs); got != "[{API_KEY ACME_API_API_KEY X-Key }] [a]" {
		t.Error(got)
	}
	for _, broken := range []string{"#/x-content", "#/x-media", "#/x-answers", "#/x-parameters", "#/x-properties"} {
		p := proposedOf(t, strings.ReplaceAll(text, `"`+broken+`"`, `"#/x-none"`), Options{})
		if len(p.Proposed) != 0 || p.Skipped[0].Reason != ReferenceUnresolved {
			t.Errorf("without %s: %s", broken, all(p))
		}
	}
}

// TestKeysThatADocumentHasAsHeadersAreTheProjectsAuth: what most operations require in a header
// with a secret's name, where the document has no scheme that serves.
func TestKeysThatADocumentHasAsHeadersAreTheProjectsAuth(t *testing.T) {
	const token, user, word = `{"name":"X-Auth-Token","in":"header","required":true}`, `{"name":"X-User-Id","in":"header","required":true}`, `{"name":"Authorization","in":"header","required":true}`
	of := func(security string, paths ...string) string {
		return `{"openapi":"3.0.3","info":{"title":"T","version":"1"},"servers":[{"url":"https://api.example.com"}],` + security + `"paths":{` + strings.Join(paths, ",") + `}}`
	}
	const unusable = `"security":[{"q":[]}],"components":{"securitySchemes":{"q":{"type":"apiKey","in":"query","name":"key"}}},`
	for name, test := range map[string]struct{ text, want string }{
		"two headers":            {of("", get("/a", token+","+user), get("/b", token+","+user), get("/c", "")), "3 [{API_KEY ACME_API_API_KEY X-Auth-Token }] map[X-User-Id:]"},
		"beside a useless one":   {of(unusable, get("/a", token), get("/b", token)), "2 [{API_KEY ACME_API_API_KEY X-Auth-Token }] map[]"},
		"of few":                 {of("", get("/a", token), get("/b", ""), get("/c", "")), "2 [] map[]"},
		"the usual header":       {of("", get("/a", word), get("/b", word)), "2 [{BEARER ACME_API_TOKEN  }] map[]"},
		"beside a scheme":        {document("3.0.3", get("/a", token)+","+get("/b", token), ""), "2 [{BEARER ACME_API_TOKEN  }] map[]"},
		"a key of its own":       {of("", get("/a", `{"name":"Idempotency-Token","in":"header","required":true}`)), "0 [] map[]"},
		"in Swagger, and by few": {`{"swagger":"2.0","host":"api.example.com","paths":{` + get("/a", `{"name":"api_token","in":"header","required":true,"type":"string"}`) + `}}`, "1 [{API_KEY ACME_API_API_KEY api_token }] map[]"},
	} {
		p := proposedOf(t, test.text, Options{})
		registers(t, p)
		if got := fmt.Sprint(len(p.Proposed), " ", p.Project.Auth.List(), " ", p.Project.Headers); got != test.want {
			t.Errorf("%s: %s, not %s: %v", name, got, test.want, p.Skipped)
		}
	}
	p := proposedOf(t, of("", get("/a", word)), Options{})
	if said := strings.Join(p.FillIn, "\n"); !strings.Contains(said, `"Authorization" is the header Authorization, and the document doesn't say what stands before the key`) {
		t.Errorf("fill in %s", said)
	}
	p = proposedOf(t, of("", get("/a", token)), Options{Auth: []string{"BEARER"}, Headers: countersign.Headers{"X-User-Id": "1"}})
	if got := fmt.Sprint(p.Project.Auth.List()); got != "[{BEARER ACME_API_TOKEN  }]" {
		t.Errorf("what the caller says goes before: %s", got)
	}
}

// TestNoReasonNamesAFlagThatDoesNotHelp: a header that no project sends, a scheme that nobody declares.
func TestNoReasonNamesAFlagThatDoesNotHelp(t *testing.T) {
	header := func(name string) string {
		return document("3.0.3", get("/a", `{"name":"`+name+`","in":"header","required":true,"schema":{"type":"string"}}`)+","+get("/b", "")+","+get("/c", ""), "")
	}
	for _, name := range []string{"User-Agent", "Host", "Content-Length", "Accept-Encoding", "Connection"} {
		if p := proposedOf(t, header(name), Options{}); len(p.Proposed) != 3 || p.Project.Headers != nil {
			t.Errorf("%s, which each request has: %s", name, all(p))
		}
	}
	for _, test := range []struct{ text, want string }{
		{header("X-HTTP-Method-Override"), `the header "X-HTTP-Method-Override" is required, and no project sends it: it changes the method, or is the runtime's or a connection's own`},
		{header("Cookie"), `the header "Cookie" is required, and no project sends it: it changes the method, or is the runtime's or a connection's own`},
		{document("3.0.3", `"/a":{"get":{"security":[{"none":[]}],`+ok+`}},"/b":{"get":{`+ok+`}},"/c":{"get":{`+ok+`}}`, ""), `its authentication is "none", which the document doesn't declare; --auth BEARER, BASIC, HMAC or API_KEY:HEADER says what serves instead`},
		{document("3.0.3", get("/a/:id/b", "")+","+get("/b", ""), ""), `the path has ":id" where a placeholder would be {id}; as it is, it would be sent so`},
	} {
		if p := proposedOf(t, test.text, Options{}); len(p.Skipped) != 1 || p.Skipped[0].Message != test.want {
			t.Errorf("%v\nnot %s", p.Skipped, test.want)
		}
	}
}

// TestOtherJSONIsSentByTheAdapter: a body of application/vnd.api+json is JSON, whose media type
// the adapter can write.
func TestOtherJSONIsSentByTheAdapter(t *testing.T) {
	body := func(kinds string) string {
		return document("3.0.3", `"/a":{"post":{"requestBody":{"content":{`+kinds+`}},`+ok+`}},"/b":{"get":{`+ok+`}}`, "")
	}
	const schema = `{"schema":{"type":"object","properties":{"x":{"type":"string"}}}}`
	const swagger = `{"swagger":"2.0","host":"api.example.com","securityDefinitions":{"k":{"type":"apiKey","in":"header","name":"X-Key"}},"security":[{"k":[]}],"paths":{"/a":{"post":{"consumes":["application/vnd.api+json"],"parameters":[{"name":"b","in":"body","schema":{"type":"object","properties":{"x":{"type":"string"}}}}],"responses":{"204":{"description":""}}}}}}`
	patch := proposedOf(t, body(`"application/json-patch+json":`+schema), Options{Adapter: true})
	if patch.Reasons[BodyNotJSON] != 1 || patch.Skipped[0].Message != "its body is application/json-patch+json; the runtime sends application/json" {
		t.Errorf("a JSON Patch: %v", patch.Skipped)
	}
	for name, test := range map[string]struct{ text, sends string }{
		"alone":       {body(`"application/vnd.api+json":` + schema), "application/vnd.api+json"},
		"a version":   {body(`"application/vnd.x+json; version=2":` + schema), "application/vnd.x+json;version=2"},
		"beside JSON": {body(`"application/json":` + schema + `,"application/vnd.api+json":` + schema), ""},
		"a patch":     {body(`"application/merge-patch+json":` + schema), "application/merge-patch+json"},
		"in Swagger":  {swagger, "application/vnd.api+json"},
	} {
		p := proposedOf(t, test.text, Options{Adapter: true})
		i := len(p.Proposed)
		for at, line := range p.Proposed {
			if line.Method == "POST" {
				i = at
			}
		}
		if i == len(p.Proposed) || p.Proposed[i].Sends != test.sends || p.Proposed[i].Form {
			t.Errorf("%s: %s, %+v", name, all(p), p.Proposed)
		}
		if p := proposedOf(t, test.text, Options{}); test.sends != "" && (p.Reasons[BodyNotJSON] != 1 || !strings.HasSuffix(p.Skipped[0].Message, "the runtime sends application/json; 'countersign adapter' sends JSON under other names: import it with --adapter")) {
			t.Errorf("%s, without an adapter: %v", name, p.Skipped)
		}
	}
}
