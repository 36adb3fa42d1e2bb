package importer

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// Documents of testdata/field are the smallest of kinds that an earlier release proposed
// nothing of, or something else than they say.

func fieldDocument(t *testing.T, name string, o Options) (*Proposal, error) {
	t.Helper()
	data, err := os.ReadFile("testdata/field/" + name)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	o.ProjectID = "acme-api"
	return d.Propose(o)
}

// all describes what is proposed, an operation a line by its path, and why others are not.
func all(p *Proposal) string {
	var lines []string
	for i, c := range p.Project.Capabilities {
		line := described(c)
		if left := p.Proposed[i].LeftOut; len(left) > 0 {
			line += " left out " + strings.Join(left, ", ")
		}
		lines = append(lines, line)
	}
	for _, s := range p.Skipped {
		lines = append(lines, fmt.Sprint(s.Method, " ", s.Path, " ", s.Reason))
	}
	return strings.Join(lines, "\n")
}

// TestFieldsOfSeveralTypesAreInputsOfSeveralTypes: text and numbers in a path, text or a list in
// a body; what all alternatives require is required; a name that is taken is left out of a body
// that can do without.
func TestFieldsOfSeveralTypesAreInputsOfSeveralTypes(t *testing.T) {
	p, err := fieldDocument(t, "union.yaml", Options{})
	if err != nil {
		t.Fatal(err)
	}
	registers(t, p)
	if got, want := all(p), strings.TrimSpace(`
POST /a/{id} ALWAYS [id:string|number! x:string] query=[] body=[x]
POST /b ALWAYS [to:string|array!] query=[] body=[to]
POST /c ALWAYS [input:string|array n:number] query=[] body=[input n]
PATCH /v/{name} ALWAYS [name:string! value:string] query=[] body=[value] left out body field name
GET /e external_reference
GET /e/{id} external_reference`); got != want {
		t.Errorf("is\n%s\nnot\n%s", got, want)
	}
}

// TestAHeaderOfFewIsAReasonAndAcceptIsTheProjects: and each says which flag helps.
func TestAHeaderOfFewIsAReasonAndAcceptIsTheProjects(t *testing.T) {
	p, err := fieldDocument(t, "early.yaml", Options{})
	if err != nil {
		t.Fatal(err)
	}
	registers(t, p)
	if got, want := all(p), strings.TrimSpace(`
POST /a ALWAYS [x:string] query=[] body=[x]
GET /c NONE [] query=[] body=[]
POST /f ALWAYS [from:string to:string|array!] query=[] body=[from to]
GET /b header_needed
POST /d body_not_json
DELETE /e body_not_object`); got != want {
		t.Errorf("is\n%s\nnot\n%s", got, want)
	}
	if got := fmt.Sprint(p.Project.Headers, p.Headers); got != "map[Accept:application/vnd.x+json;version=2] [{Accept application/vnd.x+json;version=2 1}]" {
		t.Errorf("headers are %s", got)
	}
	if said := p.Skipped[0].Message; said != `few require the header "X-Preview", and the project sends its headers with each call; --header X-Preview=next sends it with all, and --include chooses those that take it for a project of their own` {
		t.Errorf("%s", said)
	}
	p, err = fieldDocument(t, "early.yaml", Options{Headers: countersign.Headers{"x-preview": "next"}})
	if err != nil || p.Reasons[HeaderNeeded] != 0 || p.Project.Headers["x-preview"] != "next" {
		t.Errorf("given: %v, %v", err, p)
	}
}

