package test

import (
	encoding "encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/countersign/countersign/test/harness"
)

// The client of these tests is mark3labs/mcp-go: neither ours nor the library that
// the handler is made with.

// agentByMCP calls an agent by MCP as one principal.
type agentByMCP struct {
	t      *testing.T
	client *mcpclient.Client
}

func (w *world) enters(t *testing.T, who *harness.Client, agent string) agentByMCP {
	t.Helper()
	return w.entersBy(t, mcp.LATEST_PROTOCOL_VERSION, who, agent)
}

// entersBy enters with a version of the protocol: the latest knows no handshake.
func (w *world) entersBy(t *testing.T, version string, who *harness.Client, agent string) agentByMCP {
	t.Helper()
	c, err := mcpclient.NewStreamableHttpClient(w.URL+"/mcp/agents/"+agent, transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + who.Token()}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // it has nothing to lose
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion, hello.Params.ClientInfo = version, mcp.Implementation{Name: "test", Version: "1"}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Initialize(t.Context(), hello); err != nil {
		t.Fatal(err)
	}
	return agentByMCP{t, c}
}

// tools lists the tools by name.
func (a agentByMCP) tools() map[string]json {
	a.t.Helper()
	list, err := a.client.ListTools(a.t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		a.t.Fatal(err)
	}
	out := map[string]json{}
	for _, tool := range list.Tools {
		out[tool.Name] = a.parse(tool)
	}
	return out
}

func (a agentByMCP) parse(v any) json {
	a.t.Helper()
	text, err := encoding.Marshal(v)
	if err != nil {
		a.t.Fatal(err)
	}
	parsed, err := harness.Parse(text)
	if err != nil {
		a.t.Fatal(err)
	}
	return parsed
}

func (a agentByMCP) call(tool string, arguments doc) (answer json, refused bool) {
	a.t.Helper()
	r := mcp.CallToolRequest{}
	r.Params.Name, r.Params.Arguments = tool, arguments
	out, err := a.client.CallTool(a.t.Context(), r)
	if err != nil {
		a.t.Fatal(err)
	}
	text, _ := out.Content[0].(mcp.TextContent)
	parsed, err := harness.Parse([]byte(text.Text))
	if err != nil {
		a.t.Fatalf("%s: %v", text.Text, err)
	}
	return parsed, out.IsError
}

// runs calls a tool that must not refuse; what clients show is what programs get.
func (a agentByMCP) runs(tool string, arguments doc) json {
	a.t.Helper()
	answer, refused := a.call(tool, arguments)
	if refused {
		a.t.Fatalf("%s refused: %s", tool, answer)
	}
	return answer
}

// refuses calls a tool that must refuse with this code.
func (a agentByMCP) refuses(tool string, arguments doc, code string, parts ...string) {
	a.t.Helper()
	answer, refused := a.call(tool, arguments)
	if !refused {
		a.t.Fatalf("%s answered %s; expected %s", tool, answer, code)
	}
	answer.Is(a.t, "error", code).Has(a.t, "message", parts...)
	if answer.At("requestId").Text() == "" {
		a.t.Errorf("a refusal without request id: %s", answer)
	}
}

// live are the arguments of a LIVE call.
func live(key string, input doc) doc {
	return doc{"input": input, "mode": "LIVE", "expectation": doc{"field": "ok", "equals": true}, "idempotencyKey": key}
}

func TestUnderAnAlwaysPolicyNoSocketOpensBeforeAnApprovalExists(t *testing.T) {
	t.Parallel()
	for _, version := range []string{mcp.LATEST_PROTOCOL_VERSION, mcp.LATEST_LEGACY_PROTOCOL_VERSION, "2025-03-26"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			noSocketBeforeAnApproval(t, version)
		})
	}
}

