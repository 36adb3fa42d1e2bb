package importer

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/project"
)

// document is an OpenAPI document with a server, a bearer scheme and the given parts.
func document(version, paths, schemas string) string {
	return fmt.Sprintf(`{"openapi":%q,"info":{"title":"Shop","version":"1"},"servers":[{"url":"https://api.example.com/v1"}],
		"security":[{"b":[]}],"components":{"securitySchemes":{"b":{"type":"http","scheme":"bearer"}},"schemas":{%s}},"paths":{%s}}`, version, schemas, paths)
}

// post is a POST whose body has the given schema.
func post(schema string) string {
	return `"/a":{"post":{"operationId":"make","requestBody":{"content":{"application/json":{"schema":` + schema + `}}},"responses":{"201":{"description":""}}}}`
}

// get is a GET at a path with the given parameters.
func get(path, parameters string) string {
	return `"` + path + `":{"get":{"parameters":[` + parameters + `],"responses":{"200":{"content":{"application/json":{}}}}}}`
}

const ok = `"responses":{"200":{"content":{"application/json":{}}}}`

// registers validates a proposal by the service's own rules.
func registers(t testing.TB, p *Proposal) {
	t.Helper()
	w := p.Project
	if w.Auth == nil {
		w.Auth = countersign.OneAuth(countersign.Auth{Type: countersign.AuthHMAC, CredentialEnv: "KEY"}) // the report tells a person to fill it in
	}
	w.Headers = maps.Clone(w.Headers)
	for name, value := range w.Headers {
		if value == "" {
			w.Headers[name] = "filled-in"
		}
	}
	var names []string
	for _, a := range w.Auth.List() {
		names = append(names, a.CredentialEnv)
	}
	_, err := project.Validate(nil, "", w, project.Allowed{Origins: []string{w.BaseURL}, Credentials: credential.Plain(nil, names)})
	if err != nil {
		t.Errorf("the service refuses the proposal: %v", err)
	}
	if w.Enabled != nil {
		t.Error("a proposal enables nothing")
	}
	for _, c := range w.Capabilities {
		if unasked := c.HasSideEffect() && !c.NeedsApproval(); unasked && (!c.Idempotent || c.Method == "DELETE") {
			t.Errorf("%s changes something and asks nobody", c.Name)
		}
	}
}

func TestEveryPublicProposalPassesTheServicesChecks(t *testing.T) {
	for _, name := range public {
		registers(t, propose(t, publicDocument(t, name), Options{}))
	}
}

// described prints a capability on one line.
func described(c countersign.Capability) string {
	var inputs []string
	for name, in := range c.InputSchema {
		mark := ""
		if in.Required {
			mark = "!"
		}
		inputs = append(inputs, name+":"+strings.Join(in.Types(), "|")+mark)
	}
	slices.Sort(inputs)
	return fmt.Sprintf("%s %s %s%v %v query=%v body=%v", c.Method, c.Path, c.Approval, map[bool]string{true: "+idempotent"}[c.Idempotent], inputs, c.Request.Query, c.Request.Body)
}

