package gotest

// ProgramVariable is the environment variable that names a binary of the service to
// the tests that drive one, so that they don't build it each for itself.
const ProgramVariable = "COUNTERSIGN_TEST_BINARY"

// Race are the flags of a build with the race detector. SQLite in Go is C that was
// translated: watched by the race detector too it takes some ten times as long, and
// what it shares between threads it locks by C's rules.
var Race = []string{"-race", "-gcflags=modernc.org/...=-race=false"}

// Pure are the packages that decide and perform nothing: they may not import what
// reaches the world or another goroutine (architecture_test.go), so the race detector
// has little to find in them. It watches them in the full tier.
var Pure = []string{"evidence/merkle", "evidence/receipt", "evidence/signature", "rules/access", "rules/credential", "rules/exactjson", "rules/model", "rules/plan", "rules/policy", "rules/project", "rules/quota", "rules/registry", "rules/request", "rules/run", "rules/safetext", "server/graph", "tools/importer"}
