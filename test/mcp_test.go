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

// These tests use the client mark3labs/mcp-go, which is neither ours nor the library of the handler.

// agentByMCP calls an agent by MCP as one principal.
type agentByMCP struct {
	t      *testing.T
	client *mcpclient.Client
}

func (w *world) enters(t *testing.T, who *harness.Client, agent string) agentByMCP {
	t.Helper()
	return w.entersBy(t, mcp.LATEST_PROTOCOL_VERSION, who, agent)
}

// rehearses connects to the endpoint where every call is a rehearsal.
func (w *world) rehearses(t *testing.T, who *harness.Client, agent string) agentByMCP {
	t.Helper()
	return w.entersBy(t, mcp.LATEST_PROTOCOL_VERSION, who, agent+"/rehearsal")
}

// expects sets the expectations of the shop's capabilities, which LIVE calls of side effects need.
func (w *world) expects(t *testing.T) {
	t.Helper()
	p := harness.Project(w.shop.Origin())
	for _, c := range p["capabilities"].([]any) {
		if name := c.(doc)["name"]; name == "note" || name == "refund" {
			c.(doc)["expectation"] = doc{"field": "ok", "equals": true}
		}
	}
	w.register(t, shop, harness.With(p, "expectedRevision", 1))
}

// entersBy connects with a version of the protocol; the latest has no handshake.
func (w *world) entersBy(t *testing.T, version string, who *harness.Client, agent string) agentByMCP {
	t.Helper()
	c, err := mcpclient.NewStreamableHttpClient(w.URL+"/mcp/agents/"+agent, transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + who.Token()}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() }) // the test ignores errors of closing
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

// runs calls a tool that must succeed; the text for clients must equal the structured result.
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
	w.expects(t)
	id := w.admitted(t, harness.With(agentItem("clerk", "refund", "refund"), "capabilities", []any{"refund", "lookup", "effect"}))[0]
	a, rehearsal := w.entersBy(t, version, w.operator, id), w.entersBy(t, version, w.operator, id+"/rehearsal")
	tools := a.tools()
	if len(tools) != 3 || !tools["run_status"].Exists() || len(rehearsal.tools()) != 4 {
		t.Fatalf("the tools are %v, and of the rehearsal %v", tools, rehearsal.tools())
	}
	refund := tools["refund"].Has(t, "description", "POST /refunds", "ALWAYS").Is(t, "annotations.readOnlyHint", false)
	refund.Is(t, "inputSchema.properties.orderId", doc{"type": "string"}).Is(t, "inputSchema.properties.amount", doc{"type": "number"})
	refund.Is(t, "inputSchema.required", []string{"orderId"}).Is(t, "inputSchema.additionalProperties", false).Is(t, "inputSchema.properties.task.type", "string")
	tools["lookup"].Is(t, "annotations.readOnlyHint", true).Is(t, "inputSchema.required", []string{"resourceId"})
	before := w.shop.Connections()

	pay := doc{"orderId": "o-1", "amount": 5, "task": "case-1", "reason": "the customer asked"}
	rehearsed := rehearsal.runs("refund", pay).Is(t, "outcome", "REHEARSED").Is(t, "mode", "DRY_RUN").Is(t, "status", "COMPLETED").
		Is(t, "steps.0.status", "SIMULATED").Is(t, "steps.0.wouldBe", "ASK").Is(t, "steps.0.request.body", doc{"orderId": "o-1", "amount": 5}).At("runId").Text()
	waiting := a.runs("refund", pay).Is(t, "outcome", "WAITING_FOR_A_PERSON").Is(t, "status", "WAITING_APPROVAL").
		Is(t, "waitingFor.kind", "approval").Is(t, "waitingFor.role", "APPROVER").Is(t, "replayed", false)
	run, approval := waiting.At("runId").Text(), waiting.At("waitingFor.approvalId").Text()
	if run == rehearsed {
		t.Error("a LIVE call found its rehearsal")
	}
	waiting.Is(t, "url", w.URL+"/console/approvals/"+approval)
	w.approver.Get("/approvals/"+approval).OK(t).Is(t, "agentWords", doc{"task": "case-1", "reason": "the customer asked"})
	a.runs("run_status", doc{"runId": run}).Is(t, "outcome", "WAITING_FOR_A_PERSON")
	a.runs("refund", harness.With(pay, "reason", "once more")).Is(t, "runId", run).Is(t, "replayed", true) // a reason is no part of the key
	if got := w.shop.Connections(); got != before {
		t.Fatalf("%d sockets opened before an approval", got-before)
	}

	w.approve(t, run)
	w.reaches(t, run, "COMPLETED").Is(t, "agentId", id)
	a.runs("run_status", doc{"runId": run}).Is(t, "outcome", "DONE").Is(t, "url", nil).Is(t, "steps.0.output", doc{"ok": true}).Is(t, "steps.0.verification.status", "PASSED")
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
		call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note","arguments":{}}}`
		if _, answer := w.knock(t, "POST", id+"/rehearsal", call, "X-Request-Id: request-1"); answer.At("result.structuredContent.runId").Text() == "" {
			t.Errorf("the call was answered %s", answer)
		}
	})
	if diff := cmp.Diff(byAPI, byMCP); diff != "" || len(byAPI) == 0 {
		t.Errorf("%q by the API (-), over MCP (+):\n%s", byAPI, diff)
	}
}