// TestOAuthIsABearerToken: alone, and beside schemes that others or none of the operations name.
func TestOAuthIsABearerToken(t *testing.T) {
	for name, want := range map[string]string{
		"oauth.yaml": "1 {BEARER ACME_API_TOKEN  }", "oauth-only.yaml": "1 {BEARER ACME_API_TOKEN  }", "oauth-mixed.yaml": "6 {BEARER ACME_API_TOKEN  }",
	} {
		p, err := fieldDocument(t, name, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		registers(t, p)
		if got := fmt.Sprint(len(p.Proposed), " ", *p.Project.Auth.One); got != want || !strings.Contains(strings.Join(p.FillIn, "\n"), `"o" is oauth2`) {
			t.Errorf("%s: %s, not %s; fill in %q", name, got, want, p.FillIn)
		}
		if text := fmt.Sprint(p.Project, p.FillIn); strings.Contains(text, "t.example.com/t") {
			t.Errorf("%s: the document's tokenUrl is in the proposal: %s", name, text)
		}
	}
	p, _ := fieldDocument(t, "oauth-mixed.yaml", Options{})
	if said := p.Skipped[0].Message; said != `it takes "key", and the others "o"; import it as another project with --auth key` {
		t.Error(said)
	}
}

// TestAuthIsWhatTheCallerSays: a scheme of the document, or a type that all operations are then
// taken to accept.
func TestAuthIsWhatTheCallerSays(t *testing.T) {
	for _, test := range []struct {
		auth []string
		want string
	}{
		{[]string{"key"}, "1 [{API_KEY ACME_API_API_KEY X-Key }]"},
		{[]string{"key", "o"}, "7 [{API_KEY ACME_API_X_KEY X-Key } {BEARER ACME_API_TOKEN  }]"},
		{[]string{"key", "HMAC"}, "7 [{API_KEY ACME_API_X_KEY X-Key } {HMAC ACME_API_TOKEN  }]"},
		{[]string{"HMAC"}, "7 [{HMAC ACME_API_TOKEN  }]"},
		{[]string{"BASIC:desk"}, "7 [{BASIC ACME_API_PASSWORD  desk}]"},
		{[]string{"API_KEY:X-Other"}, "7 [{API_KEY ACME_API_API_KEY X-Other }]"},
		{[]string{"no"}, `--auth: "no" is none of the document's schemes that can be used (key, o), and not BEARER, BASIC, BASIC:USER, HMAC or API_KEY:HEADER`},
		{[]string{"API_KEY:Cookie"}, "--auth: a project can't authenticate so: at most 3, and no two that set one header"},
	} {
		p, err := fieldDocument(t, "oauth-mixed.yaml", Options{Auth: test.auth})
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(len(p.Proposed), " ", p.Project.Auth.List())
		}
		if got != test.want {
			t.Errorf("%v: %s, not %s", test.auth, got, test.want)
		}
	}
}

// TestTheDocumentsPathStaysBeforeEachOperation: whatever is wrong with the rest of its server's
// URL, and also with --base-url, unless that has a path.
func TestTheDocumentsPathStaysBeforeEachOperation(t *testing.T) {
	for i := range 9 {
		name := fmt.Sprintf("s%d.yaml", i+1)
		for base, want := range map[string]string{"https://api.example.com": "https://api.example.com /v3/mail/send", "https://api.example.com/v9": "https://api.example.com /v9/mail/send"} {
			p, err := fieldDocument(t, name, Options{BaseURL: base})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got := p.Project.BaseURL + " " + p.Project.Capabilities[0].Path; got != want {
				t.Errorf("%s with %s: %s, not %s", name, base, got, want)
			}
		}
	}
	d, _ := Read([]byte(`{"openapi":"3.0.0","servers":[{"url":"https://a.example.com/{tenant}/v1"}],"paths":{"/a":{"get":{` + ok + `}}}}`))
	if _, err := d.Propose(Options{ProjectID: "acme-x", BaseURL: "https://b.example.com"}); err == nil || !strings.Contains(err.Error(), `servers[0]: "https://a.example.com/{tenant}/v1" has a variable without a value in its path; name the server with its path, as --base-url https://api.example.com/v1`) {
		t.Error(err)
	}
}

