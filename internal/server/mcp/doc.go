// Package mcp serves agents that speak the Model Context Protocol. Each registered
// agent is a server of its own at [Pattern], whose tools are its admitted capabilities.
// A tool call starts an agent run through the use case of `POST /agents/{id}/runs`, with
// the same checks and approvals; there is no second way to run anything.
//
// The package keeps no state between two requests, neither session nor stream, so that
// replicas and restarts make no difference to clients.
package mcp
