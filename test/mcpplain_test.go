package test

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A plain call of a tool is answered without the library of the protocol. These tests send each
// message twice: as clients send it, and with an Accept header that says the same in other words,
// which the library answers.

const (
	plainly  = "application/json, text/event-stream"
	wordily  = "text/event-stream;q=0.9, application/json;q=0.8, text/plain;q=0.1"
	revision = "Mcp-Protocol-Version"
)

// mcpMessage is a message with its headers.
type mcpMessage struct {
	path, body string
	headers    http.Header
}

func (m mcpMessage) String() string { return fmt.Sprintf("%s %v %s", m.path, m.headers, m.body) }

// answeredMessage is what came of a message, without what differs between two of the same.
type answeredMessage struct {
	status  int
	headers http.Header
	begins  string // with the message's own id
	body    string
}

// ofOneMessage matches what no two answers share: ids, times, and numbers that count.
var ofOneMessage = regexp.MustCompile(`\b(?:run|plan|req|apr|mcp|call|note)-[0-9a-z-]+|\d{4}-\d\d-\d\dT[0-9:.]+Z|[0-9a-f]{40,}`)

func (w *world) answered(t *testing.T, m mcpMessage, accept string) (a answeredMessage) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", w.URL+"/mcp/agents/"+m.path, strings.NewReader(m.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + w.operator.Token()}, "Content-Type": {"application/json"}, "Accept": {accept}}
	maps.Copy(r.Header, m.headers)
	res, err := w.patient().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // it was read completely
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	a = answeredMessage{status: res.StatusCode, headers: res.Header, body: ofOneMessage.ReplaceAllString(string(text), "…")}
	a.begins = string(text[:min(len(text), 30)])
	for _, own := range []string{"Date", "X-Request-Id", "Content-Length"} {
		a.headers.Del(own)
	}
	return a
}

// wantSame sends a message in both ways, and once more, so that what it repeats is compared too.
func (w *world) wantSame(t *testing.T, m mcpMessage) answeredMessage {
	t.Helper()
	w.answered(t, m, wordily)
	plain, worded := w.answered(t, m, plainly), w.answered(t, m, wordily)
	if diff := cmp.Diff(worded, plain, cmp.AllowUnexported(answeredMessage{})); diff != "" {
		t.Errorf("%s\n(-by the library, +plainly)\n%s", m, diff)
	}
	return plain
}