// TestARequiredHeaderOfMostIsAPlaceToFillIn: the PUT refuses the place, so that nobody forgets it.
func TestARequiredHeaderOfMostIsAPlaceToFillIn(t *testing.T) {
	paths := func(most, few int) string {
		var out []string
		for i := range most + few {
			header := ""
			if i < most {
				header = `"parameters":[{"in":"header","name":"X-Account","required":true,"schema":{"type":"string"}}],`
			}
			out = append(out, fmt.Sprintf(`"/a%d":{"post":{%s%s}}`, i, header, ok))
		}
		return strings.Join(out, ",")
	}
	p := propose(t, []byte(document("3.0.3", paths(3, 1), "")), Options{})
	value, there := p.Project.Headers["X-Account"]
	if !there || value != "" || len(p.Proposed) != 4 || !slices.Contains(p.FillIn, "headers.X-Account: its value, which 3 of 4 operations require and the document doesn't say; --header X-Account=VALUE") {
		t.Errorf("%v, %v, %q", p.Project.Headers, p.Reasons, p.FillIn)
	}
	if registered(p.Project) {
		t.Error("the service takes the place for a value")
	}
	p = propose(t, []byte(document("3.0.3", paths(1, 3), "")), Options{})
	if len(p.Project.Headers) != 0 || len(p.Proposed) != 3 || p.Skipped[0].Message != `the header "X-Account" is required, and the document gives no value for it; --header X-Account=VALUE sends one with each call` {
		t.Errorf("%v, %v", p.Project.Headers, p.Skipped)
	}
	p = propose(t, []byte(document("3.0.3", paths(1, 3), "")), Options{Headers: countersign.Headers{"X-Account": "7"}})
	if registers(t, p); len(p.Proposed) != 4 || p.Project.Headers["X-Account"] != "7" {
		t.Errorf("%v, %v", p.Project.Headers, p.Skipped)
	}
	d, _ := Read([]byte(document("3.0.3", paths(1, 0), "")))
	if _, err := d.Propose(Options{ProjectID: "acme-x", Headers: countersign.Headers{"Cookie": "a"}}); err == nil || !strings.HasPrefix(err.Error(), "--header: Cookie=a can't be sent with each call") {
		t.Error(err)
	}
}

// TestTheReceiversOwnKeysAreNamedAndNeverFixed: one value for all calls would make them one call.
func TestTheReceiversOwnKeysAreNamedAndNeverFixed(t *testing.T) {
	header := func(name string, required bool) string {
		return fmt.Sprintf(`"parameters":[{"in":"header","name":%q,"required":%v,"schema":{"type":"string"}}],`, name, required)
	}
	p := propose(t, []byte(document("3.0.3", `"/a":{"post":{`+header("PayPal-Request-Id", false)+ok+`}},"/b":{"post":{`+header("X-Idempotency-Key", true)+ok+`}},
		"/c":{"post":{"requestBody":{"content":{"application/json":{"schema":{"required":["idempotency_key"],"properties":{"idempotency_key":{"type":"string"}}}}}},`+ok+`}}`, "")), Options{})
	registers(t, p)
	if got := fmt.Sprint(p.Proposed[0].OtherKey, "; ", p.Proposed[1].OtherKey, "; ", p.Skipped[0].Message, "; ", p.Project.Headers); got != `the header PayPal-Request-Id; the body's field idempotency_key; the header "X-Idempotency-Key" is required with a key of its own for each call; 'countersign adapter' sends the runtime's so: import it with --adapter; map[]` {
		t.Error(got)
	}
	p = propose(t, []byte(document("3.0.3", `"/b":{"post":{`+header("X-Idempotency-Key", true)+ok+`}}`, "")), Options{Adapter: true})
	if len(p.Proposed) != 1 || p.Proposed[0].OtherKey != "the header X-Idempotency-Key" || len(p.Proposed[0].LeftOut) > 0 {
		t.Errorf("with an adapter: %v, %v", p.Proposed, p.Skipped)
	}
}

// TestAHeaderThatTheProjectAuthenticatesByIsThere: as a key's, and as a bearer's Authorization.
func TestAHeaderThatTheProjectAuthenticatesByIsThere(t *testing.T) {
	header := `"parameters":[{"in":"header","name":"Authorization","required":true,"schema":{"type":"string"}}],`
	data := []byte(document("3.0.3", `"/a":{"post":{`+header+ok+`}}`, ""))
	if p := propose(t, data, Options{}); len(p.Proposed) != 1 || len(p.Proposed[0].LeftOut) > 0 {
		t.Errorf("a bearer: %v", p.Skipped)
	}
	d, _ := Read(data)
	p, _ := d.Propose(Options{ProjectID: "acme-x", Auth: []string{"API_KEY:X-Key"}})
	if len(p.Skipped) != 1 || p.Skipped[0].Message != `the header "Authorization" is required, and the project authenticates otherwise; import it as another project with --auth BEARER` {
		t.Errorf("a key: %v", p.Skipped)
	}
}

