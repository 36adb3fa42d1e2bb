package test

import (
	encoding "encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/countersign/countersign/test/harness"
)

// The client of these tests is mark3labs/mcp-go: neither ours nor the library that
// the door is made with.

// agentByMCP is an agent's door, as one principal enters it.
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

// knock sends one request to an agent's door, as it is.
func (w *world) knock(t *testing.T, method, agent, body string, headers ...harness.Header) (*http.Response, json) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.URL+"/mcp/agents/"+agent, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + w.operator.Token()}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for _, h := range headers {
		name, value, _ := strings.Cut(string(h), ":")
		if r.Header.Del(name); value != "" {
			r.Header.Set(name, strings.TrimSpace(value))
		}
	}
	res, err := w.patient().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // it was read to its end
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	parsed, _ := harness.Parse(text) // an acknowledgement is empty
	return res, parsed
}

// patient is a client that keeps no connections.
func (w *world) patient() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
}

const listing = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`

func TestTheDoorRefusesAsTheAPIDoes(t *testing.T) {
	t.Parallel()
	w, _, two := neighbours(t)
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	foreign, _ := w.token(t, doc{"roles": []string{"OPERATOR"}, "tenantId": "acme"})
	id := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	as := func(c *harness.Client) harness.Header { return harness.Header("Authorization: Bearer " + c.Token()) }
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"note","arguments":{}}}`
	large := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 1<<20) + `"}}`
	for name, c := range map[string]struct {
		method, agent, body string
		header              harness.Header
		status              int
		code                string
	}{
		"no token":             {"POST", id, call, "Authorization:", 401, "unauthenticated"},
		"a wrong token":        {"POST", id, call, "Authorization: Bearer csn_x", 401, "unauthenticated"},
		"a token in the query": {"POST", id + "?token=" + w.operator.Token(), call, "X-A: b", 401, "unauthenticated"},
		"a query":              {"POST", id + "?x=1", call, "X-A: b", 400, "invalid_request"},
		"a viewer":             {"POST", id, call, as(w.viewer), 403, "role_required"},
		"another project":      {"POST", id, call, as(two), 403, "project_scope"},
		"another tenant":       {"POST", id, call, as(foreign), 404, "not_found"},
		"an unknown agent":     {"POST", "agent-none", call, "X-A: b", 404, "not_found"},
		"a bad id":             {"POST", "-", call, "X-A: b", 400, "invalid_request"},
		"another page":         {"POST", id, call, "Origin: https://evil.example", 403, "csrf"},
		"a page without name":  {"POST", id, call, "Origin: null", 403, "csrf"},
		"another site":         {"POST", id, call, "Sec-Fetch-Site: cross-site", 403, "csrf"},
		"a large body":         {"POST", id, large, "X-A: b", 413, "payload_too_large"},
		"no JSON":              {"POST", id, `{`, "X-A: b", 400, "invalid_json"},
		"no body":              {"POST", id, ``, "X-A: b", 400, "invalid_json"},
		"a key twice":          {"POST", id, `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, "X-A: b", 400, "invalid_json"},
		"a deep body":          {"POST", id, strings.Repeat("[", 100) + strings.Repeat("]", 100), "X-A: b", 400, "invalid_json"},
		"several messages":     {"POST", id, "[" + call + "," + call + "]", "X-A: b", 400, "invalid_request"},
		"no object":            {"POST", id, `null`, "X-A: b", 400, "invalid_request"},
		"another type":         {"POST", id, call, "Content-Type: text/plain", 400, "invalid_request"},
		"a form":               {"POST", id, call, "Accept: text/html", 400, "invalid_request"},
		"an old protocol":      {"POST", id, call, "Mcp-Protocol-Version: 1999-01-01", 400, "invalid_request"},
		"no method":            {"POST", id, `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, "X-A: b", 400, "invalid_request"},
		"a stream":             {"GET", id, "", "X-A: b", 405, "method_not_allowed"},
		"an end":               {"DELETE", id, "", "X-A: b", 405, "method_not_allowed"},
		"a level below":        {"POST", id + "/x", call, "X-A: b", 404, "not_found"},
	} {
		res, answer := w.knock(t, c.method, c.agent, c.body, c.header)
		if res.StatusCode != c.status || answer.At("error").Text() != c.code || answer.At("requestId").Text() != res.Header.Get("X-Request-Id") {
			t.Errorf("%s: %d %s; expected %d %s", name, res.StatusCode, answer, c.status, c.code)
		}
	}
	w.nothingStored(t)
	if res, answer := w.knock(t, "POST", id, listing, harness.Header("Origin: "+w.URL)); res.StatusCode != 200 || answer.At("result.tools.1.name").Text() != "run_status" {
		t.Errorf("the own origin is refused: %d %s", res.StatusCode, answer)
	}
	if got := w.tenantAdmin.Get("/audit?action=agents.run").OK(t).At("total").Int(); got != 5 { // the viewer, the other project, three pages
		t.Errorf("%d refusals are in the log", got)
	}
}

