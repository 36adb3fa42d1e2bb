// Package evidence proves afterwards what happened: the audit log and its tree,
// receipts, signatures and archives.
//
// It imports platform, rules and storage. It never changes what it proves.
//
// The order of the folders and each import between them: docs/architecture.md.
package evidence