func TestOperationBecomesTheCapabilityThatItDescribes(t *testing.T) {
	schemas := `"O":{"type":"object","required":["id","kind"],"properties":{"id":{"type":"string","readOnly":true},"kind":{"enum":["x","y"]},"n":{"type":"integer"}}},
		"Loop":{"type":"object","properties":{"self":{"$ref":"#/components/schemas/Loop"}},"allOf":[{"type":"object","properties":{"a":{"type":"boolean"}}}]},
		"A":{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}},"B":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"}}}`
	for name, test := range map[string]struct{ version, paths, want string }{
		"path and query":                       {"3.0.3", get("/o/{id}", `{"name":"id","in":"path","required":true,"schema":{"type":"integer"}},{"name":"q","in":"query","schema":{"type":"boolean"}},{"name":"list","in":"query","schema":{"type":"array"}}`), "GET /v1/o/{id} NONE [id:number! q:boolean] query=[q] body=[]"},
		"several placeholders in a segment":    {"3.0.3", get("/o/{a}-{b}.json", `{"name":"a","in":"path","schema":{"type":"string"}},{"name":"b","in":"path","schema":{"type":"string"}}`), "GET /v1/o/{a}-{b}.json NONE [a:string! b:string!] query=[] body=[]"},
		"referenced body":                      {"3.0.3", post(`{"$ref":"#/components/schemas/O"}`), "POST /v1/a ALWAYS [kind:string! n:number] query=[] body=[kind n]"},
		"cycle":                                {"3.0.3", post(`{"$ref":"#/components/schemas/Loop"}`), "POST /v1/a ALWAYS [a:boolean self:object] query=[] body=[a self]"},
		"allOf":                                {"3.0.3", post(`{"allOf":[{"$ref":"#/components/schemas/A"},{"$ref":"#/components/schemas/B"}]}`), "POST /v1/a ALWAYS [a:string! b:number] query=[] body=[a b]"},
		"oneOf requires nothing":               {"3.0.3", post(`{"oneOf":[{"$ref":"#/components/schemas/A"},{"$ref":"#/components/schemas/B"}]}`), "POST /v1/a ALWAYS [a:string b:number] query=[] body=[a b]"},
		"types of 3.1":                         {"3.1.0", post(`{"type":["object","null"],"properties":{"a":{"type":["string","null"]},"b":{"type":["integer","number"]},"c":{"type":["string","number"]},"d":true}}`), "POST /v1/a ALWAYS [a:string b:number c:string|number d:string|number|boolean|object|array] query=[] body=[a b c d]"},
		"beside a reference of 3.1":            {"3.1.0", post(`{"$ref":"#/components/schemas/B","required":["b"]}`), "POST /v1/a ALWAYS [a:string b:number!] query=[] body=[a b]"},
		"beside a reference of 3.0":            {"3.0.3", post(`{"$ref":"#/components/schemas/B","required":["b"]}`), "POST /v1/a ALWAYS [a:string b:number] query=[] body=[a b]"},
		"no body at all":                       {"3.0.3", `"/a":{"delete":{` + ok + `}}`, "DELETE /v1/a ALWAYS [] query=[] body=[]"},
		"a search by POST stays a side effect": {"3.0.3", `"/search":{"post":{"summary":"Search orders",` + ok + `}}`, "POST /v1/search ALWAYS [] query=[] body=[]"},
		"put is not idempotent by its method":  {"3.0.3", `"/a":{"put":{` + ok + `}}`, "PUT /v1/a ALWAYS [] query=[] body=[]"},
		"idempotency key":                      {"3.0.3", `"/a":{"post":{"parameters":[{"name":"idempotency-key","in":"header","required":true}],` + ok + `}}`, "POST /v1/a ALWAYS+idempotent [] query=[] body=[]"},
		"another idempotency header":           {"3.0.3", `"/a":{"post":{"parameters":[{"name":"X-Idempotency-Key","in":"header"}],` + ok + `}}`, "POST /v1/a ALWAYS [] query=[] body=[]"},
		"idempotent DELETE asks":               {"3.0.3", `"/a":{"delete":{"x-idempotent":true,` + ok + `}}`, "DELETE /v1/a ALWAYS+idempotent [] query=[] body=[]"},
		"idempotent by its words":              {"3.0.3", `"/a":{"post":{"description":"Requests are deduplicated by Idempotency-Key for a year.",` + ok + `}}`, "POST /v1/a ALWAYS+idempotent [] query=[] body=[]"},
		"not idempotent by its words":          {"3.0.3", `"/a":{"post":{"description":"This is not idempotent: Idempotency-Key is ignored.",` + ok + `}}`, "POST /v1/a ALWAYS [] query=[] body=[]"},
		"idempotent in some other sense":       {"3.0.3", `"/a":{"put":{"description":"This operation is idempotent.",` + ok + `}}`, "PUT /v1/a ALWAYS [] query=[] body=[]"},
		"the extension says no":                {"3.0.3", `"/a":{"post":{"x-idempotent":false,"parameters":[{"name":"Idempotency-Key","in":"header"}],` + ok + `}}`, "POST /v1/a ALWAYS [] query=[] body=[]"},
		"own prefix":                           {"3.0.3", `"/a":{"servers":[{"url":"https://API.example.com:443/v2/"}],"get":{` + ok + `}}`, "GET /v2/a NONE [] query=[] body=[]"},
		"default response":                     {"3.0.3", `"/a":{"get":{"responses":{"default":{"description":""}}}}`, "GET /v1/a NONE [] query=[] body=[]"},
		"parameters of the path item":          {"3.0.3", `"/a/{x}":{"parameters":[{"name":"x","in":"path","schema":{"type":"object"}}],"get":{"parameters":[{"name":"x","in":"path","schema":{"type":"string"}}],` + ok + `}}`, "GET /v1/a/{x} NONE [x:string!] query=[] body=[]"},
	} {
		t.Run(name, func(t *testing.T) {
			p := propose(t, []byte(document(test.version, test.paths, schemas)), Options{})
			registers(t, p)
			if got := described(p.Project.Capabilities[0]); got != test.want || len(p.Skipped) > 0 {
				t.Errorf("is\n%s\nnot\n%s\nskipped %v", got, test.want, p.Skipped)
			}
		})
	}
}

