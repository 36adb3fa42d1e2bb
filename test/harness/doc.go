// Package harness lets tests treat the product as its users do: it builds the
// binary, starts it on a store of its own, talks to it over HTTP and is the
// project API that it calls. It knows the specification and the contract and
// nothing of the product's code.
//
// Every answer is judged on arrival: against the server's own OpenAPI document,
// the Error body, the table of codes and statuses, and for secrets that no
// answer may hold. Every server is stopped with SIGTERM in the end and must exit
// 0, with an intact audit log and no secret in its log and store.
//
// Start gives a test a server of its own. Tenant gives it a tenant of its own on a
// server that tests share, whose end EndShared judges when all tests have run.
package harness
