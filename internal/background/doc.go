// Package background does the work that nobody asked for at that moment: retention,
// mails to approvers, webhooks.
//
// It imports platform, rules, storage, evidence and runtime. It never moves a run.
// What it sends are notifications: the service's records stay the truth.
//
// docs/architecture.md lists the order of the folders and each import between them.
package background
