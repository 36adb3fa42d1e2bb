// Package rules holds the decisions: models, plans, requests, runs, projects, agents and
// access. Given values, they return values, so that every decision can be replayed.
//
// It imports the vocabulary and itself. It never performs I/O, reads a clock or random
// numbers, or keeps state between calls.
//
// Bounds and windows that callers see, such as the heartbeat window, are constants of the
// vocabulary: limits.go at the root; bounds that settings change are in package quota.
//
// docs/architecture.md lists the order of the folders and each import between them.
package rules
