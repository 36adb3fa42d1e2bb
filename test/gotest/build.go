package gotest

// ProgramVariable is the environment variable with a binary of the service for tests that run one, so that they need not
// each build it.
const ProgramVariable = "COUNTERSIGN_TEST_BINARY"

// Race are the build flags of the race detector. They exclude SQLite, which is C translated to Go: under the detector it
// would take about ten times as long, and it locks by C's rules.
var Race = []string{"-race", "-gcflags=modernc.org/...=-race=false"}

// Stripped are the build flags without symbols for a debugger, as releases are built: linking takes half of the time.
// Stacks in panics and in reports of races are the same.
var Stripped = []string{"-ldflags=-s -w"}

// Pure are the packages that decide and perform nothing: they may not import I/O or concurrency (architecture_test.go), so
// the race detector would find little. The full tier runs them with the detector.
var Pure = []string{"evidence/merkle", "evidence/receipt", "evidence/signature", "rules/access", "rules/credential", "rules/exactjson", "rules/importer", "rules/mask", "rules/model", "rules/plan", "rules/policy", "rules/project", "rules/quota", "rules/registry", "rules/request", "rules/run", "rules/safetext", "server/graph"}