func TestABrowsersSessionOpensNoDoor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	ada := w.person(t, "ada@example.com", "OPERATOR")
	w.As("").Get("/agents/"+id, ada.Cookie()).OK(t)
	if res, answer := w.knock(t, "POST", id, listing, "Authorization:", ada.Cookie(), w.csrf(t, ada)); res.StatusCode != 401 {
		t.Errorf("%d %s", res.StatusCode, answer)
	}
}

func TestTheDoorKeepsNoStreamOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	for _, version := range []harness.Header{"X-A: b", "Mcp-Protocol-Version: 2025-11-25", "Mcp-Protocol-Version: 2026-07-28"} {
		meta := ""
		if strings.HasSuffix(string(version), "2026-07-28") {
			meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},`
		}
		res, answer := w.knock(t, "POST", id, `{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{`+meta+`"notifications":{"toolsListChanged":true}}}`, version, "Mcp-Method: subscriptions/listen")
		if answer.At("result").Exists() {
			t.Errorf("%s: %d %s", version, res.StatusCode, answer)
		}
	}
}

// goroutines is how many the service has.
func (w *world) goroutines(t *testing.T) int {
	t.Helper()
	figures := w.Admin.Do("GET", "/metrics", nil, "Accept: text/plain").Raw
	_, rest, _ := strings.Cut(figures, "\ncountersign_goroutines ")
	n, err := strconv.Atoi(strings.SplitN(rest, "\n", 2)[0])
	if err != nil {
		t.Fatalf("the figures are %s", figures)
	}
	return n
}

func TestNoMessageHarmsTheService(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	before := w.goroutines(t)
	params := []string{`null`, `[]`, `{}`, `"x"`, `1`, `{"name":null}`, `{"name":1,"arguments":[]}`, `{"name":"note","arguments":null}`, `{"name":"note","arguments":"x"}`, `{"name":"run_status"}`, `{"cursor":"%%%"}`, `{"_meta":1}`, `{"_meta":{"io.modelcontextprotocol/protocolVersion":1}}`, `{"protocolVersion":{}}`, `{"uri":1,"level":9}`}
	for _, method := range []string{
		"initialize", "notifications/initialized", "notifications/cancelled", "notifications/progress", "ping", "server/discover", "tools/list", "tools/call", "logging/setLevel",
		"resources/list", "resources/read", "resources/subscribe", "prompts/list", "prompts/get", "completion/complete", "subscriptions/listen", "tasks/list", "", "no/such",
	} {
		for _, p := range params {
			for _, head := range []string{`"id":1,`, `"id":"x",`, `"id":null,`, `"id":{},`, `"id":1e400,`, ``} {
				for _, version := range []harness.Header{"X-A: b", "Mcp-Protocol-Version: 2026-07-28"} {
					body := `{"jsonrpc":"2.0",` + head + `"method":"` + method + `","params":` + p + `}`
					if res, answer := w.knock(t, "POST", id, body, version); res.StatusCode >= 500 {
						t.Errorf("%s was answered %d %s", body, res.StatusCode, answer)
					}
				}
			}
		}
	}
	for _, body := range []string{`{}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"1.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}`} {
		w.knock(t, "POST", id, body)
	}
	if _, answer := w.knock(t, "POST", id, listing); answer.At("result.tools.1.name").Text() != "run_status" || answer.At("result.cacheScope").Text() != "private" {
		t.Errorf("afterwards the tools are %s", answer)
	}
	harness.Until(t, "what served the messages to end", func() bool { return w.goroutines(t) < before+20 })
}
