package mcpup

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
)

// Tool is a tool as a server describes it. All of it is text of others.
type Tool struct {
	Name         string            `json:"name"`
	Description  string            `json:"description"`
	InputSchema  countersign.Value `json:"inputSchema"`
	OutputSchema countersign.Value `json:"outputSchema"`
	Annotations  struct {
		ReadOnly    bool  `json:"readOnlyHint"`
		Destructive *bool `json:"destructiveHint"`
		Idempotent  bool  `json:"idempotentHint"`
	} `json:"annotations"`
}

// Digest is of what somebody has looked at: the description and the schemas.
func (t *Tool) Digest() string {
	seen := map[string]countersign.Value{"description": countersign.String(t.Description)}
	for name, schema := range map[string]countersign.Value{"inputSchema": t.InputSchema, "outputSchema": t.OutputSchema} {
		if !schema.IsZero() {
			seen[name] = schema
		}
	}
	return "sha256:" + countersign.ObjectValue(seen).Digest()
}

// page reads one page of a list of tools. A tool that can't be read exactly is none.
func page(result json.RawMessage) (tools []Tool, cursor string, err error) {
	var p struct {
		Tools  []json.RawMessage `json:"tools"`
		Cursor string            `json:"nextCursor"`
	}
	if err := json.Unmarshal(result, &p); err != nil {
		return nil, "", errors.New("the server's list of tools can't be read")
	}
	for _, raw := range p.Tools {
		var t Tool
		if exactjson.Check(raw) == nil && json.Unmarshal(raw, &t) == nil && t.Name != "" {
			tools = append(tools, t)
		}
	}
	return tools, p.Cursor, nil
}

// problem says in words of ours why a list can't be had.
func (e *rpcError) problem() error { return fmt.Errorf("the server refused with code %d", e.Code) }
