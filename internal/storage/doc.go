// Package storage keeps documents in tables, separated by tenant, on SQLite or PostgreSQL.
// The interface is package store; the tests that every store must pass are
// testing/storetest; package records says what is kept.
//
// It imports platform and rules. It never knows what a record means, or who may read it.
//
// docs/architecture.md lists the order of the folders and each import between them.
package storage
