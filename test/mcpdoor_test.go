package test

import (
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/test/harness"
)

// knock sends one raw MCP request to an agent.
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
	defer func() { _ = res.Body.Close() }() // it was read completely
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	parsed, _ := harness.Parse(text) // an acknowledgement has no body
	return res, parsed
}

// patient is an HTTP client that keeps no connections.
func (w *world) patient() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
}

const listing = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`

func TestTheDoorRefusesAsTheAPIDoes(t *testing.T) {
	t.Parallel()
	w, _, two := neighboursIn(t, ownWorld(t))
	w.Admin.Put("/tenants/acme", doc{"name": "Acme"}).OK(t)
	foreign, _ := w.token(t, doc{"roles": []string{"OPERATOR"}, "tenantId": "acme"})
	w.expects(t)
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
		"a viewer rehearsing":  {"POST", id + "/rehearsal", call, as(w.viewer), 403, "role_required"},
		"another's rehearsal":  {"POST", id + "/rehearsal", call, as(foreign), 404, "not_found"},
		"a page's rehearsal":   {"POST", id + "/rehearsal", call, "Origin: https://evil.example", 403, "csrf"},
		"below the rehearsal":  {"POST", id + "/rehearsal/x", call, "X-A: b", 404, "not_found"},
		"a rehearsal's stream": {"GET", id + "/rehearsal", "", "X-A: b", 405, "method_not_allowed"},
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
	if got := w.tenantAdmin.Get("/audit?action=agents.run").OK(t).At("total").Int(); got != 3 { // the viewer, the other project, three pages as one
		t.Errorf("%d refusals are in the log", got)
	}
}

func TestABrowsersSessionOpensNoDoor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.expects(t)
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
	w.expects(t)
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

// goroutines is the service's number of goroutines.
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

// TestNoMessageHarmsTheService: with -short each method is tried with one random form of each kind of parameters.
func TestNoMessageHarmsTheService(t *testing.T) {
	t.Parallel()
	w := ownWorld(t)
	w.expects(t)
	id := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	before := w.goroutines(t)
	params := []string{`null`, `[]`, `{}`, `"x"`, `1`, `{"name":null}`, `{"name":1,"arguments":[]}`, `{"name":"note","arguments":null}`, `{"name":"note","arguments":"x"}`, `{"name":"run_status"}`, `{"cursor":"%%%"}`, `{"_meta":1}`, `{"_meta":{"io.modelcontextprotocol/protocolVersion":1}}`, `{"protocolVersion":{}}`, `{"uri":1,"level":9}`}
	for _, method := range []string{
		"initialize", "notifications/initialized", "notifications/cancelled", "notifications/progress", "ping", "server/discover", "tools/list", "tools/call", "logging/setLevel",
		"resources/list", "resources/read", "resources/subscribe", "prompts/list", "prompts/get", "completion/complete", "subscriptions/listen", "tasks/list", "", "no/such",
	} {
		for _, p := range params {
			drawn, form := rand.IntN(12), -1
			for _, head := range []string{`"id":1,`, `"id":"x",`, `"id":null,`, `"id":{},`, `"id":1e400,`, ``} {
				for _, version := range []harness.Header{"X-A: b", "Mcp-Protocol-Version: 2026-07-28"} {
					if form++; testing.Short() && form != drawn {
						continue
					}
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

// TestCallsLeaveNothingOpen: each call waits for its run; after many calls the next one may wait too.
func TestCallsLeaveNothingOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.expects(t)
	id := w.admitted(t, agentItem("clerk", "note", "refund"))[0]
	run := w.operator.Post("/agents/"+id+"/runs", doc{"expectedRevision": 1, "capability": "note", "mode": "DRY_RUN", "inputs": doc{}}, key()).OK(t).At("id").Text()
	status := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_status","arguments":{"runId":"` + run + `"}}}`
	for n := range countersign.MaxEventStreams + 2 {
		if res, answer := w.knock(t, "POST", id, status); res.StatusCode != 200 || answer.At("result.structuredContent.runId").Text() != run {
			t.Fatalf("call %d: %d %s", n, res.StatusCode, answer)
		}
	}
}
