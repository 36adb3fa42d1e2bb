package test

import (
	encoding "encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// mcpClient sends raw messages as a client of a revision that declares what it is able to.
type mcpClient struct {
	w            *world
	who          *harness.Client
	agent        string
	revision     string
	capabilities doc
	session      string
}

const (
	rev2025 = "2025-11-25"
	rev2026 = "2026-07-28"
)

// says sends a message; events are the data of a stream of events, the last one the answer.
func (c *mcpClient) says(t *testing.T, method string, params doc) (answer json, events []json) {
	t.Helper()
	if c.revision == rev2026 {
		params = harness.With(params, "_meta", doc{
			"io.modelcontextprotocol/protocolVersion": c.revision, "io.modelcontextprotocol/clientInfo": doc{"name": "t", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": c.capabilities,
		})
	}
	body, err := encoding.Marshal(doc{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), "POST", c.w.URL+"/mcp/agents/"+c.agent, strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + c.who.Token()}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if method != "initialize" {
		r.Header.Set("Mcp-Protocol-Version", c.revision)
	}
	if c.revision == rev2026 {
		r.Header.Set("Mcp-Method", method)
		if name, is := params["name"].(string); is {
			r.Header.Set("Mcp-Name", name)
		}
	}
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	res, err := c.w.patient().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // it was read completely
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	for _, line := range strings.Split(string(text), "\n") {
		if data, is := strings.CutPrefix(line, "data: "); is {
			event, err := harness.Parse([]byte(data))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			answer, events = event, append(events, event)
		}
	}
	if events == nil {
		answer, _ = harness.Parse(text)
	}
	return answer, events
}

func (c *mcpClient) calls(t *testing.T, tool string, arguments, more doc) json {
	t.Helper()
	params := doc{"name": tool, "arguments": arguments}
	for name, value := range more {
		params[name] = value
	}
	answer, _ := c.says(t, "tools/call", params)
	return answer
}

var declaresTasks = doc{"extensions": doc{"io.modelcontextprotocol/tasks": doc{}}}

// TestARunThatGoesOnIsATaskOfRevision2026: its id is the run's, it works while a person decides, and ends with the
// tool's answer.
func TestARunThatGoesOnIsATaskOfRevision2026(t *testing.T) {
	t.Parallel()
	w, id := asksWorld(t)
	other, _ := w.agentToken(t, w.admitted(t, agentItem("other", "refund", "refund"))[0])
	c := &mcpClient{w: w, who: w.operator, agent: id, revision: rev2026, capabilities: declaresTasks}
	hello, _ := c.says(t, "server/discover", doc{})
	hello.Is(t, "result.capabilities.extensions", doc{"io.modelcontextprotocol/tasks": doc{}})
	c.calls(t, "lookup", doc{"resourceId": "o"}, nil).Is(t, "result.structuredContent.outcome", "DONE").Is(t, "result.resultType", "complete")
	c.calls(t, "refund", doc{}, nil).Is(t, "result.isError", true).Is(t, "result.structuredContent.outcome", "REFUSED")

	begun := c.calls(t, "refund", doc{"orderId": "o", "waitSeconds": 0}, nil).Is(t, "result.resultType", "task").Is(t, "result.status", "working").Is(t, "result.ttlMs", nil)
	run := begun.At("result.taskId").Text()
	approval := w.approval(t, run).At("id").Text()
	got, _ := c.says(t, "tasks/get", doc{"taskId": run})
	got.Is(t, "result.resultType", "complete").Is(t, "result.taskId", run).Is(t, "result.status", "working").Has(t, "result.statusMessage", "A person must approve it", w.URL+"/console/approvals/"+approval)
	ack, _ := c.says(t, "tasks/update", doc{"taskId": run, "inputResponses": doc{"x": doc{"action": "accept"}}})
	ack.Is(t, "result", doc{"resultType": "complete"})
	w.approver.Get("/approvals/"+approval).OK(t).Is(t, "status", "PENDING")

	plain := &mcpClient{w: w, who: w.operator, agent: id, revision: rev2026, capabilities: doc{}}
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		refused, _ := plain.says(t, method, doc{"taskId": run})
		refused.Is(t, "error.message", "this method is for clients that declare the extension io.modelcontextprotocol/tasks").Is(t, "error.code", -32021).Is(t, "error.data.requiredCapabilities.extensions", doc{"io.modelcontextprotocol/tasks": doc{}})
		for _, task := range []string{"run-none", "../x", ""} {
			unknown, _ := c.says(t, method, doc{"taskId": task})
			unknown.Is(t, "error.code", -32602)
		}
	}
	plain.calls(t, "refund", doc{"orderId": "o"}, nil).Is(t, "result.structuredContent.outcome", "WAITING_FOR_A_PERSON")
	listed, _ := c.says(t, "tasks/list", doc{})
	listed.Is(t, "error.code", -32601)
	theirs := &mcpClient{w: w, who: other, agent: id, revision: rev2026, capabilities: declaresTasks}
	if answer, _ := theirs.says(t, "tasks/get", doc{"taskId": run}); answer.At("result").Exists() {
		t.Errorf("another agent's token reads the task: %s", answer)
	}

	w.approver.Post("/approvals/"+approval+"/decision", doc{"decision": "APPROVED", "reason": "seen"}).OK(t)
	w.reaches(t, run, "COMPLETED")
	done, _ := c.says(t, "tasks/get", doc{"taskId": run})
	done.Is(t, "result.status", "completed").Is(t, "result.result.structuredContent.outcome", "DONE").Is(t, "result.result.structuredContent.runId", run)
	ack, _ = c.says(t, "tasks/cancel", doc{"taskId": run})
	ack.Is(t, "result", doc{"resultType": "complete"})
	w.reaches(t, run, "COMPLETED")

	cancelled := c.calls(t, "refund", doc{"orderId": "p", "waitSeconds": 0}, nil).At("result.taskId").Text()
	w.approval(t, cancelled)
	ack, _ = c.says(t, "tasks/cancel", doc{"taskId": cancelled})
	ack.Is(t, "result", doc{"resultType": "complete"})
	w.reaches(t, cancelled, "CANCELLED")
	got, _ = c.says(t, "tasks/get", doc{"taskId": cancelled})
	got.Is(t, "result.status", "cancelled").Is(t, "result.result", harness.Absent)
	w.shop.On("POST", "/notes", harness.HangingUp())
	c.calls(t, "note", doc{}, nil).Is(t, "result.resultType", "complete").Is(t, "result.structuredContent.outcome", "UNKNOWN")
}

// TestACallIsATaskOfRevision2025WhereItAsksForOne.
func TestACallIsATaskOfRevision2025WhereItAsksForOne(t *testing.T) {
	t.Parallel()
	w, id := asksWorld(t)
	c := &mcpClient{w: w, who: w.operator, agent: id, revision: rev2025}
	hello, _ := c.says(t, "initialize", doc{"protocolVersion": rev2025, "capabilities": doc{}, "clientInfo": doc{"name": "t", "version": "1"}})
	hello.Is(t, "result.capabilities.tasks", doc{"cancel": doc{}, "requests": doc{"tools": doc{"call": doc{}}}}).Is(t, "result.protocolVersion", rev2025)
	listed, _ := c.says(t, "tools/list", doc{})
	for _, tool := range listed.At("result.tools").Items() {
		if want := tool.At("name").Text() != "run_status"; tool.At("execution.taskSupport").Exists() != want {
			t.Errorf("%s", tool)
		}
	}
	task := doc{"task": doc{"ttl": 60000}}
	begun := c.calls(t, "refund", doc{"orderId": "o"}, task).Is(t, "result.task.status", "working").Is(t, "result.task.ttl", nil)
	run := begun.At("result.task.taskId").Text()
	approval := w.approval(t, run).At("id").Text()
	got, _ := c.says(t, "tasks/get", doc{"taskId": run})
	got.Is(t, "result.status", "working").Has(t, "result.statusMessage", w.URL+"/console/approvals/"+approval)
	ended := make(chan json)
	go func() {
		result, _ := c.says(t, "tasks/result", doc{"taskId": run})
		ended <- result
	}()
	w.approver.Post("/approvals/"+approval+"/decision", doc{"decision": "REJECTED", "reason": "no"}).OK(t)
	(<-ended).Is(t, "result.structuredContent.outcome", "REFUSED").Is(t, "result._meta", doc{"io.modelcontextprotocol/related-task": doc{"taskId": run}})
	got, _ = c.says(t, "tasks/get", doc{"taskId": run})
	got.Is(t, "result.status", "completed")
	refused, _ := c.says(t, "tasks/cancel", doc{"taskId": run})
	refused.Is(t, "error.code", -32602)
	c.calls(t, "refund", doc{}, task).Is(t, "error.code", -32602).Is(t, "error.data.outcome", "REFUSED")
	c.calls(t, "refund", doc{"orderId": "o"}, nil).Is(t, "result.structuredContent.runId", run)

	second := c.calls(t, "refund", doc{"orderId": "p"}, task).At("result.task.taskId").Text()
	w.approval(t, second)
	cancelled, _ := c.says(t, "tasks/cancel", doc{"taskId": second})
	cancelled.Is(t, "result.status", "cancelled").Is(t, "result.taskId", second)
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		unknown, _ := c.says(t, method, doc{"taskId": "run-none"})
		unknown.Is(t, "error.code", -32602)
	}
	old := &mcpClient{w: w, who: w.operator, agent: id, revision: "2025-06-18"}
	old.calls(t, "refund", doc{"orderId": "p", "task": "x"}, task).Is(t, "result.structuredContent.outcome", "WAITING_FOR_A_PERSON")
}

