package countersign_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/gotest"
)

const module = "github.com/countersign/countersign"

// What the pure packages may not import, and why, is in .golangci.yml; here the rule is
// kept by `make test` alone.
var impure = []string{"context", "log", "log/slog", "net", "net/http", "os", "database/sql", "math/rand", "math/rand/v2", "crypto/rand", "sync"}

// neighbours lists, for each room, the rooms of ours that it may import.
var neighbours = map[string][]string{
	".":                                {},
	"internal/rules/access":            {"internal/rules/safetext"},
	"internal/rules/exactjson":         {},
	"internal/rules/model":             {},
	"internal/rules/request":           {},
	"internal/evidence/signature":      {},
	"internal/rules/credential":        {"internal/rules/request"},
	"internal/runtime/credowner":       {"internal/rules/credential", "internal/storage/records", "internal/rules/request", "internal/storage/store"},
	"internal/rules/project":           {"internal/rules/credential", "internal/rules/request"},
	"internal/rules/quota":             {},
	"internal/rules/registry":          {"internal/rules/safetext", "internal/rules/request"},
	"internal/rules/safetext":          {},
	"internal/rules/plan":              {"internal/rules/model", "internal/rules/request"},
	"internal/rules/run":               {"internal/rules/safetext", "internal/rules/plan", "internal/rules/request"},
	"internal/evidence/receipt":        {"internal/rules/request"},
	"internal/platform/crashpoint":     {},
	"internal/storage/store":           {},
	"internal/storage/sqldoc":          {"internal/storage/store"},
	"internal/storage/sqlite":          {"internal/platform/crashpoint", "internal/platform/atomicfile", "internal/storage/store", "internal/storage/sqldoc"},
	"internal/storage/postgres":        {"internal/platform/crashpoint", "internal/storage/store", "internal/storage/sqldoc"},
	"internal/testing/memory":          {"internal/storage/store"},
	"internal/testing/rerun":           {"internal/storage/store"},
	"internal/storage/measured":        {"internal/storage/store", "internal/platform/telemetry"},
	"internal/platform/telemetry":      {},
	"internal/platform/telemetry/otlp": {"internal/platform/telemetry"},
	"internal/evidence/audit":          {"internal/evidence/merkle", "internal/storage/store"},
	"internal/storage/records":         {"internal/rules/access", "internal/storage/store"},
	"internal/runtime/runrepo":         {"internal/rules/access", "internal/evidence/audit", "internal/platform/crashpoint", "internal/runtime/credowner", "internal/rules/plan", "internal/platform/cache", "internal/storage/records", "internal/rules/request", "internal/rules/run", "internal/storage/store", "internal/platform/telemetry"},
	"internal/evidence/archive":        {},
	"internal/platform/atomicfile":     {},
	"internal/testing/allocbudget":     {},
	"internal/rules/policy":            {},
	"internal/background/retention":    {"internal/evidence/archive", "internal/evidence/audit", "internal/platform/atomicfile", "internal/runtime/runrepo", "internal/storage/records", "internal/platform/periodic", "internal/storage/store"},
	"internal/runtime/lease":           {"internal/storage/records", "internal/storage/store"},
	"internal/runtime/engine":          {"internal/platform/crashpoint", "internal/runtime/runrepo", "internal/storage/records", "internal/rules/request", "internal/rules/run", "internal/storage/store", "internal/platform/telemetry"},
	"internal/tools/transfer":          {"internal/evidence/audit", "internal/storage/records", "internal/storage/store"},
	"internal/runtime/updates":         {},
	"internal/runtime/outbound":        {"internal/platform/crashpoint", "internal/rules/credential", "internal/rules/request", "internal/evidence/signature", "internal/platform/telemetry"},
	"internal/tools/conformance":       {"internal/rules/exactjson", "internal/rules/request", "internal/platform/periodic", "internal/evidence/signature"},
	"internal/control":                 {"internal/rules/access", "internal/rules/registry", "internal/evidence/audit", "internal/platform/crashpoint", "internal/rules/credential", "internal/runtime/runrepo", "internal/runtime/updates", "internal/rules/model", "internal/runtime/credowner", "internal/rules/safetext", "internal/rules/plan", "internal/rules/project", "internal/rules/quota", "internal/evidence/receipt", "internal/platform/cache", "internal/storage/records", "internal/rules/request", "internal/rules/run", "internal/storage/store", "internal/platform/telemetry", "internal/platform/throttle", "internal/platform/fairqueue"},
	"internal/server/httpapi":          {"internal/rules/access", "internal/evidence/audit", "internal/control", "internal/rules/exactjson", "internal/platform/cache", "internal/evidence/signature", "internal/platform/telemetry"},
	"internal/server/mcp":              {"internal/control", "internal/rules/exactjson", "internal/rules/safetext"},
	"internal/platform/throttle":       {},
	"internal/platform/mail":           {},
	"internal/testing/mailtest":        {},
	"internal/background/notify":       {"internal/rules/access", "internal/rules/safetext", "internal/storage/records", "internal/platform/periodic", "internal/storage/store"},
	"internal/background/webhook":      {"internal/evidence/audit", "internal/runtime/credowner", "internal/storage/records", "internal/rules/request", "internal/platform/periodic", "internal/storage/store"},
	"internal/platform/oidc":           {},
	"internal/testing/oidctest":        {},
	"internal/server/graph":            {"internal/rules/safetext"},
	"internal/server/console":          {"internal/rules/access", "internal/evidence/audit", "internal/control", "internal/rules/exactjson", "internal/server/graph", "internal/rules/safetext", "internal/tools/sample", "internal/platform/telemetry"},
	"internal/tools/importer":          {"internal/rules/credential", "internal/rules/exactjson", "internal/rules/safetext", "internal/rules/project", "internal/rules/request"},
	"internal/tools/cli":               {"client", "receiver", "internal/evidence/archive", "internal/rules/credential", "internal/platform/atomicfile", "internal/rules/exactjson", "internal/tools/importer", "internal/tools/conformance", "internal/evidence/merkle", "internal/rules/model", "internal/rules/safetext", "internal/rules/policy", "internal/rules/project", "internal/evidence/receipt", "internal/rules/request"},
	"internal/server/manual":           {"internal/server/graph"},
	"internal/platform/cache":          {},
	"internal/platform/fairqueue":      {},
	"internal/platform/periodic":       {},
	"internal/platform/connlimit":      {},
	"internal/platform/secretfile":     {},
	"internal/evidence/merkle":         {},
	"internal/tools/sample":            {"internal/evidence/signature"},
	"docs":                             {},
	"client":                           {},
	"receiver":                         {"internal/evidence/signature"},
	"receiver/receivertest":            {"internal/evidence/signature", "receiver"},
	"examples/go":                      {"receiver"},
	"internal/testing/storetest":       nil, // a test suite: anything

	"internal/testing/pgtest": {},
	"cmd/countersign":         nil, // the only wiring: anything
}