// TestSwaggerIsReadAsWhatItMeans.
func TestSwaggerIsReadAsWhatItMeans(t *testing.T) {
	data := `{"swagger":"2.0","info":{"title":"Shop"},"host":"api.example.com","basePath":"/v2","schemes":["http","https"],"consumes":["application/json"],"produces":["application/json"],
	"securityDefinitions":{"o":{"type":"oauth2","flow":"implicit"},"b":{"type":"basic"}},"security":[{"o":[]}],
	"parameters":{"page":{"in":"query","name":"page","type":"integer","maximum":9}},
	"definitions":{"Order":{"type":"object","required":["sum"],"properties":{"sum":{"type":"number"},"items":{"type":"array"}}}},
	"paths":{
	"/o/{id}":{"parameters":[{"in":"path","name":"id","required":true,"type":"string"}],"get":{"parameters":[{"$ref":"#/parameters/page"}],"responses":{"200":{"schema":{"$ref":"#/definitions/Order"}}}},
	  "put":{"parameters":[{"in":"body","name":"order","required":true,"schema":{"$ref":"#/definitions/Order"}}],"responses":{"204":{}}}},
	"/form":{"post":{"consumes":["application/x-www-form-urlencoded"],"parameters":[{"in":"formData","name":"a","type":"string","required":true}],"responses":{"200":{}}}},
	"/either":{"post":{"consumes":["application/x-www-form-urlencoded","application/json"],"parameters":[{"in":"formData","name":"a","type":"string","required":true}],"responses":{"200":{}}}},
	"/file":{"post":{"parameters":[{"in":"formData","name":"a","type":"file"}],"responses":{"200":{}}}},
	"/csv":{"get":{"produces":["text/csv"],"responses":{"200":{"schema":{"type":"string"}}}}}}}`
	p := propose(t, []byte(data), Options{})
	registers(t, p)
	if got, want := p.Project.BaseURL+" "+p.OpenAPI+"\n"+all(p), strings.TrimSpace(`
https://api.example.com 2.0
POST /v2/either ALWAYS [a:string!] query=[] body=[a]
GET /v2/o/{id} NONE [id:string! page:number] query=[page] body=[]
PUT /v2/o/{id} ALWAYS [id:string! items:array sum:number!] query=[] body=[items sum]
GET /csv response_not_json
POST /file body_not_json
POST /form body_not_json`); got != want {
		t.Errorf("is\n%s\nnot\n%s", got, want)
	}
	if got := saying(p.Project.Capabilities[1].InputSchema["page"]); got != "number max=9" {
		t.Error(got)
	}
	p = propose(t, []byte(data), Options{Adapter: true})
	if line := p.Proposed[slices.IndexFunc(p.Proposed, func(l Proposed) bool { return strings.HasSuffix(l.Path, "/form") })]; !line.Form {
		t.Errorf("%+v", line)
	}
}

