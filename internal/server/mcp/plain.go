package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The library makes a server, a session, a connection and some ten decoders with a buffer of 32 KiB
// each for every message. Nearly all messages are calls of a tool that use none of that. Such a plain
// call is answered here, with the bytes that the library would send, written by its own encoders.
// What isn't plain in every respect is the library's, and with it whatever it would refuse.

// plainRevisions are those of the protocol whose calls say nothing of their client.
var plainRevisions = []string{"2025-03-26", "2025-06-18", revision2025}

// plainAccepts are the Accept headers that clients of these revisions send.
var plainAccepts = []string{"application/json, text/event-stream", "application/json,text/event-stream", "text/event-stream, application/json"}

// plainCall is a call that is answered without the library.
type plainCall struct {
	id        jsonrpc.ID
	arguments json.RawMessage // nil: left out
}

// plain reads the message as a plain call; false if it is the library's. The body is valid JSON, with
// no member twice.
func (v *toolRequest) plain(h http.Header, params map[string]json.RawMessage) (c plainCall, is bool) {
	m := v.msg
	if m.method != "tools/call" || !m.bare || m.tasks || m.elicits || m.answers || !hasPlainHeaders(h) {
		return c, false
	}
	arguments, given := params["arguments"]
	members := 1
	if given {
		members = 2
	}
	// A name that is written with escapes could be read otherwise there.
	if len(params) != members || string(params["name"]) != strconv.Quote(m.tool) || given && arguments[0] != '{' || !v.has(m.tool) {
		return c, false
	}
	id, err := strconv.ParseInt(string(m.id), 10, 54)
	if err != nil || strconv.FormatInt(id, 10) != string(m.id) {
		return c, false
	}
	c.arguments = arguments
	c.id, err = jsonrpc.MakeID(float64(id))
	return c, err == nil
}

func hasPlainHeaders(h http.Header) bool {
	one := func(name string, of []string) bool {
		values := h.Values(name)
		return len(values) == 1 && slices.Contains(of, values[0])
	}
	return one("Mcp-Protocol-Version", plainRevisions) && one("Accept", plainAccepts) && one("Content-Type", []string{"application/json"}) &&
		len(h.Values("Last-Event-Id")) == 0
}

// call answers a plain call, guarded as the library's calls are.
func (v *toolRequest) call(c plainCall, out *answer) error {
	use := v.status
	if v.msg.tool != statusTool {
		use = v.starter(v.msg.tool, v.capability(toolNames(v.offer.Capabilities)[v.msg.tool]))
	}
	request := &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{Name: v.msg.tool, Arguments: c.arguments}}
	guarded := v.guard(func(ctx context.Context, _ string, _ sdk.Request) (sdk.Result, error) {
		return v.tool(use)(ctx, request)
	})
	response := &jsonrpc.Response{ID: c.id}
	result, err := guarded(v.ctx, v.msg.method, request)
	if err != nil {
		response.Error = err
	} else if response.Result, err = json.Marshal(result); err != nil {
		return err
	}
	doc, err := jsonrpc.EncodeMessage(response)
	if err != nil {
		return err
	}
	out.Header().Set("Content-Type", "application/json")
	_, err = out.Write(doc)
	return err
}