// imports maps each room's folder to what its files, tests apart, import.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata" || d.Name() == "node_modules" || path == "bench" || path == "release") {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		room := filepath.ToSlash(filepath.Dir(path))
		for _, i := range file.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			found[room] = append(found[room], name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestEachRoomImportsOnlyItsNeighbours(t *testing.T) {
	for room, list := range imports(t) {
		allowed, known := neighbours[room]
		if strings.HasPrefix(room, "test") || strings.Contains(room, "faultreceiver") {
			continue
		}
		if !known {
			t.Errorf("%s is a new room: say here and in docs/architecture.md what it may import", room)
			continue
		}
		for _, name := range list {
			ours, isOurs := strings.CutPrefix(name, module+"/")
			if isOurs && allowed != nil && !slices.Contains(allowed, ours) {
				t.Errorf("%s imports %s; it may import %v", room, ours, allowed)
			}
		}
	}
}

func TestPureRoomsPerformNothing(t *testing.T) {
	all := imports(t)
	for _, room := range gotest.Pure {
		for _, name := range all["internal/"+room] {
			if cache := room == "rules/exactjson" && name == "sync"; !cache && slices.Contains(impure, name) { // it remembers how types are read
				t.Errorf("internal/%s is pure and imports %s", room, name)
			}
		}
	}
}

func TestVocabularyImportsTheStandardLibraryOnly(t *testing.T) {
	for _, name := range imports(t)["."] {
		if strings.Contains(strings.Split(name, "/")[0], ".") {
			t.Errorf("the vocabulary imports %s", name)
		}
	}
}
