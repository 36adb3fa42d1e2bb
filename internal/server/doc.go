// Package server is what callers reach: the HTTP API, the console, MCP and the manual.
//
// It imports platform, rules, evidence and control. It never reaches storage and never
// moves a run except through control.
//
// docs/architecture.md lists the order of the folders and each import between them.
package server
