// Package background does the work that is not part of a request: retention, the search
// index, mails and chat messages to approvers, and webhooks.
//
// It imports platform, rules, storage, evidence, runtime and control. It never moves a run
// itself: what a person decides in a chat is the use case of the console and the API.
// It sends only notifications; the source of truth is the service's records.
//
// docs/architecture.md lists the order of the folders and each import between them.
package background
