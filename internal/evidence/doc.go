// Package evidence holds the records that prove what happened: the audit log and its
// Merkle tree, receipts, signatures and archives.
//
// It imports platform, rules and storage. It never changes the data that it proves.
//
// docs/architecture.md lists the order of the folders and each import between them.
package evidence