func TestTheSameCallFindsItsRunWhateverHasChangedSince(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.expects(t)
	item := agentItem("clerk", "note", "refund")
	id := w.admitted(t, item)[0]
	other := w.admitted(t, agentItem("other", "note", "refund"))[0]
	a := w.enters(t, w.operator, id)
	call := doc{"amount": number("1.50"), "task": "t-1"}
	run := a.runs("note", call).Is(t, "outcome", "DONE").At("runId").Text()
	a.runs("note", harness.With(call, "amount", number("15e-1"))).Is(t, "runId", run).Is(t, "replayed", true)
	second, _ := w.token(t, doc{"roles": []string{"OPERATOR"}, "agentIds": []string{id}})
	w.enters(t, second, id).runs("note", call).Is(t, "runId", run)
	for name, different := range map[string]json{
		"other inputs":  a.runs("note", harness.With(call, "amount", 2)),
		"another task":  a.runs("note", harness.With(call, "task", "t-2")),
		"no task":       a.runs("note", harness.Without(call, "task")),
		"another agent": w.enters(t, w.operator, other).runs("note", call),
	} {
		if different.At("runId").Text() == run || different.At("replayed").String() == "true" {
			t.Errorf("%s found the run: %s", name, different)
		}
	}
	w.sync(t, at(2, harness.With(item, "goal", "another")))
	a.runs("note", call).Is(t, "runId", run)
	a.refuses("note", doc{"task": "new"}, "agent_not_admitted", id)
	if tools := a.tools(); len(tools) != 1 || !tools["run_status"].Exists() {
		t.Errorf("an agent that nobody admitted offers %v", tools)
	}
	if got := len(w.shop.Seen("POST", "/notes")); got != 5 {
		t.Errorf("the receiver was asked %d times", got)
	}
}

// TestACallIsRepeatedOnlyWhereItSaysWhy; later calls find the newest run.
func TestACallIsRepeatedOnlyWhereItSaysWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.expects(t)
	a := w.enters(t, w.operator, w.admitted(t, agentItem("clerk", "note", "refund"))[0])
	first := a.runs("note", doc{"n": 1}).At("runId").Text()
	again := a.runs("note", doc{"n": 1, "again": "the first was for another customer"}).Is(t, "replayed", false).At("runId").Text()
	once := a.runs("note", doc{"n": 1, "again": "the first was for another customer"}).At("runId").Text()
	if first == again || again == once {
		t.Errorf("the runs are %s, %s, %s", first, again, once)
	}
	a.runs("note", doc{"n": 1}).Is(t, "runId", once).Is(t, "replayed", true)
	w.viewer.Get("/runs/"+again).OK(t).Is(t, "agentWords", doc{"again": "the first was for another customer"})
	a.refuses("note", doc{"n": 1, "again": " "}, "invalid_request", "again", "blank")
	a.refuses("note", doc{"n": 1, "again": 5}, "invalid_request", "again")
	if got := len(w.shop.Seen("POST", "/notes")); got != 3 {
		t.Errorf("the receiver was asked %d times", got)
	}
}

func TestConcurrentTwinsOfACallAreOneRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.expects(t)
	id := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note","arguments":{"n":1}}}`
	runs := make(chan string)
	for range 8 {
		go func() {
			_, answer := w.knock(t, "POST", id, call)
			runs <- answer.At("result.structuredContent.runId").Text()
		}()
	}
	seen := map[string]bool{}
	for range 8 {
		seen[<-runs] = true
	}
	if len(seen) != 1 || seen[""] || len(w.shop.Seen("POST", "/notes")) != 1 {
		t.Errorf("the runs are %v, and the receiver was asked %d times", seen, len(w.shop.Seen("POST", "/notes")))
	}
}

// TestACallInTheEarlierFormIsRefusedAndShownTheNewOne: a call that meant a rehearsal never becomes LIVE.
func TestACallInTheEarlierFormIsRefusedAndShownTheNewOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.expects(t)
	clerk := fixing(harness.With(agentItem("clerk", "", "refund"), "capabilities", []any{"note", "refund"}), doc{"refund": doc{"amount": 5}})
	a := w.enters(t, w.operator, w.admitted(t, clerk)[0])
	for _, earlier := range []doc{
		{"input": doc{"orderId": "o"}},
		{"orderId": "o", "mode": "DRY_RUN"},
		{"orderId": "o", "idempotencyKey": "k"},
		{"orderId": "o", "expectation": doc{"field": "ok", "equals": true}},
		{"input": doc{"orderId": "o"}, "mode": "LIVE", "idempotencyKey": "k", "expectation": doc{"field": "ok", "equals": true}},
	} {
		a.refuses("refund", earlier, "invalid_request", "call refund with {", "orderId", "(string), ", "/rehearsal rehearses")
		a.refuses("note", earlier, "invalid_request", "call note with {")
	}
	a.runs("note", doc{"mode": "fast", "input": "text"}).Is(t, "outcome", "DONE") // it takes any input
	if got := len(w.shop.Seen("POST", "/refunds")); got != 0 {
		t.Errorf("the receiver was asked %d times", got)
	}
}

func TestWithoutAnExpectationOnlyReadsAreOfferedLIVE(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.admitted(t, harness.With(agentItem("clerk", "", "refund"), "capabilities", []any{"note", "search"}))[0]
	a, rehearsal := w.enters(t, w.operator, id), w.rehearses(t, w.operator, id)
	if tools := a.tools(); tools["note"].Exists() || !tools["search"].Exists() {
		t.Errorf("LIVE offers %v", tools)
	}
	a.refuses("note", doc{}, "expectation_required", "note", "rehearsal only")
	a.runs("search", doc{"q": "x"}).Is(t, "outcome", "DONE").Is(t, "steps.0.verification.status", "NOT_REQUESTED")
	rehearsal.runs("note", doc{}).Is(t, "outcome", "REHEARSED")
	if got := len(w.shop.Seen("POST", "/notes")); got != 0 {
		t.Errorf("the receiver was asked %d times", got)
	}
}

