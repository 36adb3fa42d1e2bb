// Package background does the work that nobody asked for at that moment: retention,
// mails to approvers, webhooks.
//
// It imports platform, rules, storage, evidence and runtime. It never moves a run; what
// it sends are hints, and the record stays with the service.
//
// The order of the folders and each import between them: docs/architecture.md.
package background