// drawnMessages are calls of which some are plain, some are odd in one respect, and some in several.
func drawnMessages(r *rand.Rand, agent string, n int) (all []mcpMessage) {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	odd := func(usual string, others ...string) string {
		if r.IntN(8) > 0 {
			return usual
		}
		return one(others...)
	}
	for i := range n {
		waits := one(`"waitSeconds":50`, `"waitSeconds":50,"task":"t`+fmt.Sprint(r.IntN(4))+`"`)
		arguments := one(
			`{`+waits+`}`, `{`+waits+`,"text":"a < b & c > d"}`, `{ "text" : "\u2028é\ud83d\ude00" , `+waits+` }`, `{`+waits+`,"n":1.50e2,"deep":{"a":[1,null,{"b":true}]}}`,
			`{`+waits+`,"again":"once more"}`, `{`+waits+`,"task":5}`, `{"waitSeconds":99}`, `{"input":{},"mode":"LIVE"}`, `{`+waits+`,"reason":" "}`, `{`+waits+`,"x":null}`)
		name := odd(`"note"`, `"nothing"`, `"run_status"`, `"n\u006fte"`, `5`, `""`, `null`, `"Note"`)
		switch {
		case r.IntN(4) == 0:
			name, arguments = `"refund"`, one(`{"orderId":"o-1","amount":5,"waitSeconds":0}`, `{"orderId":"o-1","amount":"5","waitSeconds":0}`, `{"waitSeconds":0}`)
		case r.IntN(6) == 0:
			name, arguments = `"run_status"`, one(`{"runId":"run-none"}`, `{"runId":"a b"}`, `{}`, `{"runId":5}`, `{"runId":"run-none","x":1}`)
		}
		arguments = odd(arguments, `null`, `[]`, `"x"`, `{}`, `7`)
		params := odd(`{"name":`+name+`,"arguments":`+arguments+`}`, `{"arguments":`+arguments+`,"name":`+name+`}`, `{"name":`+name+`}`, `{"arguments":`+arguments+`}`, `{"name":`+name+`,"arguments":`+arguments+`,"_meta":{"progressToken":1}}`,
			`{"name":`+name+`,"arguments":`+arguments+`,"task":{}}`, `{"name":`+name+`,"arguments":`+arguments+`,"more":1}`, `{"name":`+name+`,"name":`+name+`}`, `[]`, `null`, `{"name":`+name+`,"Arguments":{}}`)
		id := odd(fmt.Sprint(r.IntN(1000)), `0`, `-7`, `-0`, `"a"`, `"1"`, `1.5`, `1e2`, `9007199254740991`, `9007199254740993`, `123456789012345678901`, `null`, `{}`, `true`)
		body := odd(`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":`+params+`}`,
			` { "params" : `+params+` , "method" : "tools/call" , "id" : `+id+` , "jsonrpc" : "2.0" } `, `{"jsonrpc":"2.0","method":"tools/call","params":`+params+`}`, `{"id":`+id+`,"method":"tools/call","params":`+params+`}`,
			`{"jsonrpc":"1.0","id":`+id+`,"method":"tools/call","params":`+params+`}`, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":`+params+`,"more":1}`, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/Call","params":`+params+`}`,
			`[{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":`+params+`}]`, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call"}`, `{"jsonrpc":"2.0","ID":`+id+`,"method":"tools/call","params":`+params+`}`)
		h := http.Header{revision: {odd(one("2025-03-26", "2025-06-18", "2025-11-25"), "2024-11-05", "2026-07-28", "1999-01-01", "2025-06-18 ", "x")}}
		if r.IntN(8) == 0 {
			name, value, _ := strings.Cut(one(revision+":", "Content-Type:application/json; charset=utf-8", "Content-Type:APPLICATION/JSON", "Last-Event-Id:1", "Mcp-Session-Id:s-1", "Mcp-Session-Id:elicits-url", "Mcp-Method:tools/list", "Mcp-Name:other", "Mcp-Param-X:1"), ":")
			if h.Del(name); value != "" {
				h.Set(name, value)
			}
		}
		path := agent
		if i%3 == 0 {
			path += "/rehearsal"
		}
		all = append(all, mcpMessage{path, body, h})
	}
	return all
}

// TestAPlainCallIsAnsweredAsTheLibraryAnswersIt, status, headers and every byte of it, refusals too.
func TestAPlainCallIsAnsweredAsTheLibraryAnswersIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.expects(t)
	item := agentItem("clerk", "note", "refund")
	item["capabilities"] = []any{"note", "refund"}
	agent := w.admitted(t, item)[0]
	call := func(name, arguments string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`
	}
	says := func(m mcpMessage, parts ...string) {
		t.Helper()
		a := w.wantSame(t, m)
		for _, part := range parts {
			if !strings.Contains(a.body, part) {
				t.Errorf("%s: %+v, want %s", m, a, part)
			}
		}
	}
	usual := http.Header{revision: {"2025-06-18"}}
	says(mcpMessage{agent, call("note", `{"waitSeconds":50}`), usual}, `"structuredContent":{"outcome":"DONE"`, `"replayed":true`)
	says(mcpMessage{agent, call("note", `{"waitSeconds":50,"again":"a < b"}`), usual}, `"structuredContent":{"outcome":"DONE"`, `"replayed":false`)
	says(mcpMessage{agent + "/rehearsal", call("note", `{"waitSeconds":50}`), usual}, `"outcome":"REHEARSED"`)
	says(mcpMessage{agent, call("refund", `{"orderId":"o-1","amount":5,"waitSeconds":0}`), usual}, `"outcome":"WAITING_FOR_A_PERSON"`)
	says(mcpMessage{agent, call("refund", `{"orderId":"o-1","amount":"5"}`), usual}, `"outcome":"REFUSED"`, `"isError":true`)
	says(mcpMessage{agent, call("run_status", `{"runId":"run-none"}`), usual}, `"error":"not_found"`, `"isError":true`)
	says(mcpMessage{agent, call("nothing", `{}`), usual}, `"error":{"code":-32602`)
	seed := rand.Uint64()
	seen := map[int]int{}
	for _, m := range drawnMessages(rand.New(rand.NewPCG(seed, 0)), agent, 120) {
		seen[w.wantSame(t, m).status]++
	}
	t.Logf("seed %d: by status %v", seed, seen)
	if !slices.Contains(slices.Collect(maps.Keys(seen)), 200) {
		t.Error("none was answered")
	}
}
