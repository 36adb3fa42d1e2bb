// Package harness lets tests use the product as its users do: it builds the binary, starts it with its
// own store, talks to it over HTTP, and is the project API that it calls. It is written from the
// specification and the contract, and imports none of the product's internals.
//
// It checks every answer: against the server's own OpenAPI document, the Error body, the table of codes
// and statuses, and for secrets. At the end it stops every server with SIGTERM; the server must exit
// with 0, with an intact audit log, and with no secret in its log and store.
//
// Start gives a test its own server. Tenant gives it its own tenant on a server that tests share;
// EndShared stops and checks the shared servers after all tests.
package harness