// TestADescriptionKeepsOnlyWhatAReaderSees: people and language models read it.
func TestADescriptionKeepsOnlyWhatAReaderSees(t *testing.T) {
	paths := `"/a":{"get":{"summary":"Reads\u202e one\u200b order.\u0007 \udb40\udc69Thanks",` + ok + `}},"/b":{"get":{"description":"First\u2066 part\n\nsecond",` + ok + `}}`
	p := propose(t, []byte(document("3.0.3", paths, "")), Options{})
	registers(t, p)
	for i, want := range []string{"Reads one order. Thanks", "First part"} {
		if got := p.Project.Capabilities[i].Description; got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestOperationThatCannotBeCalledExactlyIsSkippedWithItsReason(t *testing.T) {
	needed := `"required":true,"schema":{"type":"array"}`
	form := `"requestBody":{"content":{"multipart/form-data":{}}}`
	body := `"requestBody":{"content":{"application/json":{"schema":{"required":["x"],"properties":{"x":{"type":"string"}}}}}}`
	for name, test := range map[string]struct {
		paths string
		want  Reason
	}{
		"HEAD":                     {`"/a":{"head":{` + ok + `}}`, MethodNotOffered},
		"other server":             {`"/a":{"get":{"servers":[{"url":"https://other.example.com"}],` + ok + `}}`, OtherServer},
		"other authentication":     {`"/a":{"get":{"security":[{"other":[]}],` + ok + `}}`, AuthenticationOther},
		"fragment":                 {`"/a#b":{"get":{` + ok + `}}`, PathUnusable},
		"traversal":                {`"/../a":{"get":{` + ok + `}}`, PathUnusable},
		"placeholder no one names": {`"/a/{b}":{"get":{` + ok + `}}`, PathParameterUnusable},
		"object in the path":       {get("/a/{b}", `{"name":"b","in":"path","schema":{"type":"object"}}`), PathParameterUnusable},
		"array in the query":       {get("/a", `{"name":"b","in":"query",`+needed+`}`), QueryParameterNeeded},
		"header":                   {get("/a", `{"name":"b","in":"header",`+needed+`}`), HeaderNeeded},
		"cookie":                   {get("/a", `{"name":"b","in":"cookie",`+needed+`}`), CookieNeeded},
		"form":                     {`"/a":{"post":{` + form + `,` + ok + `}}`, BodyNotJSON},
		"array body":               {post(`{"type":"array"}`), BodyNotObject},
		"boolean schema":           {post(`true`), BodyNotObject},
		"one of text and object":   {post(`{"oneOf":[{"type":"object"},{"type":"string"}]}`), BodyNotObject},
		"field of unknown type":    {post(`{"required":["a"],"properties":{"a":{"type":"date"}}}`), BodyFieldNeeded},
		"field of no value at all": {post(`{"required":["a"],"properties":{"a":false}}`), BodyFieldNeeded},
		"path and body":            {`"/a/{x}":{"post":{"parameters":[{"name":"x","in":"path","schema":{"type":"string"}}],` + body + `,` + ok + `}}`, NameClash},
		"query and body":           {`"/a":{"post":{"parameters":[{"name":"x","in":"query","schema":{"type":"string"}}],` + body + `,` + ok + `}}`, NameClash},
		"text response":            {`"/a":{"get":{"responses":{"200":{"content":{"text/csv":{}}}}}}`, ResponseNotJSON},
		"redirect":                 {`"/a":{"get":{"responses":{"302":{}}}}`, ResponseUnknown},
		"external reference":       {post(`{"$ref":"http://169.254.169.254/x.json"}`), ExternalReference},
		"file reference":           {post(`{"$ref":"../../etc/passwd"}`), ExternalReference},
		"path item elsewhere":      {`"/a":{"$ref":"a.yaml"}`, ExternalReference},
		"dangling reference":       {post(`{"$ref":"#/components/schemas/none"}`), ReferenceUnresolved},
		"reference to itself":      {post(`{"$ref":"#/components/schemas/self"}`), ReferenceUnresolved},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Read([]byte(document("3.0.3", test.paths+`,"/good":{"get":{`+ok+`}},"/good2":{"get":{`+ok+`}}`, `"self":{"$ref":"#/components/schemas/self"}`)))
			if err != nil {
				t.Fatal(err)
			}
			p, err := d.Propose(Options{ProjectID: "acme-x"})
			if err != nil || len(p.Skipped) != 1 || p.Skipped[0].Reason != test.want || p.Skipped[0].Message == "" || len(p.Proposed) != 2 {
				t.Errorf("err %v; skipped %v, want %s", err, p.Skipped, test.want)
			}
		})
	}
}

