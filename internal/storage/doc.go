// Package storage keeps documents in tables, one tenant apart from the other, on SQLite
// or PostgreSQL. The interface is package store, its law testing/storetest; package
// records says what is kept.
//
// It imports platform and rules. It never knows what a record means, or who may read it.
//
// The order of the folders and each import between them: docs/architecture.md.
package storage
