// Package runtime moves runs: it loads and saves them, executes them, makes their calls,
// and decides which process may do so. What an event does to a run is decided in rules/run.
//
// It imports platform, rules, storage and evidence. It never decides who may ask for a
// move, and never moves a run except through package runrepo.
//
// docs/architecture.md lists the order of the folders and each import between them.
package runtime
