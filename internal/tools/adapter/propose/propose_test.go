package propose_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/importer"
	"github.com/countersign/countersign/internal/tools/adapter/file"
	"github.com/countersign/countersign/internal/tools/adapter/mcpup"
	"github.com/countersign/countersign/internal/tools/adapter/propose"
)

func tool(name, schema string) mcpup.Tool {
	return mcpup.Tool{Name: name, Description: "does it", InputSchema: countersign.RawValue(schema)}
}

func TestToolsBecomeCapabilitiesWithTheirBounds(t *testing.T) {
	b, err := propose.Tools("acme-my.tools", file.MCP{Command: []string{"server"}}, []mcpup.Tool{
		tool("pay", `{"type":"object","properties":{"amount":{"type":"number","maximum":100,"description":"how much"},"to":{"$ref":"#/$defs/name"}},"required":["amount"],"$defs":{"name":{"type":"string","maxLength":9}}}`),
		tool("bare", `{"type":"object"}`),
		tool("no schema", ``),
		tool("../up", `{}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Project.Capabilities) != 2 || len(b.Report.Skipped) != 2 || b.Report.Skipped[0].Message != "a tool's name must be letters, digits, _, - and ." {
		t.Fatalf("%+v\n%+v", b.Project.Capabilities, b.Report.Skipped)
	}
	for _, c := range b.Project.Capabilities {
		if c.Approval != countersign.ApprovalAlways || c.Expectation.Field != "isError" || !strings.HasPrefix(c.Path, "/mcp/my-tools/") {
			t.Errorf("%+v", c)
		}
	}
	pay := (&countersign.Project{Capabilities: b.Project.Capabilities}).Capability("pay")
	if amount, to := pay.InputSchema["amount"], pay.InputSchema["to"]; amount.Maximum.Raw() != "100" || !amount.Required || amount.Description != `the server says: "how much"` || to.MaxLength != 9 {
		t.Errorf("%+v", pay.InputSchema)
	}
	text, err := b.YAML()
	if err != nil {
		t.Fatal(err)
	}
	f, problems := file.Read(text)
	if problems != nil || len(f.Upstreams[0].MCP.Tools) != 2 {
		t.Errorf("%s\n%v", text, problems)
	}
}

func TestFormsHaveAnUpstreamOfTheirOwnAndTheKeyIsTheAPIs(t *testing.T) {
	p := &importer.Proposal{Project: countersign.ProjectWrite{BaseURL: "https://api.shop.example", Capabilities: []countersign.Capability{
		{Name: "read", Method: "GET", Path: "/v1/orders"}, {Name: "pay", Method: "POST", Path: "/v1/pay"},
	}}}
	p.Proposed = []importer.Proposed{{Name: "pay", SideEffect: true, OtherKey: "the header Pay-Request-Id", Form: true}}
	b := propose.Operations("acme-shop", p)
	if b.Project.Capabilities[0].Path != "/http/shop/v1/orders" || b.Project.Capabilities[1].Path != "/http/shop-form/v1/pay" {
		t.Errorf("%+v", b.Project.Capabilities)
	}
	text, err := b.YAML()
	if err != nil {
		t.Fatal(err)
	}
	f, problems := file.Read(text)
	if problems != nil || len(f.Upstreams) != 2 || f.Upstreams[1].HTTP.Encode != "form" || f.Upstreams[1].HTTP.Key.Header != "Pay-Request-Id" {
		t.Errorf("%s\n%v", text, problems)
	}
}

// TestTheAPIsKeyIsNoInput where the adapter sends the runtime's as it.
func TestTheAPIsKeyIsNoInput(t *testing.T) {
	document := `{"openapi":"3.0.3","info":{"title":"Pay"},"servers":[{"url":"https://api.pay.example"}],"paths":{"/refunds":{"post":{"operationId":"refund",
		"requestBody":{"content":{"application/x-www-form-urlencoded":{"schema":{"type":"object","required":["idempotency_key","amount"],"properties":{"idempotency_key":{"type":"string"},"amount":{"type":"number"}}}}}},
		"responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"object"}}}}}}}}}`
	d, err := importer.Read([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Propose(importer.Options{ProjectID: "acme-pay", Adapter: true})
	if err != nil {
		t.Fatal(err)
	}
	b := propose.Operations("acme-pay", p)
	c := b.Project.Capabilities[0]
	if h := b.File.Upstreams[0].HTTP; h.Encode != "form" || h.Key == nil || h.Key.Field != "idempotency_key" {
		t.Errorf("%+v", h)
	}
	if _, there := c.InputSchema["idempotency_key"]; there || len(c.Request.Body) != 1 || c.Path != "/http/pay-form/refunds" {
		t.Errorf("%+v %+v", c, c.Request)
	}
}

// operationsOf proposes a document's operations by way of the adapter; what has a place for a
// value gets one before its FILE is checked.
func operationsOf(t *testing.T, document string) *propose.Both {
	t.Helper()
	d, err := importer.Read([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Propose(importer.Options{ProjectID: "acme-shop", Adapter: true})
	if err != nil {
		t.Fatal(err)
	}
	b := propose.Operations("acme-shop", p)
	text, err := b.YAML()
	if err != nil {
		t.Fatal(err)
	}
	filled := strings.ReplaceAll(strings.ReplaceAll(string(text), `: ""`, ": filled-in"), "type: oauth2\n        clientIdEnv", "type: oauth2\n        tokenUrl: https://login.example.com/t\n        clientIdEnv")
	if _, problems := file.Read([]byte(filled)); problems != nil {
		t.Errorf("%s\n%v", text, problems)
	}
	return b
}

// shopOf is a document with these schemes and paths; each operation takes the scheme s.
func shopOf(scheme, paths string) string {
	return `{"openapi":"3.0.3","info":{"title":"Shop"},"servers":[{"url":"https://api.shop.example/v1"}],"components":{"securitySchemes":{` + scheme + `}},"security":[{"s":[]}],"paths":{` + paths + `}}`
}

const answers = `"responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"object"}}}}}`

// body is a POST with one field, of this media type.
func body(path, kind string) string {
	return `"` + path + `":{"post":{"requestBody":{"content":{"` + kind + `":{"schema":{"type":"object","properties":{"a":{"type":"string"}}}}}},` + answers + `}}`
}

// TestEachMediaTypeOfBodiesHasAnUpstreamOfItsOwn: JSON by its name, JSON by others, forms.
func TestEachMediaTypeOfBodiesHasAnUpstreamOfItsOwn(t *testing.T) {
	b := operationsOf(t, shopOf(`"s":{"type":"http","scheme":"bearer"}`, strings.Join([]string{
		body("/a", "application/json"), body("/b", "application/vnd.api+json"), body("/c", "application/merge-patch+json"), body("/d", "application/x-www-form-urlencoded"), body("/e", "application/vnd.api+json"),
	}, ",")))
	var got []string
	for i := range b.File.Upstreams {
		u := &b.File.Upstreams[i]
		got = append(got, u.Name+" "+u.HTTP.Encode+" "+u.HTTP.Headers["Content-Type"]+" "+u.HTTP.Operations[0].Path)
	}
	if want := "shop   /v1/a|shop-form form  /v1/d|shop-merge-patch  application/merge-patch+json /v1/c|shop-vnd-api  application/vnd.api+json /v1/b"; strings.Join(got, "|") != want {
		t.Errorf("is  %s\nnot %s", strings.Join(got, "|"), want)
	}
	for _, c := range b.Project.Capabilities {
		if c.Name == "post-e" && c.Path != "/http/shop-vnd-api/v1/e" {
			t.Error(c.Path)
		}
	}
}

// TestARequiredAcceptIsTheUpstreams, and a header without a value stays a place for one.
func TestARequiredAcceptIsTheUpstreams(t *testing.T) {
	b := operationsOf(t, shopOf(`"s":{"type":"http","scheme":"bearer"}`, `"/a":{"get":{"parameters":[{"name":"Accept","in":"header","required":true,"schema":{"type":"string","default":"application/vnd.shop+json"}},{"name":"X-Tenant","in":"header","required":true,"schema":{"type":"string"}}],`+answers+`}}`))
	h := b.File.Upstreams[0].HTTP
	if value, there := h.Headers["X-Tenant"]; h.Accept != "application/vnd.shop+json" || len(h.Headers) != 1 || !there || value != "" {
		t.Errorf("%+v", h)
	}
}

// TestASecondCredentialIsNamed: an upstream has one.
func TestASecondCredentialIsNamed(t *testing.T) {
	b := operationsOf(t, strings.Replace(shopOf(`"s":{"type":"apiKey","in":"header","name":"X-Key"},"t":{"type":"apiKey","in":"header","name":"X-App"}`, body("/a", "application/json")), `"security":[{"s":[]}]`, `"security":[{"s":[],"t":[]}]`, 1))
	if said := strings.Join(b.Report.FillIn, "\n"); b.File.Upstreams[0].HTTP.Auth.Name != "X-Key" && b.File.Upstreams[0].HTTP.Auth.Name != "X-App" || !strings.Contains(said, "auth: the API takes 2 credentials at once, and an upstream of the adapter sends one; without --adapter the project sends them all") {
		t.Error(said)
	}
}

// TestOAuthIsFetchedByTheAdapter: by client credentials where the document has that flow, else by
// a refresh token. A tokenUrl on another origin than the API's is a place to fill in.
func TestOAuthIsFetchedByTheAdapter(t *testing.T) {
	for scheme, want := range map[string]string{
		`"s":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"https://api.shop.example/oauth/token","scopes":{}}}}`: "oauth2 https://api.shop.example/oauth/token SHOP_CLIENT_ID SHOP_CLIENT_SECRET ",
		`"s":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"/oauth/token","scopes":{}}}}`:                         "oauth2 https://api.shop.example/oauth/token SHOP_CLIENT_ID SHOP_CLIENT_SECRET ",
		`"s":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"https://evil.example/t","scopes":{}}}}`:               "oauth2  SHOP_CLIENT_ID SHOP_CLIENT_SECRET ",
		`"s":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"https://u:p@api.shop.example/t","scopes":{}}}}`:       "oauth2  SHOP_CLIENT_ID SHOP_CLIENT_SECRET ",
		`"s":{"type":"oauth2","flows":{"authorizationCode":{"tokenUrl":"https://api.shop.example/t","scopes":{}}}}`:           "oauth2 https://api.shop.example/t SHOP_CLIENT_ID SHOP_CLIENT_SECRET SHOP_REFRESH_TOKEN",
		`"s":{"type":"oauth2","flows":{"implicit":{"authorizationUrl":"https://api.shop.example/a","scopes":{}}}}`:            "bearer    ",
		`"s":{"type":"openIdConnect","openIdConnectUrl":"https://api.shop.example/.well-known"}`:                              "bearer    ",
	} {
		b := operationsOf(t, shopOf(scheme, body("/a", "application/json")))
		a, said := b.File.Upstreams[0].HTTP.Auth, strings.Join(b.Report.FillIn, "\n")
		got := strings.ReplaceAll(strings.Join([]string{a.Type, a.TokenURL, a.ClientIDEnv, a.ClientSecretEnv, a.RefreshTokenEnv}, " "), "ACME_SHOP_", "SHOP_")
		if got != want {
			t.Errorf("%s: %s, not %s", scheme, got, want)
		}
		if place := strings.Contains(said, "auth.tokenUrl: "); place != (a.Type == "oauth2" && a.TokenURL == "") || strings.Contains(said, "evil.example") || strings.Contains(said, "healthPath") || strings.Contains(said, "the variable's value") == (a.Type == "oauth2") {
			t.Errorf("%s: fill in %s", scheme, said)
		}
	}
}