func TestNamesAreUniqueAndFit(t *testing.T) {
	one := func(path, id string) string {
		return fmt.Sprintf(`%q:{"get":{"operationId":%q,%s}}`, path, id, ok)
	}
	p := propose(t, []byte(document("3.0.3", strings.Join([]string{one("/a", "same"), one("/b/c", "same"), one("/b.c", "get-b.c"), one("/b-c", "same"), one("/d", "wä ird\n--"), one("/e", ""), one("/f", strings.Repeat("x", 500))}, ","), "")), Options{})
	registers(t, p)
	var got []string
	for _, c := range p.Project.Capabilities {
		got = append(got, c.Name)
	}
	want := []string{"same", "get-b-c", "get-b.c", "get-b-c-2", "w-ird", "get-e", strings.Repeat("x", maxName)}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("names are %q, not %q", got, want)
	}
}

func TestProbeNeedsNothingThatTheStepMayLack(t *testing.T) {
	id := `{"name":"id","in":"path","schema":{"type":"string"}}`
	item := `"/o/{id}":{"parameters":[` + id + `],"get":{"operationId":"read","parameters":[%s],` + ok + `},"put":{"operationId":"write",` + ok + `}}`
	create := `,"/o":{"post":{"operationId":"create","requestBody":{"content":{"application/json":{"schema":{"type":"object",%s"properties":{"id":{"type":"string"}}}}}},` + ok + `}}`
	for name, test := range map[string]struct{ parameters, required, write, create string }{
		"same path, id of the client": {"", `"required":["id"],`, "read", "read"},
		"the id may be absent":        {"", "", "read", ""},
		"the read needs more":         {`{"name":"at","in":"query","required":true,"schema":{"type":"string"}}`, `"required":["id"],`, "", ""},
		"the read may take more":      {`{"name":"at","in":"query","schema":{"type":"string"}}`, `"required":["id"],`, "read", "read"},
	} {
		p := propose(t, []byte(document("3.0.3", fmt.Sprintf(item, test.parameters)+fmt.Sprintf(create, test.required), "")), Options{})
		registers(t, p)
		for _, c := range p.Project.Capabilities {
			if want := map[string]string{"write": test.write, "create": test.create}[c.Name]; c.Probe != want {
				t.Errorf("%s: %s has the probe %q, not %q", name, c.Name, c.Probe, want)
			}
		}
	}
}

