// Package runtime moves runs: it loads and saves them, executes them, makes their calls,
// and decides which process may. Package run of rules says what an event does to a run.
//
// It imports platform, rules, storage and evidence. It never decides who may ask for a
// move, and never moves a run except through package runrepo.
//
// The order of the folders and each import between them: docs/architecture.md.
package runtime
