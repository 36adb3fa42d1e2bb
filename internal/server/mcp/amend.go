package mcp

import "encoding/json"

// amended is a response of the library with what it doesn't know: a result in place of its own,
// and where a client of revision2025 looks for it that calls may be tasks.
func amended(answer []byte, m message, instead any) []byte {
	declares := m.method == "initialize" || m.method == "tools/list" && m.revision == revision2025
	if instead == nil && !declares {
		return answer
	}
	var a struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  json.RawMessage `json:"result"`
	}
	if json.Unmarshal(answer, &a) != nil || a.Result == nil {
		return answer
	}
	if instead != nil {
		text, err := json.Marshal(instead)
		if err != nil {
			return answer
		}
		a.Result = text
	} else {
		a.Result = declaring(a.Result)
	}
	out, err := json.Marshal(a)
	if err != nil {
		return answer
	}
	return out
}

// tasksCapability is what revision2025 calls that calls of tools may be tasks, and be cancelled.
const tasksCapability = `{"cancel":{},"requests":{"tools":{"call":{}}}}`

// declaring adds to the result of initialize, or to each tool of a list.
func declaring(result json.RawMessage) json.RawMessage {
	var fields, capabilities map[string]json.RawMessage
	if json.Unmarshal(result, &fields) != nil {
		return result
	}
	var version string
	_ = json.Unmarshal(fields["protocolVersion"], &version)
	switch {
	case fields["tools"] != nil:
		fields["tools"] = optionally(fields["tools"])
	case version == revision2025 && json.Unmarshal(fields["capabilities"], &capabilities) == nil:
		capabilities["tasks"] = json.RawMessage(tasksCapability)
		fields["capabilities"] = written(capabilities, fields["capabilities"])
	}
	return written(fields, result)
}

// optionally says of each tool but that of states that its calls may be tasks.
func optionally(tools json.RawMessage) json.RawMessage {
	var all []map[string]json.RawMessage
	if json.Unmarshal(tools, &all) != nil {
		return tools
	}
	for _, tool := range all {
		var name string
		if _ = json.Unmarshal(tool["name"], &name); name != statusTool {
			tool["execution"] = json.RawMessage(`{"taskSupport":"optional"}`)
		}
	}
	return written(all, tools)
}

// written is v as JSON, or what it was if it can't be written.
func written(v any, was json.RawMessage) json.RawMessage {
	out, err := json.Marshal(v)
	if err != nil {
		return was
	}
	return out
}
