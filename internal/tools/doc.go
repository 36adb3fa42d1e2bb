// Package tools holds the programs that run beside the service: client commands, conformance
// checks, copies of stores, the sample shop and the demo.
//
// It imports the SDK, platform, rules, storage and evidence. It never serves requests,
// and what serves requests never imports it.
//
// docs/architecture.md lists the order of the folders and each import between them.
package tools
