package mcp

import (
	"encoding/json"
	"net/http"
	"strings"
)

// The revisions of the protocol whose tasks and elicitations differ.
const (
	revision2025 = "2025-11-25"
	revision2026 = "2026-07-28"
)

// Members of _meta by which a client of revision2026 says with each message what it is.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	tasksExtension   = "io.modelcontextprotocol/tasks"
)

// message is what has to be known before the library parses it.
type message struct {
	method string
	tool   string // the called tool

	id   json.RawMessage
	bare bool // it has no more members than a request needs

	revision string // of the protocol, "" for one before these
	tasks    bool   // the client takes a task for an answer
	elicits  bool   // it shows its person an address
	answers  bool   // it answers an elicitation: a person has seen the address
}

// of reads what a message says of its client. What doesn't parse here the library refuses.
func (m *message) of(h http.Header, params map[string]json.RawMessage) {
	var meta map[string]json.RawMessage
	_ = json.Unmarshal(params["_meta"], &meta)
	_ = json.Unmarshal(meta[metaVersion], &m.revision)
	if m.revision == "" {
		m.revision = h.Get("Mcp-Protocol-Version")
	}
	switch {
	case m.revision >= revision2026:
		var c struct {
			Extensions  map[string]json.RawMessage `json:"extensions"`
			Elicitation map[string]json.RawMessage `json:"elicitation"`
		}
		_ = json.Unmarshal(meta[metaCapabilities], &c)
		_, m.tasks = c.Extensions[tasksExtension]
		_, m.elicits = c.Elicitation["url"]
		_, m.answers = params["inputResponses"]
	case m.revision == revision2025, m.revision == "":
		m.tasks = strings.HasPrefix(strings.TrimSpace(string(params["task"])), "{")
		m.elicits = h.Get(sessionHeader) == sessionElicits
	}
}

// A client of revision2025 says once, when it connects, that it shows addresses, and sends back
// with each message the session's id, which so says it for it: nothing is kept here.
const (
	sessionHeader  = "Mcp-Session-Id"
	sessionElicits = "elicits-url"
)

// declaresElicitation reports an initialize of a client that shows addresses.
func declaresElicitation(m message, params map[string]json.RawMessage) bool {
	var c struct {
		Elicitation map[string]json.RawMessage `json:"elicitation"`
	}
	_ = json.Unmarshal(params["capabilities"], &c)
	_, urls := c.Elicitation["url"]
	return m.method == "initialize" && urls
}