func noSocketBeforeAnApproval(t *testing.T, version string) {
	t.Helper()
	w := newWorld(t)
	id := w.admitted(t, harness.With(agentItem("clerk", "refund", "refund"), "capabilities", []any{"refund", "lookup"}))[0]
	a := w.entersBy(t, version, w.operator, id)
	tools := a.tools()
	if len(tools) != 3 || !tools["run_status"].Exists() {
		t.Fatalf("the tools are %v", tools)
	}
	refund := tools["refund"].Has(t, "description", "POST /refunds", "ALWAYS").Is(t, "annotations.readOnlyHint", false)
	refund.Is(t, "inputSchema.properties.input", doc{
		"type": "object", "description": "the capability's inputs", "additionalProperties": false,
		"properties": doc{"orderId": doc{"type": "string"}, "amount": doc{"type": "number"}}, "required": []string{"orderId"},
	})
	tools["lookup"].Is(t, "annotations.readOnlyHint", true).Is(t, "inputSchema.properties.input.required", []string{"resourceId"})
	before := w.shop.Connections()

	a.runs("refund", doc{"input": doc{"orderId": "o-1", "amount": 5}}).Is(t, "mode", "DRY_RUN").Is(t, "status", "COMPLETED").
		Is(t, "steps.0.status", "SIMULATED").Is(t, "steps.0.request.body", doc{"orderId": "o-1", "amount": 5})
	waiting := a.runs("refund", live("refund-of-o-1", doc{"orderId": "o-1", "amount": 5})).Is(t, "status", "WAITING_APPROVAL").
		Is(t, "waitingFor.kind", "approval").Is(t, "waitingFor.role", "APPROVER").Is(t, "replayed", harness.Absent)
	run := waiting.At("runId").Text()
	a.runs("run_status", doc{"runId": run}).Is(t, "status", "WAITING_APPROVAL")
	a.runs("refund", live("refund-of-o-1", doc{"orderId": "o-1", "amount": 5})).Is(t, "runId", run).Is(t, "replayed", true)
	if got := w.shop.Connections(); got != before {
		t.Fatalf("%d sockets opened before an approval", got-before)
	}

	w.approve(t, run)
	w.reaches(t, run, "COMPLETED").Is(t, "agentId", id)
	a.runs("run_status", doc{"runId": run}).Is(t, "status", "COMPLETED").Is(t, "steps.0.output", doc{"ok": true}).Is(t, "steps.0.verification.status", "PASSED")
	if got := len(w.shop.Seen("POST", "/refunds")); got != 1 {
		t.Errorf("the receiver was asked %d times", got)
	}
}

func TestAStartOverMCPIsAuditedAsTheAPIsIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	started := func(start func()) []string {
		t.Helper()
		n := w.tenantAdmin.Get("/audit").OK(t).At("total").Int()
		start()
		var out []string
		_, records := w.since(t, n)
		for _, r := range records {
			if r.At("actor").Text() != "system" {
				out = append(out, r.At("action").Text()+" "+r.At("outcome").Text()+" by "+r.At("actor").Text()+" in "+r.At("requestId").Text())
			}
		}
		return out
	}
	byAPI := started(func() {
		w.operator.Post("/agents/"+id+"/runs", agentRun("DRY_RUN", "note", doc{}), key(), "X-Request-Id: request-1")
	})
	byMCP := started(func() {
		call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note","arguments":{"input":{}}}}`
		if _, answer := w.knock(t, "POST", id, call, "X-Request-Id: request-1"); answer.At("result.structuredContent.runId").Text() == "" {
			t.Errorf("the call was answered %s", answer)
		}
	})
	if diff := cmp.Diff(byAPI, byMCP); diff != "" || len(byAPI) == 0 {
		t.Errorf("%q by the API (-), over MCP (+):\n%s", byAPI, diff)
	}
}

