package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/safetext"
)

var instructions = "Each tool is a capability that this agent was admitted for. A call starts a run and answers with its outcome, and message says what to do. " + outcomeWords() +
	" The same call finds its run, as long as that goes on and 24 hours after its end, so a call that was lost can be repeated; name in task what it belongs to."

// server handles one message. It registers only the called tool: registering all of
// them for each call would make calls costlier the more an agent may do.
func (v *toolRequest) server(m message) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "countersign", Title: safetext.Text(v.offer.Agent.Name), Version: v.cfg.Version}, &sdk.ServerOptions{
		Instructions: instructions, Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Extensions: map[string]any{tasksExtension: map[string]any{}}},
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = private },
	})
	s.AddReceivingMiddleware(v.guard)
	v.addTasks(s, m)
	if m.method != "tools/call" {
		return s
	}
	if m.tool == statusTool {
		s.AddTool(statusToolOf(v.offer.Agent.ID), v.tool(v.status))
	} else if c := v.capability(toolNames(v.offer.Capabilities)[m.tool]); c != nil {
		s.AddTool(v.toolOf(m.tool, c), v.tool(v.starter(m.tool, c)))
	}
	return s
}

// rehearsedOnly are the capabilities that a LIVE server doesn't offer: without an
// expectation only reads are.
func (v *toolRequest) rehearsedOnly() map[string]bool {
	out := map[string]bool{}
	for i := range v.offer.Capabilities {
		c := &v.offer.Capabilities[i]
		out[c.Name] = v.mode == countersign.ModeLive && c.Expectation == nil && c.HasSideEffect()
	}
	return out
}

// private: the response depends on the caller
const private = "private"

func (v *toolRequest) capability(name string) *countersign.Capability {
	for i := range v.offer.Capabilities {
		if v.offer.Capabilities[i].Name == name {
			return &v.offer.Capabilities[i]
		}
	}
	return nil
}

func (v *toolRequest) toolOf(name string, c *countersign.Capability) *sdk.Tool {
	return toolOf(name, c, v.offer.Agent.ExecutorInputs[c.Name], v.offer.Agent.ProjectID, v.mode)
}

func (v *toolRequest) has(tool string) bool {
	return tool == statusTool || v.capability(toolNames(v.offer.Capabilities)[tool]) != nil
}

// list is a page of the tools, sorted by name, after a cursor. An agent that isn't
// admitted lists no capabilities, and LIVE none whose success nothing defines; but calling
// one returns the actual reason of the refusal.
func (v *toolRequest) list(after string) *sdk.ListToolsResult {
	offered := map[string]string{}
	if v.offer.Agent.Status == countersign.AgentAdmitted && !v.offer.Agent.Suspended && !v.offer.Agent.Retired {
		offered = toolNames(v.offer.Capabilities)
		kept := v.rehearsedOnly()
		maps.DeleteFunc(offered, func(_, name string) bool { return kept[name] })
	}
	offered[statusTool] = ""
	out := &sdk.ListToolsResult{Tools: []*sdk.Tool{}, Cacheable: sdk.Cacheable{CacheScope: private}}
	for _, name := range sortedKeys(offered) {
		if name <= after {
			continue
		}
		if len(out.Tools) == countersign.MaxPageLimit {
			out.NextCursor = cursorOf(out.Tools[len(out.Tools)-1].Name)
			break
		}
		tool := statusToolOf(v.offer.Agent.ID)
		if c := v.capability(offered[name]); c != nil {
			tool = v.toolOf(name, c)
		}
		out.Tools = append(out.Tools, tool)
	}
	return out
}