func TestSecretsAreFoundByNameAndFormat(t *testing.T) {
	for name, secret := range map[string]bool{
		"password": true, "userPassword": true, "card_number": true, "encryptedCardNumber": true, "CVC": true, "iban": true, "apiKey": true, "API-KEY": true, "clientSecret": true, "accessToken": true, "PIN": true,
		"amount": false, "spinner": false, "pinned": false, "tokenization": false, "key": false, "number": false, "secretary": false, "company": false,
	} {
		if secretName(name) != secret {
			t.Errorf("%s: %v", name, !secret)
		}
	}
	p := propose(t, []byte(document("3.0.3", post(`{"properties":{"x":{"type":"string","format":"password"},"y":{"type":"string"},"cvc":{"type":"string"}}}`), "")), Options{})
	if got := p.Project.Capabilities[0].Sensitive; !slices.Equal(got, []string{"cvc", "x"}) {
		t.Errorf("sensitive is %v", got)
	}
}

func TestFieldsOfSuccessAnswersAreProposedAsOutputs(t *testing.T) {
	answer := func(status, schema string) string {
		return `"` + status + `":{"description":"","content":{"application/json":{"schema":` + schema + `}}}`
	}
	for name, one := range map[string]struct {
		responses string
		want      []string
	}{
		"of each success":  {answer("200", `{"properties":{"b":{"type":"string"},"a":{"readOnly":true}}}`) + "," + answer("201", `{"properties":{"c":{}}}`), []string{"a", "b", "c"}},
		"not of a failure": {answer("200", `{"properties":{"a":{},"":{}}}`) + "," + answer("400", `{"properties":{"error":{}}}`), []string{"a"}},
		"none of a list":   {answer("200", `{"type":"array","items":{"properties":{"a":{}}}}`), nil},
	} {
		p := propose(t, []byte(document("3.0.3", `"/a":{"get":{"responses":{`+one.responses+`}}}`, "")), Options{})
		if got := p.Project.Capabilities[0].Outputs; !slices.Equal(got, one.want) {
			t.Errorf("%s: outputs are %v, want %v", name, got, one.want)
		}
		registers(t, p)
	}
}

func TestBaseIsTheFirstServerOrTheOneNamed(t *testing.T) {
	with := func(servers string) string {
		return `{"openapi":"3.0.0","servers":` + servers + `,"paths":{"/a":{"get":{` + ok + `}}}}`
	}
	for name, test := range map[string]struct{ servers, baseURL, want string }{
		"https":              {`[{"url":"https://API.example.com/v1/"},{"url":"https://b"}]`, "", "https://api.example.com /v1/a"},
		"variables":          {`[{"url":"https://{h}.example.com/{v}","variables":{"h":{"default":"eu"},"v":{"default":"v9"}}}]`, "", "https://eu.example.com /v9/a"},
		"loopback":           {`[{"url":"http://127.0.0.1:9000"}]`, "", "http://127.0.0.1:9000 /a"},
		"named":              {`[{"url":"https://a/v1"}]`, "https://test.example.com", "https://test.example.com /v1/a"},
		"named with a path":  {`[{"url":"https://a/v1"}]`, "https://test.example.com/v7", "https://test.example.com /v7/a"},
		"relative and named": {`[{"url":"/v3"}]`, "https://test.example.com", "https://test.example.com /v3/a"},
		"plain http":         {`[{"url":"http://a"}]`, "", "servers[0]: it must be https (http on this machine alone); name the server with --base-url"},
		"relative":           {`[{"url":"/v3"}]`, "", "servers[0]: it names no host; name the server with --base-url"},
		"none":               {`[]`, "", "servers[0]: it names no host; name the server with --base-url"},
		"named badly":        {`[]`, "https://u:p@a", "--base-url: it must be an origin and a path, no more"},
	} {
		d, err := Read([]byte(with(test.servers)))
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if p, err := d.Propose(Options{ProjectID: "acme-x", BaseURL: test.baseURL}); err != nil {
			got = err.Error()
		} else {
			got = p.Project.BaseURL + " " + p.Project.Capabilities[0].Path
		}
		if got != test.want {
			t.Errorf("%s: %s, not %s", name, got, test.want)
		}
	}
}