func TestTheSameKeyOverMCPFindsItsRunWhateverHasChangedSince(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := agentItem("clerk", "note", "refund")
	id := w.admitted(t, item)[0]
	a := w.enters(t, w.operator, id)
	run := a.runs("note", live("k", doc{"amount": number("1.50")})).Is(t, "idempotencyKey", "k").At("runId").Text()
	w.reaches(t, run, "COMPLETED")
	a.runs("note", live("k", doc{"amount": number("1.5")})).Is(t, "runId", run).Is(t, "replayed", true)
	a.refuses("note", live("k", doc{"amount": 2}), "idempotency_conflict", run)
	w.sync(t, at(2, harness.With(item, "goal", "another")))
	a.runs("note", live("k", doc{"amount": number("1.50")})).Is(t, "runId", run)
	a.refuses("note", live("other", doc{}), "agent_not_admitted", id)
	if tools := a.tools(); len(tools) != 1 || !tools["run_status"].Exists() {
		t.Errorf("an agent that nobody admitted offers %v", tools)
	}
	if got := len(w.shop.Seen("POST", "/notes")); got != 1 {
		t.Errorf("the receiver was asked %d times", got)
	}
}

func TestWhatTheAPIRefusesIsAnErrorOfTheTool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	clerk := fixing(harness.With(agentItem("clerk", "", "refund"), "capabilities", []any{"note", "refund"}), doc{"note": doc{"currency": "EUR"}})
	id := w.admitted(t, clerk)[0]
	other := w.admitted(t, agentItem("other", "note", "refund"))[0]
	a := w.enters(t, w.operator, id)
	if _, err := a.client.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "lookup"}}); err == nil {
		t.Error("a capability that isn't the agent's was called")
	}
	unkeyed := harness.Without(live("", doc{}), "idempotencyKey")
	a.refuses("note", unkeyed, "idempotency_key_required", "idempotencyKey")
	a.refuses("note", live("", doc{}), "idempotency_key_required")
	a.refuses("note", live("a b", doc{}), "invalid_request", "idempotencyKey")
	a.refuses("note", harness.Without(live("k", doc{}), "expectation"), "expectation_required")
	a.refuses("note", doc{"input": doc{"currency": "USD"}}, "invalid_request", "currency")
	a.refuses("note", doc{"inputs": doc{}}, "invalid_request", "inputs")
	a.refuses("note", doc{"mode": "live"}, "invalid_request", "mode")
	a.refuses("refund", doc{}, "invalid_request", "orderId")
	a.refuses("run_status", doc{"runId": "run-none"}, "not_found", "run-none")
	a.refuses("run_status", doc{"runId": "../x"}, "invalid_request")
	theirs := w.asks(other, agentRun("DRY_RUN", "note", nil)).OK(t).At("id").Text()
	a.refuses("run_status", doc{"runId": theirs}, "not_found", theirs)
	w.enters(t, w.operator, other).runs("run_status", doc{"runId": theirs})

	dry, _ := w.token(t, doc{"roles": []string{"OPERATOR"}, "modes": []string{"DRY_RUN"}})
	rehearsing := w.enters(t, dry, id)
	rehearsing.refuses("note", live("k", doc{}), "role_required", "DRY_RUN")
	first, second := rehearsing.runs("note", doc{}), rehearsing.runs("note", doc{})
	if first.At("runId").Text() == second.At("runId").Text() || first.At("idempotencyKey").Text() == "" {
		t.Errorf("two rehearsals without keys were %s and %s", first, second)
	}
	if got := len(w.shop.Seen("POST", "/notes")); got != 0 {
		t.Errorf("the receiver was asked %d times", got)
	}
}

func TestTheSameKeyOverMCPFindsAnArchivedRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("RETENTION", "500ms"), harness.Set("ARCHIVE_DIR", t.TempDir()))
	a := w.enters(t, w.operator, w.admitted(t, agentItem("clerk", "note", "refund"))[0])
	run := a.runs("note", live("k", doc{})).At("runId").Text()
	harness.Until(t, "the archiving", func() bool { return w.operator.Get("/runs/"+run).Status == 404 })
	a.runs("note", live("k", doc{})).Is(t, "runId", run).Is(t, "status", "COMPLETED").Is(t, "replayed", true)
	a.refuses("run_status", doc{"runId": run}, "not_found", run, "archive")
	if n := len(w.shop.Seen("POST", "/notes")); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
}