// guard keeps the library from opening streams, and turns a panic on one of its
// goroutines into a refused message.
func (v *toolRequest) guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (out sdk.Result, err error) {
		defer func() {
			if cause := recover(); cause != nil {
				v.cfg.Log.Error("panic", "requestId", v.actor.RequestID, "cause", cause, "stack", string(debug.Stack()))
				out, err = nil, v.refuse(jsonrpc.CodeInternalError, "something broke on our side; the log has it under the request id %s", v.actor.RequestID)
			}
		}()
		switch method {
		case "subscriptions/listen":
			return nil, v.refuse(jsonrpc.CodeMethodNotFound, "this server keeps no streams; ask %s instead", statusTool)
		case "tools/list":
			p, _ := r.GetParams().(*sdk.ListToolsParams)
			if p == nil {
				p = &sdk.ListToolsParams{}
			}
			after, err := v.after(p.Cursor)
			if err != nil {
				return nil, err
			}
			return v.list(after), nil
		case "tools/call":
			if p, _ := r.GetParams().(*sdk.CallToolParamsRaw); p != nil && !v.has(p.Name) {
				return nil, v.refuse(jsonrpc.CodeInvalidParams, "name: this agent has no tool %q; tools/list names those that it has", p.Name)
			}
		}
		return next(ctx, method, r)
	}
}

// tool makes a use case a tool. Refusals are tool errors, which the model reads, not
// protocol errors, which only the client sees.
func (v *toolRequest) tool(use func(arguments []byte) (runState, error)) sdk.ToolHandler {
	return func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		arguments := []byte(r.Params.Arguments)
		if len(arguments) == 0 || string(arguments) == "null" { // which means that it is left out
			arguments = []byte("{}")
		}
		state, err := use(arguments)
		if err != nil {
			return v.refusal(err)
		}
		if v.shown != nil && v.msg.revision >= revision2026 {
			return inputRequired(state), nil
		}
		return result(state)
	}
}

// refused is a call that came to no run: with the fields of the API's Error body, and those that
// every answer has.
type refused struct {
	Outcome    string           `json:"outcome"`
	Error      countersign.Code `json:"error"`
	Message    string           `json:"message"`
	URL        *string          `json:"url"`   // where a person acts
	RunID      *string          `json:"runId"` // of the run that stands in the way, where the caller may read it
	StartedAt  *string          `json:"startedAt"`
	Replayed   bool             `json:"replayed"`
	RetryAfter int              `json:"retryAfter,omitempty"` // seconds
	RequestID  string           `json:"requestId"`
}

// retryAfter is when a call that got no room is made again, in seconds.
const retryAfter = 2

// sameAgain ends the message of a call that may be made again at once.
const sameAgain = "; make the very same call again, with the same arguments, which finds its run if it was taken"

// refusal answers a call that came to no run. An error without a code is internal.
func (v *toolRequest) refusal(err error) (*sdk.CallToolResult, error) {
	var e *countersign.Error
	if !errors.As(err, &e) || e.Code.Status() == 0 {
		if v.ctx.Err() == nil {
			v.cfg.Log.Error("request failed", "requestId", v.actor.RequestID, "path", Pattern, "error", err)
		}
		e = countersign.Errorf(countersign.CodeInternal, "something broke on our side; the log has it under this request id")
	}
	answer := refused{Outcome: outcomeRefused, Error: e.Code, Message: e.Message, RequestID: v.actor.RequestID}
	switch e.Code.Status() {
	case http.StatusServiceUnavailable:
		answer.RetryAfter = retryAfter
		answer.Message += sameAgain
	case http.StatusInternalServerError: // it may have come after the start
		answer.Outcome = outcomeUnknown
		answer.Message += sameAgain
	}
	var open *control.OpenCallError
	if errors.As(err, &open) {
		answer.Outcome = outcomeUnknown
		if answer.RunID = given(open.RunID); answer.RunID != nil {
			answer.URL = given(v.recovery(open.RunID))
		}
	}
	if v.msg.tasks && v.msg.revision < revision2026 && v.msg.method == "tools/call" { // whose answer is a task, and there is none
		code := int64(jsonrpc.CodeInvalidParams)
		if e.Code.Status() >= http.StatusInternalServerError {
			code = jsonrpc.CodeInternalError
		}
		err := v.refuse(code, "%s", answer.Message)
		err.Data, _ = json.Marshal(answer) // text and numbers can always be written
		return nil, err
	}
	out, err := result(answer)
	if out != nil {
		out.IsError = true
	}
	return out, err
}

// result is a JSON document, repeated as text for clients that show text.
func result(document any) (*sdk.CallToolResult, error) {
	text, err := countersign.Marshal(document)
	if err != nil {
		return nil, err
	}
	seen := safetext.JSON(string(text)) // clients may show it to people
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: seen}}, StructuredContent: countersign.RawValue(seen)}, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
