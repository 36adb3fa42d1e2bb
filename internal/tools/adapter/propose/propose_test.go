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
