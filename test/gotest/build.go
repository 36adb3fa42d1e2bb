package gotest

// ProgramVariable is the environment variable that names a binary of the service to
// the tests that drive one, so that they don't build it each for itself.
const ProgramVariable = "COUNTERSIGN_TEST_BINARY"

// Race are the flags of a build with the race detector. SQLite in Go is C that was
// translated: watched by the race detector too it takes some ten times as long, and
// what it shares between threads it locks by C's rules.
var Race = []string{"-race", "-gcflags=modernc.org/...=-race=false"}