func TestOutcomesSayWhatBecameOfACall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.expects(t)
	id := w.admitted(t, harness.With(agentItem("clerk", "", "refund"), "capabilities", []any{"note", "refund"}))[0]
	a := w.enters(t, w.operator, id)
	w.shop.On("POST", "/notes", harness.Answering(200, `{"ok":false}`), harness.Answering(422, `{}`), harness.Answering(500, `{}`))
	a.runs("note", doc{"task": "1"}).Is(t, "outcome", "NOT_AS_EXPECTED").Is(t, "status", "FAILED")
	a.runs("note", doc{"task": "2"}).Is(t, "outcome", "REFUSED").Is(t, "status", "FAILED")
	lost := a.runs("note", doc{"task": "3"}).Is(t, "outcome", "UNKNOWN").Is(t, "status", "RECOVERY_REQUIRED")
	lost.Is(t, "url", w.URL+"/console/recovery/"+lost.At("runId").Text())
	rejected := a.runs("refund", doc{"orderId": "o", "task": "4"}).Is(t, "outcome", "WAITING_FOR_A_PERSON")
	w.approver.Post("/approvals/"+rejected.At("waitingFor.approvalId").Text()+"/decision", doc{"decision": "REJECTED", "reason": "no"}).OK(t)
	a.runs("run_status", doc{"runId": rejected.At("runId").Text()}).Is(t, "outcome", "REFUSED").Has(t, "error", "approval_rejected")
	cancelled := a.runs("refund", doc{"orderId": "o", "task": "5"}).At("runId").Text()
	w.operator.Post("/runs/"+cancelled+"/cancel", doc{"reason": "stop"}).OK(t)
	a.runs("run_status", doc{"runId": cancelled}).Is(t, "outcome", "STOPPED").Is(t, "status", "CANCELLED")
	w.Admin.Post("/projects/"+shop+"/disable", doc{"expectedRevision": 2}).OK(t)
	a.refuses("note", doc{"task": "6"}, "project_disabled")
}

func TestWhatTheAPIRefusesIsAnErrorOfTheTool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.expects(t)
	clerk := fixing(harness.With(agentItem("clerk", "", "refund"), "capabilities", []any{"note", "refund"}), doc{"note": doc{"currency": "EUR"}})
	id := w.admitted(t, clerk)[0]
	other := w.admitted(t, agentItem("other", "note", "refund"))[0]
	a := w.enters(t, w.operator, id)
	if _, err := a.client.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "lookup"}}); err == nil {
		t.Error("a capability that isn't the agent's was called")
	}
	a.refuses("note", doc{"currency": "USD"}, "invalid_request", "currency")
	a.refuses("refund", doc{}, "invalid_request", "orderId")
	a.refuses("refund", doc{"orderId": "o", "inputs": doc{}}, "invalid_request", "inputs")
	a.refuses("refund", doc{"orderId": "o", "task": doc{}}, "invalid_request", "task")
	a.refuses("run_status", doc{"runId": "run-none"}, "not_found", "run-none")
	a.refuses("run_status", doc{"runId": "../x"}, "invalid_request")
	theirs := w.asks(other, agentRun("DRY_RUN", "note", nil)).OK(t).At("id").Text()
	a.refuses("run_status", doc{"runId": theirs}, "not_found", "agent "+id+" has no run "+theirs)
	w.enters(t, w.operator, other).runs("run_status", doc{"runId": theirs})

	dry, _ := w.token(t, doc{"roles": []string{"OPERATOR"}, "modes": []string{"DRY_RUN"}})
	w.enters(t, dry, id).refuses("note", doc{}, "role_required", "DRY_RUN")
	w.rehearses(t, dry, id).runs("note", doc{}).Is(t, "outcome", "REHEARSED")
	if got := len(w.shop.Seen("POST", "/notes")); got != 0 {
		t.Errorf("the receiver was asked %d times", got)
	}
}

func TestTheSameCallFindsAnArchivedRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Set("RETENTION", "500ms"), harness.Set("ARCHIVE_DIR", t.TempDir()))
	w.expects(t)
	a := w.enters(t, w.operator, w.admitted(t, agentItem("clerk", "note", "refund"))[0])
	run := a.runs("note", doc{}).At("runId").Text()
	harness.Until(t, "the archiving", func() bool { return w.operator.Get("/runs/"+run).Status == 404 })
	a.runs("note", doc{}).Is(t, "runId", run).Is(t, "status", "COMPLETED").Is(t, "replayed", true)
	a.refuses("run_status", doc{"runId": run}, "not_found", run, "archive")
	if n := len(w.shop.Seen("POST", "/notes")); n != 1 {
		t.Errorf("%d requests were sent", n)
	}
}
