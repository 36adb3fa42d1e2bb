package mcp

import (
	"bytes"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A client that shows addresses to its person is given that of the console's page on which the
// call is approved. Whatever the person answers to the client, it is never the approval.

// elicitation asks a client to show the page.
func elicitation(s runState) *sdk.ElicitParams {
	return &sdk.ElicitParams{Mode: "url", URL: *s.URL, ElicitationID: s.WaitingFor.ApprovalID, Message: "A person must approve this call, on this page of Countersign. What is answered here doesn't approve it."}
}

// shows reports an answer whose page the client's person is shown: of a call that waits, once.
func (v *toolRequest) shows(s runState) bool {
	return v.msg.elicits && !v.msg.answers && !s.Replayed && s.Outcome == outcomeWaiting && s.URL != nil
}

// inputRequired asks a client of revision2026, which sends the same call again with the answer,
// and so finds its run.
func inputRequired(s runState) *sdk.CallToolResult {
	return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"approval-" + s.WaitingFor.ApprovalID: elicitation(s)}}
}

// eventsOf are a request to show the page and the answer, for a client of revision2025, which
// reads both from one response.
func eventsOf(s runState, answer []byte) ([]byte, error) {
	ask, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": "approval-" + s.WaitingFor.ApprovalID, "method": "elicitation/create", "params": elicitation(s)})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, data := range [][]byte{ask, answer} {
		b.WriteString("event: message\ndata: ")
		b.Write(bytes.ReplaceAll(data, []byte("\n"), nil))
		b.WriteString("\n\n")
	}
	return b.Bytes(), nil
}