// TestAClientThatShowsAddressesIsGivenTheConsolesPage; what its person answers to it is never the approval.
func TestAClientThatShowsAddressesIsGivenTheConsolesPage(t *testing.T) {
	t.Parallel()
	w, id := asksWorld(t)
	c := &mcpClient{w: w, who: w.operator, agent: id, revision: rev2026, capabilities: doc{"elicitation": doc{"url": doc{}}}}
	call := doc{"orderId": "o"}
	asked := c.calls(t, "refund", call, nil).Is(t, "result.resultType", "input_required").At("result.inputRequests")
	name := asked.Keys()[0]
	page := asked.At(name+".params").Is(t, "mode", "url").At("url").Text()
	asked.Is(t, name+".method", "elicitation/create")
	approval := page[strings.LastIndex(page, "/")+1:]
	if page != w.URL+"/console/approvals/"+approval {
		t.Errorf("the page is %s", page)
	}
	again := c.calls(t, "refund", call, doc{"inputResponses": doc{name: doc{"action": "accept"}}}).Is(t, "result.structuredContent.outcome", "WAITING_FOR_A_PERSON").Is(t, "result.structuredContent.url", page)
	w.approver.Get("/approvals/"+approval).OK(t).Is(t, "status", "PENDING").Is(t, "runId", again.At("result.structuredContent.runId").Text())

	old := &mcpClient{w: w, who: w.operator, agent: id, revision: rev2025}
	old.says(t, "initialize", doc{"protocolVersion": rev2025, "capabilities": doc{"elicitation": doc{"url": doc{}}}, "clientInfo": doc{"name": "t", "version": "1"}})
	answer, events := old.says(t, "tools/call", doc{"name": "refund", "arguments": doc{"orderId": "p"}})
	if len(events) != 2 {
		t.Fatalf("%v", events)
	}
	events[0].Is(t, "method", "elicitation/create").Is(t, "params.mode", "url").Is(t, "params.url", answer.At("result.structuredContent.url").Text())
	answer.Is(t, "result.structuredContent.outcome", "WAITING_FOR_A_PERSON")
	res, _ := w.knock(t, "POST", id, `{"jsonrpc":"2.0","id":`+events[0].At("id").String()+`,"result":{"action":"accept"}}`, "Mcp-Protocol-Version: 2025-11-25", "Mcp-Session-Id: elicits-url")
	if res.StatusCode != 202 {
		t.Errorf("the answer is taken with %d", res.StatusCode)
	}
	w.operator.Get("/runs/"+answer.At("result.structuredContent.runId").Text()).OK(t).Is(t, "status", "WAITING_APPROVAL")

	silent := &mcpClient{w: w, who: w.operator, agent: id, revision: rev2025}
	silent.says(t, "initialize", doc{"protocolVersion": rev2025, "capabilities": doc{"elicitation": doc{"form": doc{}}}, "clientInfo": doc{"name": "t", "version": "1"}})
	if _, events := silent.says(t, "tools/call", doc{"name": "refund", "arguments": doc{"orderId": "q"}}); len(events) != 0 || silent.session != "" {
		t.Errorf("a client that shows no addresses gets %v", events)
	}
}
