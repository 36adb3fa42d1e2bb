package mcp

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// TestACallThatIsRefusedSaysWhatWouldBeRight reads each message that a model gets.
func TestACallThatIsRefusedSaysWhatWouldBeRight(t *testing.T) {
	v := offering(1)
	v.Handler = &Handler{cfg: Config{Log: slog.New(slog.DiscardHandler)}}
	v.offer.Agent.ID = "agent-1"
	c := &countersign.Capability{Name: "refund", Method: "POST", Path: "/refunds", InputSchema: map[string]countersign.InputField{"amount": {Type: "number"}}}
	reads := func(arguments string) error {
		_, _, err := v.read("refund", c, []byte(arguments))
		return err
	}
	protocol := func(method string, r sdk.Request) error {
		_, err := v.guard(func(context.Context, string, sdk.Request) (sdk.Result, error) { panic("a fault") })(t.Context(), method, r)
		return err
	}
	_, _, noMessage := readMessage(nil, []byte("[]"))
	_, noRun := v.status([]byte(`{"runId":"a b"}`))
	_, tooLong := v.status([]byte(`{"runId":"run-1","waitSeconds":51}`))
	v.actor = control.Actor{RequestID: "req-1"}
	for _, test := range []struct {
		err  error
		want string
	}{
		{reads(`{"task":1}`), "invalid_request: task: it must be text, not number"},
		{reads(`{"reason":" "}`), "invalid_request: reason: it can't be blank; leave it out, or say it in words"},
		{reads(`{"task":"` + strings.Repeat("x", 201) + `"}`), "invalid_request: task: it has at most 200 characters"},
		{reads(`{"input":{"amount":1},"mode":"LIVE"}`), `invalid_request: arguments: input, mode, expectation and idempotencyKey are an earlier form. Inputs are arguments themselves: call refund with {"amount": (number), "task": (string, optional)}. /mcp/agents/agent-1 is LIVE and /mcp/agents/agent-1/rehearsal rehearses; the capability says what is expected, and the service makes the key`},
		{noMessage, "invalid_request: the body must be one JSON-RPC message, an object"},
		{noRun, "invalid_request: runId: send the runId that a call answered"},
		{tooLong, "invalid_request: waitSeconds: it must be a whole number from 0 to 50"},
		{reads(`{"amount":1,"waitSeconds":1.5}`), "invalid_request: waitSeconds: it must be a whole number from 0 to 50"},
		{reads(`{"amount":1,"waitSeconds":"5"}`), "invalid_request: waitSeconds: it must be a whole number from 0 to 50"},
		{reads(`{"amount":1,"waitSeconds":-1}`), "invalid_request: waitSeconds: it must be a whole number from 0 to 50"},
		{protocol("subscriptions/listen", nil), "this server keeps no streams; ask run_status instead"},
		{protocol("tools/list", &sdk.ListToolsRequest{Params: &sdk.ListToolsParams{Cursor: "x"}}), "cursor: it is none that this server gave; send the nextCursor of the page before as it was, or none for the first page"},
		{protocol("tools/call", &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{Name: "pay"}}), `name: this agent has no tool "pay"; tools/list names those that it has`},
		{v.ended(task{state: runState{Outcome: outcomeWaiting}}), "the task goes on; ask tasks/get, and again for its result"},
		{v.noTask(countersign.Errorf(countersign.CodeRoleRequired, "no")), "taskId: there is no such task"},
		{v.noTask(countersign.Errorf(countersign.CodeCapacity, "full")), "capacity: full"},
		{v.noTask(countersign.Errorf(countersign.CodeStateConflict, "it is over")), "state_conflict: it is over"},
		{v.noTask(errors.New("disk on fire")), "something broke on our side; the log has it under the request id req-1"},
		{protocol("tools/call", nil), "something broke on our side; the log has it under the request id req-1"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("\n got %v\nwant %s", test.err, test.want)
		}
	}
}

// TestWhatBreaksIsLoggedAndNotShown: a model is told no more than the API's clients.
func TestWhatBreaksIsLoggedAndNotShown(t *testing.T) {
	const want = `{"outcome":"UNKNOWN","error":"internal","message":"something broke on our side; the log has it under this request id; make the very same call again, with the same arguments, which finds its run if it was taken","url":null,"runId":null,"startedAt":null,"replayed":false,"requestId":"req-1"}`
	var log strings.Builder
	v := offering(1)
	v.Handler = &Handler{cfg: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}}
	v.actor, v.ctx = control.Actor{RequestID: "req-1"}, t.Context()
	out, err := v.refusal(errors.New("disk on fire"))
	if err != nil {
		t.Fatal(err)
	}
	if text := out.Content[0].(*sdk.TextContent).Text; text != want { //nolint:forcetypeassert // it is what result makes
		t.Errorf("\n got %s\nwant %s", text, want)
	}
	if !strings.Contains(log.String(), `msg="request failed" requestId=req-1 path=/mcp/agents/{id} error="disk on fire"`) {
		t.Error(log.String())
	}
}
