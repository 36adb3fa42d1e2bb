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
	".":                        {},
	"internal/access":          {"internal/plain"},
	"internal/exact":           {},
	"internal/model":           {},
	"internal/request":         {},
	"internal/signature":       {},
	"internal/credential":      {"internal/request"},
	"internal/owner":           {"internal/credential", "internal/records", "internal/request", "internal/store"},
	"internal/project":         {"internal/credential", "internal/request"},
	"internal/quota":           {},
	"internal/agent":           {"internal/plain", "internal/request"},
	"internal/plain":           {},
	"internal/plan":            {"internal/model", "internal/request"},
	"internal/run":             {"internal/plain", "internal/plan", "internal/request"},
	"internal/receipt":         {"internal/request"},
	"internal/crashpoint":      {},
	"internal/store":           {},
	"internal/store/sqldoc":    {"internal/store"},
	"internal/store/sqlite":    {"internal/crashpoint", "internal/durable", "internal/store", "internal/store/sqldoc"},
	"internal/store/postgres":  {"internal/crashpoint", "internal/store", "internal/store/sqldoc"},
	"internal/store/memory":    {"internal/store"},
	"internal/store/again":     {"internal/store"},
	"internal/store/measured":  {"internal/store", "internal/telemetry"},
	"internal/telemetry":       {},
	"internal/telemetry/otlp":  {"internal/telemetry"},
	"internal/audit":           {"internal/merkle", "internal/store"},
	"internal/records":         {"internal/access", "internal/store"},
	"internal/ledger":          {"internal/access", "internal/audit", "internal/crashpoint", "internal/owner", "internal/plan", "internal/recent", "internal/records", "internal/request", "internal/run", "internal/store", "internal/telemetry"},
	"internal/archive":         {},
	"internal/durable":         {},
	"internal/budget":          {},
	"internal/policy":          {},
	"internal/retention":       {"internal/archive", "internal/audit", "internal/durable", "internal/ledger", "internal/records", "internal/rounds", "internal/store"},
	"internal/lease":           {"internal/records", "internal/store"},
	"internal/engine":          {"internal/crashpoint", "internal/ledger", "internal/records", "internal/request", "internal/run", "internal/store", "internal/telemetry"},
	"internal/transfer":        {"internal/audit", "internal/records", "internal/store"},
	"internal/live":            {},
	"internal/outbound":        {"internal/crashpoint", "internal/credential", "internal/request", "internal/signature", "internal/telemetry"},
	"internal/conformance":     {"internal/exact", "internal/request", "internal/rounds", "internal/signature"},
	"internal/control":         {"internal/access", "internal/agent", "internal/audit", "internal/crashpoint", "internal/credential", "internal/ledger", "internal/live", "internal/model", "internal/owner", "internal/plain", "internal/plan", "internal/project", "internal/quota", "internal/receipt", "internal/recent", "internal/records", "internal/request", "internal/run", "internal/store", "internal/telemetry", "internal/throttle", "internal/turns"},
	"internal/httpapi":         {"internal/access", "internal/audit", "internal/control", "internal/exact", "internal/recent", "internal/signature", "internal/telemetry"},
	"internal/mcp":             {"internal/control", "internal/exact", "internal/plain"},
	"internal/throttle":        {},
	"internal/mail":            {},
	"internal/mail/mailtest":   {},
	"internal/notify":          {"internal/access", "internal/plain", "internal/records", "internal/rounds", "internal/store"},
	"internal/webhook":         {"internal/audit", "internal/owner", "internal/records", "internal/request", "internal/rounds", "internal/store"},
	"internal/oidc":            {},
	"internal/oidc/oidctest":   {},
	"internal/graph":           {"internal/plain"},
	"internal/console":         {"internal/access", "internal/audit", "internal/control", "internal/exact", "internal/graph", "internal/plain", "internal/sample", "internal/telemetry"},
	"internal/importer":        {"internal/credential", "internal/exact", "internal/plain", "internal/project", "internal/request"},
	"internal/cli":             {"client", "receiver", "internal/archive", "internal/credential", "internal/durable", "internal/exact", "internal/importer", "internal/conformance", "internal/merkle", "internal/model", "internal/plain", "internal/policy", "internal/project", "internal/receipt", "internal/request"},
	"internal/manual":          {"internal/graph"},
	"internal/recent":          {},
	"internal/turns":           {},
	"internal/rounds":          {},
	"internal/inbound":         {},
	"internal/secretfile":      {},
	"internal/merkle":          {},
	"internal/sample":          {"internal/signature"},
	"docs":                     {},
	"client":                   {},
	"receiver":                 {"internal/signature"},
	"receiver/receivertest":    {"internal/signature", "receiver"},
	"examples/go":              {"receiver"},
	"internal/store/storetest": nil, // a test suite: anything

	"internal/store/postgres/pgtest": {},
	"cmd/countersign":                nil, // the only wiring: anything
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
			if cache := room == "exact" && name == "sync"; !cache && slices.Contains(impure, name) { // it remembers how types are read
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
