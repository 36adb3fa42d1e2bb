package mcpup_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign/countersign/internal/tools/adapter/file"
)

// overHTTP is a server of the protocol's own SDK behind what a test does to its requests.
type overHTTP struct {
	*httptest.Server
	mu     sync.Mutex
	posts  []string // methods of the messages that came
	tokens []string
	hook   func(w http.ResponseWriter, method string) (taken bool)
}

// came notes a message, and returns what answers it before the server does.
func (o *overHTTP) came(r *http.Request, method string) func(w http.ResponseWriter, method string) (taken bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r.Method == http.MethodPost {
		o.posts = append(o.posts, method)
		o.tokens = append(o.tokens, r.Header.Get("Authorization"))
	}
	return o.hook
}

// answersBy has a function answer before the server does; nil: nothing does.
func (o *overHTTP) answersBy(hook func(w http.ResponseWriter, method string) (taken bool)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hook = hook
}

// sent are the methods of the messages that came, and their tokens.
func (o *overHTTP) sent() (methods, tokens []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.posts), slices.Clone(o.tokens)
}

func newHTTP(t *testing.T, options *mcp.StreamableHTTPOptions) *overHTTP {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	type input struct {
		N int `json:"n"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "double", Description: "doubles"}, func(_ context.Context, _ *mcp.CallToolRequest, in input) (*mcp.CallToolResult, map[string]int, error) {
		return nil, map[string]int{"n": 2 * in.N}, nil
	})
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, options)
	o := &overHTTP{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		var m struct {
			Method string `json:"method"`
		}
		_ = json.Unmarshal(body, &m) // of a GET there is none
		if hook := o.came(r, m.Method); hook == nil || !hook(w, m.Method) {
			h.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(o.Close)
	return o
}

func TestToolsOverHTTP(t *testing.T) {
	for name, options := range map[string]*mcp.StreamableHTTPOptions{"a stream": {}, "JSON": {JSONResponse: true}, "without sessions": {Stateless: true}} {
		t.Run(name, func(t *testing.T) {
			o := newHTTP(t, options)
			s := of(t, "", imported(t, file.MCP{URL: o.URL, Headers: map[string]string{"X-Team": "a"}, Auth: &file.Auth{Type: "bearer", CredentialEnv: "A_TOKEN"}}))
			s.is(s.call("double", `{"n":21}`), `200 {"isError":false,"result":{"n":42}}`)
			posts, tokens := o.sent()
			if n := strings.Count(strings.Join(posts, " "), "tools/call"); n != 1 || tokens[0] != "Bearer token-of-the-tool" {
				t.Errorf("%d calls, as %q", n, tokens[0])
			}
		})
	}
}

// TestACallOverHTTPIsMadeOnce, whatever becomes of its answer.
func TestACallOverHTTPIsMadeOnce(t *testing.T) {
	for name, test := range map[string]struct {
		reply func(w http.ResponseWriter)
		want  string
	}{
		"hangs up":       {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, "unknown: the connection to the server ended before its answer"},
		"an error":       {func(w http.ResponseWriter) { w.WriteHeader(500) }, "unknown: the upstream answered 500, which does not say what happened"},
		"a redirect":     {func(w http.ResponseWriter) { w.Header().Set("Location", "/x"); w.WriteHeader(307) }, "unknown: the upstream answered 307"},
		"a refusal":      {func(w http.ResponseWriter) { w.WriteHeader(403); _, _ = io.WriteString(w, "no") }, "no"},
		"no answer":      {func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/event-stream"); w.WriteHeader(200) }, "unknown: the connection to the server ended before its answer"},
		"something else": {func(w http.ResponseWriter) { _, _ = io.WriteString(w, "<html>") }, "unknown: the connection to the server ended before its answer"},
		"broken JSON": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{")
		}, "unknown: the connection to the server ended before its answer"},
		"half an event": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {")
		}, "unknown: "},
		"its session lost": {func(w http.ResponseWriter) { w.WriteHeader(404) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := newHTTP(t, &mcp.StreamableHTTPOptions{})
			s := of(t, "", imported(t, file.MCP{URL: o.URL}))
			o.answersBy(func(w http.ResponseWriter, method string) bool {
				if method == "tools/call" {
					test.reply(w)
				}
				return method == "tools/call"
			})
			s.is(s.call("double", `{"n":1}`), test.want)
			posts, _ := o.sent()
			if n := strings.Count(strings.Join(posts, " "), "tools/call"); n != 1 {
				t.Errorf("it was called %d times", n)
			}
			o.answersBy(nil)
			s.is(s.call("double", `{"n":1}`), "200 ") // over a session of its own, where the last one ended
		})
	}
}

func TestAServerThatRefusesToTellItsToolsIsNotCalled(t *testing.T) {
	o := newHTTP(t, &mcp.StreamableHTTPOptions{})
	s := of(t, "", imported(t, file.MCP{URL: o.URL}))
	o.answersBy(func(w http.ResponseWriter, method string) bool {
		if method == "tools/list" {
			w.WriteHeader(401)
		}
		return method == "tools/list"
	})
	s.is(s.call("double", `{"n":1}`), "not_called: the server did not answer which tools it has; nothing was called")
}