// TestFilesBelowTheDocumentsFolderAreReadAndNoOthers.
func TestFilesBelowTheDocumentsFolderAreReadAndNoOthers(t *testing.T) {
	files := map[string]string{
		"paths/orders.yaml": "get:\n  $ref: ../ops/list.yaml\npost:\n  operationId: make\n  requestBody: {$ref: '../openapi.yaml#/components/requestBodies/order'}\n  responses: {'201': {description: made}}\n",
		"ops/list.yaml":     "operationId: list\nparameters: [{$ref: '../parameters.yaml#/page'}]\nresponses: {'200': {content: {application/json: {}}}}\n",
		"parameters.yaml":   "page: {in: query, name: page, schema: {type: integer}}\n",
		"order.json":        `{"type":"object","properties":{"sum":{"type":"number"}}}`,
	}
	root := "openapi: 3.0.3\nservers: [{url: https://api.example.com}]\ncomponents:\n  securitySchemes: {b: {type: http, scheme: bearer}}\n  requestBodies: {order: {content: {application/json: {schema: {$ref: order.json}}}}}\nsecurity: [{b: []}]\npaths:\n  /orders: {$ref: paths/orders.yaml}\n"
	for _, ref := range []string{"../secret.yaml", "paths/../../secret.yaml", "/etc/passwd", "file:///etc/passwd", "http://169.254.169.254/x", "//host/x", `..\\secret.yaml`, "%2e%2e/secret.yaml", "missing.yaml", "order.json?x=1"} {
		root += fmt.Sprintf("  /%d: {get: {$ref: %q}}\n", len(root), ref)
	}
	d, err := Read([]byte(root))
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]int{}
	d.Below("openapi.yaml", func(name string, most int) ([]byte, error) {
		if asked[name]++; most <= 0 || most > MaxDocumentBytes {
			t.Errorf("%s: %d bytes", name, most)
		}
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	})
	p, err := d.Propose(Options{ProjectID: "acme-api"})
	if err != nil {
		t.Fatal(err)
	}
	registers(t, p)
	want := []string{"missing.yaml", "ops/list.yaml", "order.json", "parameters.yaml", "paths/orders.yaml"}
	if got := slices.Sorted(maps.Keys(asked)); !slices.Equal(got, want) || slices.Max(slices.Collect(maps.Values(asked))) > 1 {
		t.Errorf("read %v, not %v", asked, want)
	}
	if len(p.Proposed) != 2 || p.Proposed[0].Name != "list" || p.Project.Capabilities[0].InputSchema["page"].Type != "number" || p.Project.Capabilities[1].InputSchema["sum"].Type != "number" {
		t.Errorf("%s", all(p))
	}
	for _, s := range p.Skipped {
		if want := map[bool]string{true: "it needs %s, which is outside the document's folder; bundle the document first", false: "it needs %s, and no other document is fetched; bundle the document first"}[strings.HasSuffix(s.Message, "folder; bundle the document first")]; s.Reason == ExternalReference && !strings.HasSuffix(s.Message, want[len("it needs %s"):]) {
			t.Errorf("%s: %s", s.Path, s.Message)
		}
	}
	if p.Reasons[ExternalReference] != 9 || p.Reasons[ReferenceUnresolved] != 1 || len(p.Skipped) != 10 {
		t.Errorf("%v", p.Reasons)
	}
}

// TestExpectationsAreWhatTheDocumentSaysOfEverySuccess: a required field with one value, whose
// name tells success; or that nothing is answered.
func TestExpectationsAreWhatTheDocumentSaysOfEverySuccess(t *testing.T) {
	answer := func(schema string) string { return `{"content":{"application/json":{"schema":` + schema + `}}}` }
	okTrue := answer(`{"type":"object","required":["ok","object"],"properties":{"ok":{"type":"boolean","enum":[true]},"object":{"const":"order"}}}`)
	for name, test := range map[string]struct{ responses, want string }{
		"a constant":         {`"200":` + okTrue, "ok = true (0)"},
		"not required":       {`"200":` + answer(`{"properties":{"ok":{"enum":[true]}}}`), ""},
		"two values":         {`"200":` + answer(`{"required":["ok"],"properties":{"ok":{"enum":[true,false]}}}`), ""},
		"a type's name":      {`"200":` + answer(`{"required":["object"],"properties":{"object":{"const":"order"}}}`), ""},
		"of one answer only": {`"200":` + okTrue + `,"201":` + answer(`{"properties":{"x":{}}}`), ""},
		"of both":            {`"200":` + okTrue + `,"201":` + okTrue, "ok = true (0)"},
		"alternatives":       {`"200":` + answer(`{"oneOf":[{"required":["ok"],"properties":{"ok":{"enum":[true]}}},{"required":["ok"],"properties":{"ok":{"enum":[false]}}}]}`), ""},
		"nothing":            {`"204":{}`, "$ = null (204)"},
		"nothing or more":    {`"204":{},"200":` + answer(`{}`), ""},
		"accepted":           {`"202":{}`, ""},
	} {
		p := propose(t, []byte(document("3.1.0", `"/a":{"post":{"responses":{`+test.responses+`}}}`, "")), Options{})
		registers(t, p)
		got := ""
		if e := p.Project.Capabilities[0].Expectation; e != nil {
			got = fmt.Sprintf("%s = %s (%d)", e.Field, e.Equals.Raw(), e.StatusCode)
		}
		if got != test.want {
			t.Errorf("%s: %q, not %q", name, got, test.want)
		}
	}
}