func TestAuthenticationIsTheOneThatMostOperationsTake(t *testing.T) {
	for name, test := range map[string]struct{ schemes, security, want, fillIn string }{
		"bearer":          {`"b":{"type":"http","scheme":"Bearer"}`, `[{"b":[]}]`, "{BEARER ACME_SHOP_TOKEN  }", ""},
		"key":             {`"k":{"type":"apiKey","in":"header","name":"X-Key"}`, `[{"k":[]}]`, "{API_KEY ACME_SHOP_API_KEY X-Key }", ""},
		"either":          {`"b":{"type":"http","scheme":"basic"},"k":{"type":"apiKey","in":"header","name":"X-Key"}`, `[{"b":[]},{"k":[]}]`, "{API_KEY ACME_SHOP_API_KEY X-Key }", ""},
		"reserved":        {`"k":{"type":"apiKey","in":"header","name":"Authorization"}`, `[{"k":[]}]`, "{BEARER ACME_SHOP_TOKEN  }", "another word, such as Token or Bot"},
		"really reserved": {`"k":{"type":"apiKey","in":"header","name":"X-Runtime-Key"}`, `[{"k":[]}]`, "", "reserved"},
		"in a query":      {`"k":{"type":"apiKey","in":"query","name":"key"}`, `[{"k":[]}]`, "", "only headers carry one"},
		"oauth2":          {`"o":{"type":"oauth2"}`, `[{"o":[]}]`, "{BEARER ACME_SHOP_TOKEN  }", "fetches and refreshes no tokens"},
		"nothing":         {``, `[]`, "", "names no authentication"},
		"not required":    {`"b":{"type":"http","scheme":"bearer"}`, `[]`, "{BEARER ACME_SHOP_TOKEN  }", ""},
	} {
		p := propose(t, []byte(`{"openapi":"3.1.0","servers":[{"url":"https://a"}],"security":`+test.security+`,"components":{"securitySchemes":{`+test.schemes+`}},"paths":{"/a":{"post":{`+ok+`}}}}`), Options{ProjectID: "acme-shop"})
		got := ""
		if p.Project.Auth != nil {
			got = fmt.Sprint(*p.Project.Auth.One)
		}
		if got != test.want || !strings.Contains(strings.Join(p.FillIn, "\n"), test.fillIn) {
			t.Errorf("%s: %s, not %s; fill in %q", name, got, test.want, p.FillIn)
		}
	}
}

func TestFiltersChooseByLineIdAndTag(t *testing.T) {
	data := []byte(document("3.0.3", `"/a":{"get":{"operationId":"one","tags":["x"],`+ok+`},"post":{"operationId":"two","tags":["y"],`+ok+`}},"/b":{"get":{"operationId":"three",`+ok+`}}`, ""))
	for _, test := range []struct {
		f    Filter
		want int
	}{
		{Filter{}, 3}, {Filter{Include: regexp.MustCompile(`^GET `)}, 2}, {Filter{Include: regexp.MustCompile(`^two$`)}, 1},
		{Filter{Exclude: regexp.MustCompile(` /a$`)}, 1}, {Filter{Tags: []string{"x", "y"}}, 2},
	} {
		p := propose(t, data, Options{Filter: test.f})
		if len(p.Proposed) != test.want || p.Filtered != 3-test.want || p.Operations != 3 {
			t.Errorf("%v: %d proposed, %d filtered", test.f, len(p.Proposed), p.Filtered)
		}
	}
}

func TestYAMLSaysTheSameAsJSON(t *testing.T) {
	p := propose(t, []byte("openapi: 3.0\nservers: [{url: https://a}]\nx-ok: &ok\n  200: {content: {application/json: {}}}\npaths:\n  /a:\n    get:\n      responses: *ok\n  /b:\n    post:\n      requestBody: {content: {application/json: {schema: {type: object, properties: {on: {type: string}}}}}}\n      responses: *ok\n"), Options{})
	registers(t, p)
	if len(p.Proposed) != 2 || p.Project.Capabilities[1].InputSchema["on"].Type != "string" {
		t.Errorf("proposed %v, skipped %v", p.Proposed, p.Skipped)
	}
}
