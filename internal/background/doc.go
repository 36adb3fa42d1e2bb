// Package background does the work that is not part of a request: retention,
// mails to approvers and webhooks.
//
// It imports platform, rules, storage, evidence and runtime. It never moves a run.
// It sends only notifications; the source of truth is the service's records.
//
// docs/architecture.md lists the order of the folders and each import between them.
package background