// TestProbesReadTheItemOrTheCollection that a side effect concerns.
func TestProbesReadTheItemOrTheCollection(t *testing.T) {
	id := `"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}]`
	p := propose(t, []byte(document("3.0.3", `"/o":{"get":{"operationId":"list",`+ok+`},"post":{"operationId":"create",`+ok+`}},"/o/{id}":{`+id+`,"get":{"operationId":"read",`+ok+`}},"/o/{id}/cancel":{`+id+`,"post":{"operationId":"cancel",`+ok+`}},"/x/{id}/cancel":{`+id+`,"post":{"operationId":"other",`+ok+`}}`, "")), Options{})
	registers(t, p)
	got := map[string]string{}
	for _, c := range p.Project.Capabilities {
		got[c.Name] = c.Probe
	}
	if want := map[string]string{"list": "", "read": "", "create": "list", "cancel": "read", "other": ""}; !maps.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}

// TestPathTextIsProposedOnlyWhereAskedForAndNeeded.
func TestPathTextIsProposedOnlyWhereAskedForAndNeeded(t *testing.T) {
	data := []byte(document("3.0.3", get("/u/{email}/{id}/{n}/{key}", `{"name":"email","in":"path","schema":{"type":"string"}},{"name":"id","in":"path","schema":{"type":"string","format":"uuid"}},{"name":"n","in":"path","schema":{"type":"integer"}},{"name":"key","in":"path","schema":{"type":"string"},"example":"a b"}`), ""))
	for _, asked := range []bool{false, true} {
		p := propose(t, data, Options{PathText: asked})
		registers(t, p)
		var texts []string
		for name, f := range p.Project.Capabilities[0].InputSchema {
			if f.PathText {
				texts = append(texts, name)
			}
		}
		slices.Sort(texts)
		said := strings.Contains(strings.Join(p.FillIn, "\n"), "--path-text proposes it")
		if want := map[bool][]string{true: {"email", "key"}}[asked]; !slices.Equal(texts, want) || said == asked {
			t.Errorf("asked %v: %v, not %v; fill in %q", asked, texts, want, p.FillIn)
		}
	}
}

// TestPoliciesAreOfAGroupAndOfNobodyElse: by the caller's word; the document's extensions lower
// nothing.
func TestPoliciesAreOfAGroupAndOfNobodyElse(t *testing.T) {
	data := []byte(document("3.0.3", `"/a":{"post":{"tags":["pay"],"x-approval":"NONE","x-side-effect":false,`+ok+`},"get":{"tags":["pay"],`+ok+`}},"/b":{"post":{"tags":["mail"],`+ok+`},"get":{"tags":["mail"],`+ok+`}}`, ""))
	for said, want := range map[string]string{"": "[{mail 1 1 [ALWAYS]} {pay 1 1 [ALWAYS]}] 0", "NONE": "[{mail 1 1 [ALWAYS]} {pay 1 1 [NONE]}] 1", "ALWAYS": "[{mail 1 1 [ALWAYS]} {pay 1 1 [ALWAYS]}] 0"} {
		p := propose(t, data, Options{Policies: map[string]string{"pay": said}})
		if got := fmt.Sprint(p.Groups, " ", p.Unasked); got != want {
			t.Errorf("%q: %s, not %s", said, got, want)
		}
		reads := map[string]string{}
		for _, c := range p.Project.Capabilities {
			if c.Method == "GET" {
				reads[c.Path] = c.Approval
			}
		}
		if want := map[string]string{"/v1/a": map[string]string{"ALWAYS": "ALWAYS"}[said], "/v1/b": "NONE"}; reads["/v1/b"] != want["/v1/b"] || said == "ALWAYS" && reads["/v1/a"] != "ALWAYS" || said != "ALWAYS" && reads["/v1/a"] != "NONE" {
			t.Errorf("%q: reads %v", said, reads)
		}
	}
}

