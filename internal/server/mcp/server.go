package mcp

import (
	"context"
	"errors"
	"maps"
	"runtime/debug"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/safetext"
)

const instructions = "Each tool is a capability that this agent was admitted for. A call starts a run and answers with its outcome. " +
	"REHEARSED: nothing was sent. DONE: the answer was what is expected. WAITING_FOR_A_PERSON: somebody must approve it at url, which nobody can hurry by calling again: " +
	"call " + statusTool + " with the runId later, as for RUNNING. REFUSED: it did not take effect. NOT_AS_EXPECTED: it was answered otherwise than expected, and may have taken effect. " +
	"UNKNOWN: nobody knows whether it took effect; a person finds out, and doing it again could do it twice. STOPPED: people stopped it before anything took effect. " +
	"The same call finds the same run for 24 hours, so a call that was lost can be repeated; name in task what it belongs to."

// server handles one message. It registers only the called tool: registering all of
// them for each call would make calls costlier the more an agent may do.
func (v *toolRequest) server(m message) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "countersign", Title: safetext.Text(v.offer.Agent.Name), Version: v.cfg.Version}, &sdk.ServerOptions{
		Instructions: instructions, Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = private },
	})
	s.AddReceivingMiddleware(v.guard)
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
		if len(arguments) == 0 {
			arguments = []byte("{}")
		}
		state, err := use(arguments)
		if err != nil {
			return v.refusal(err)
		}
		return result(state)
	}
}

// refusal has the fields of the API's Error body. An error without a code is internal.
func (v *toolRequest) refusal(err error) (*sdk.CallToolResult, error) {
	var e *countersign.Error
	if !errors.As(err, &e) || e.Code.Status() == 0 {
		if v.ctx.Err() == nil {
			v.cfg.Log.Error("request failed", "requestId", v.actor.RequestID, "path", Pattern, "error", err)
		}
		e = countersign.Errorf(countersign.CodeInternal, "something broke on our side; the log has it under this request id")
	}
	out, err := result(struct {
		Error     countersign.Code `json:"error"`
		Message   string           `json:"message"`
		RequestID string           `json:"requestId"`
	}{e.Code, e.Message, v.actor.RequestID})
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
