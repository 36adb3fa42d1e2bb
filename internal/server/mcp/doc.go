// Package mcp serves agents that speak the Model Context Protocol: each
// registered agent is a server of its own at [Pattern], whose tools are the
// capabilities that it was admitted for. A call of a tool starts an agent run
// through the use case of `POST /agents/{id}/runs`, so it passes the same gates, and
// waits for approval like anyone's. No second way to run exists.
//
// It keeps nothing between two requests: no session, no stream. Replicas and
// restarts make no difference to whoever is outside.
package mcp