// TestParentsThatNameTheirChildrenAreRead: a child that names its parent closes a circle, which
// adds nothing.
func TestParentsThatNameTheirChildrenAreRead(t *testing.T) {
	schemas := `"P":{"type":"object","required":["kind"],"properties":{"kind":{"type":"string"}},"oneOf":[{"$ref":"#/components/schemas/C"},{"$ref":"#/components/schemas/D"}]},
		"C":{"allOf":[{"$ref":"#/components/schemas/P"},{"properties":{"c":{"type":"number"}}}]},"D":{"allOf":[{"$ref":"#/components/schemas/P"},{"properties":{"d":{"$ref":"#/components/schemas/P"}}}]}`
	p := propose(t, []byte(document("3.0.3", post(`{"$ref":"#/components/schemas/P"}`), schemas)), Options{})
	registers(t, p)
	if got, want := described(p.Project.Capabilities[0]), "POST /v1/a ALWAYS [c:number d:object kind:string!] query=[] body=[c d kind]"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

// TestNumbersThatCountTokensAreNoSecrets, and digits of a card are.
func TestNumbersThatCountTokensAreNoSecrets(t *testing.T) {
	p := propose(t, []byte(document("3.0.3", post(`{"properties":{"max_tokens":{"type":"integer"},"is_password_reset":{"type":"boolean"},"pin":{"type":"integer"},"token":{"type":"string"},"secret_name":{"type":"string"}}}`), "")), Options{})
	if got := p.Project.Capabilities[0].Sensitive; !slices.Equal(got, []string{"pin", "token"}) {
		t.Errorf("sensitive is %v", got)
	}
}

// TestCredentialsInHeadersAreNoFixedHeaders: a fixed header is no secret. Where an operation
// names a scheme besides, its token is sent, and that is said.
func TestCredentialsInHeadersAreNoFixedHeaders(t *testing.T) {
	token := `"parameters":[{"in":"header","name":"token","required":true,"schema":{"type":"string"}}],`
	data := []byte(document("3.0.3", `"/a":{"post":{`+token+ok+`}},"/b":{"post":{"security":[],`+token+ok+`}}`, ""))
	p := propose(t, data, Options{})
	registers(t, p)
	if len(p.Proposed) != 1 || len(p.Project.Headers) != 0 || !strings.Contains(strings.Join(p.FillIn, "\n"), `auth: 1 operations want a credential in the header "token" besides`) ||
		p.Skipped[0].Message != `the header "token" is required and carries a credential; --auth API_KEY:token sends one` {
		t.Errorf("%v, %q, %v", p.Project.Headers, p.FillIn, p.Skipped)
	}
	if p = propose(t, data, Options{Auth: []string{"b", "API_KEY:token"}}); len(p.Proposed) != 2 {
		t.Errorf("%v", p.Skipped)
	}
}

// TestADocumentsFilesAreBoundedTogether: in number and in size.
func TestADocumentsFilesAreBoundedTogether(t *testing.T) {
	large := []byte(`{"get":{"description":"` + strings.Repeat("x", MaxDocumentBytes/2) + `"}}`)
	for want, open := range map[string]func(name string, most int) ([]byte, error){
		"the document's files are too large together; bundle it first":        func(string, int) ([]byte, error) { return large, nil },
		"the document has too many files, or too large ones; bundle it first": func(string, int) ([]byte, error) { return []byte("{}"), nil },
	} {
		paths := make([]string, 0, maxFiles+1)
		for i := range maxFiles + 1 {
			paths = append(paths, fmt.Sprintf(`"/%d":{"$ref":"f%d.json"}`, i, i))
		}
		d, err := Read([]byte(document("3.0.3", strings.Join(paths, ","), "")))
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		d.Below("api.json", func(name string, most int) ([]byte, error) { read++; return open(name, most) })
		p, _ := d.Propose(Options{ProjectID: "acme-x"})
		if p == nil || !slices.ContainsFunc(p.Skipped, func(s Skipped) bool { return strings.HasSuffix(s.Message, want) }) || read > maxFiles {
			t.Errorf("%d files read; not %s", read, want)
		}
	}
}

// TestADenseDocumentIsKeptSmall: what it stands for is bounded, whatever a byte of it stands for.
func TestADenseDocumentIsKeptSmall(t *testing.T) {
	for name, data := range map[string][]byte{
		"a list":  []byte(`{"openapi":"3.0.0","x":[` + strings.Repeat("0,", 4<<20) + "0]}"),
		"objects": []byte(`{"openapi":"3.0.0","x":[` + strings.Repeat(`{"a":0},`, 1<<20) + "0]}"),
		"YAML":    []byte("openapi: 3.0.0\nx: [" + strings.Repeat("a,", 4<<20) + "]\n"),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(data)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 128<<20 {
			t.Errorf("%s: %v; it took %d MiB in all", name, err, took>>20)
		}
	}
}
