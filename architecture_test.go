package countersign_test

import (
	"bytes"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/gotest"
)

const module = "github.com/countersign/countersign"

// impure is what the packages that only decide may not import: clocks, randomness and I/O
// are passed in as values, so that every decision can be replayed.
var impure = []string{"context", "log", "log/slog", "net", "net/http", "os", "database/sql", "math/rand", "math/rand/v2", "crypto/rand", "sync"}

// outside says which packages of ours those beside internal/ may import.
var outside = map[string][]string{
	".":                     {},
	"client":                {},
	"deploy":                {},
	"docs":                  {},
	"receiver":              {"internal/evidence/signature"},
	"receiver/receivertest": {"internal/evidence/signature", "receiver"},
	"examples/go":           {"receiver"},
	"internal/tools/cli":    {"client"},
	"internal/tools/sample": {"receiver"},

	"internal/tools/adapter/serve": {"receiver"},
}

// never says what packages may not import although their folder may, or although the
// package lies beside them: adapters don't know each other, a use case declares what it
// needs, and cmd/countersign wires them.
var never = map[string][]string{
	"internal/storage/store":       {"internal/rules", "internal/storage"},
	"internal/storage/turns":       {"internal/rules", "internal/storage/records", "internal/storage/sqldoc", "database/sql"},
	"internal/storage/sqldoc":      {"internal/rules", "internal/storage/records", "internal/storage/batches", "internal/storage/turns"},
	"internal/storage/batches":     {"internal/rules", "internal/storage/records", "internal/storage/sqlite", "internal/storage/postgres"},
	"internal/storage/sqlite":      {"internal/rules", "internal/storage/records", "internal/storage/postgres"},
	"internal/storage/postgres":    {"internal/rules", "internal/storage/records", "internal/storage/sqlite"},
	"internal/storage/measured":    {"internal/rules", "internal/storage/records"},
	"internal/runtime/outbound":    {"internal/storage", "internal/runtime"},
	"internal/runtime/runrepo":     {"internal/runtime/engine", "internal/runtime/outbound", "internal/storage/sqlite", "internal/storage/postgres"},
	"internal/runtime/engine":      {"internal/runtime/outbound", "internal/runtime/lease", "internal/storage/sqlite", "internal/storage/postgres"},
	"internal/control":             {"internal/runtime/engine", "internal/runtime/outbound", "internal/runtime/lease", "internal/storage/sqlite", "internal/storage/postgres", "internal/platform/mail", "internal/platform/oidc", "net/http"},
	"internal/background/webhook":  {"internal/runtime/runrepo", "internal/runtime/engine", "internal/runtime/outbound", "internal/storage/sqlite", "internal/storage/postgres"},
	"internal/background/indexing": {"internal/control", "internal/runtime", "internal/storage/sqlite", "internal/storage/postgres"},
	"internal/background/notify":   {"internal/runtime", "internal/platform/mail", "internal/storage/sqlite", "internal/storage/postgres"},
	"internal/background/chat":     {"internal/runtime", "internal/platform/mail", "internal/storage/sqlite", "internal/storage/postgres", "net/http"},
	"internal/background/slack":    {"internal/runtime", "internal/storage", "internal/rules"},
	"internal/tools/transfer":      {"internal/storage/sqlite", "internal/storage/postgres"},
	"internal/tools/conformance":   {"internal/storage"}, // it makes wrong calls on purpose
	"internal/server/httpapi":      {"internal/server", "internal/rules/run"},
	"internal/server/console":      {"internal/server/httpapi", "internal/server/mcp", "internal/server/manual", "internal/rules/run", "internal/platform/mail", "internal/platform/oidc"},
	"internal/server/mcp":          {"internal/server", "internal/rules/run"},
	"internal/server/manual":       {"internal/control", "internal/rules", "internal/server/console", "internal/server/httpapi"},
}

func TestPackagesNeverImportWhatTheyShouldNotKnow(t *testing.T) {
	all := imports(t)
	for pkg, forbidden := range never {
		if len(all[pkg]) == 0 {
			t.Errorf("%s is no package", pkg)
		}
		for at, names := range all {
			if at == pkg || rooms[pkg] != nil && strings.HasPrefix(at, pkg+"/") { // what a house doesn't know, its rooms don't
				neverImports(t, at, names, forbidden)
			}
		}
	}
}

func neverImports(t *testing.T, pkg string, names, forbidden []string) {
	t.Helper()
	for _, name := range names {
		ours := strings.TrimPrefix(name, module+"/")
		for _, f := range forbidden {
			if ours == f || strings.HasPrefix(ours, f+"/") {
				t.Errorf("%s imports %s", pkg, ours)
			}
		}
	}
}

// imports maps each package's folder to what its files, tests apart, import.
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
		pkg := filepath.ToSlash(filepath.Dir(path))
		for _, i := range file.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			found[pkg] = append(found[pkg], name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// architecture is what docs/architecture.md says of internal/.
type architecture struct {
	folders  []string // from the bottom up
	arrows   []string // "from to"
	packages []string
}

var (
	arrowRow   = regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| `([a-z]+)` \\| \\S")
	folderRow  = regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| [^`|]")
	packageRow = regexp.MustCompile(`(?m)^( *)([a-z/]+)/\s`)
)

func readArchitecture(t *testing.T) (d architecture) {
	t.Helper()
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range arrowRow.FindAllStringSubmatch(string(text), -1) {
		d.arrows = append(d.arrows, row[1]+" "+row[2])
	}
	for _, row := range folderRow.FindAllStringSubmatch(string(text), -1) {
		d.folders = append(d.folders, row[1])
	}
	_, list, _ := strings.Cut(string(text), "```\ninternal/\n")
	list, _, _ = strings.Cut(list, "```")
	folder := ""
	for _, row := range packageRow.FindAllStringSubmatch(list, -1) {
		if len(row[1]) == 2 {
			folder = row[2]
			continue
		}
		d.packages = append(d.packages, folder+"/"+row[2])
	}
	slices.Sort(d.packages)
	return d
}

// folderOf is the folder of internal/ that a package lies in.
func folderOf(pkg string) (folder string, ok bool) {
	name, ok := strings.CutPrefix(pkg, "internal/")
	folder, _, _ = strings.Cut(name, "/")
	return folder, ok
}

func TestTheArchitecturePageListsEachPackage(t *testing.T) {
	d := readArchitecture(t)
	var found, folders []string
	for pkg := range imports(t) {
		if name, ok := strings.CutPrefix(pkg, "internal/"); ok {
			folder, _ := folderOf(pkg)
			folders = append(folders, folder)
			if name != folder {
				found = append(found, name)
			}
		}
	}
	slices.Sort(found)
	wantSame(t, "packages", found, d.packages)
	slices.Sort(folders)
	folders = slices.Compact(folders)
	listed := slices.Sorted(slices.Values(d.folders))
	wantSame(t, "folders", folders, listed)
	if len(listed) > 10 {
		t.Errorf("internal/ has %d folders, at most 10", len(listed))
	}
}

// wantSame names each that only the code has, and each that only the page lists.
func wantSame(t *testing.T, kind string, found, listed []string) {
	t.Helper()
	for _, name := range found {
		if !slices.Contains(listed, name) {
			t.Errorf("internal/%s is not among the %s in docs/architecture.md", name, kind)
		}
	}
	for _, name := range listed {
		if !slices.Contains(found, name) {
			t.Errorf("docs/architecture.md lists %s among the %s; the code has no internal/%s", name, kind, name)
		}
	}
}

// TestFoldersImportOnlyFoldersBelow: so there is no circle. Each import between folders
// stands in docs/architecture.md with its reason, and nothing else stands there.
func TestFoldersImportOnlyFoldersBelow(t *testing.T) {
	d := readArchitecture(t)
	found := map[string]string{}
	for pkg, list := range imports(t) {
		from, ok := folderOf(pkg)
		for _, name := range list {
			ours, isOurs := strings.CutPrefix(name, module+"/")
			if to, inside := folderOf(ours); ok && isOurs && inside && to != from {
				found[from+" "+to] = pkg
				if slices.Index(d.folders, to) > slices.Index(d.folders, from) || to == "testing" {
					t.Errorf("%s imports %s, which lies above it", pkg, ours)
				}
			}
		}
	}
	for arrow, pkg := range found {
		if !slices.Contains(d.arrows, arrow) {
			t.Errorf("%s: the import %q is not in docs/architecture.md", pkg, arrow)
		}
	}
	for _, arrow := range d.arrows {
		if found[arrow] == "" {
			t.Errorf("docs/architecture.md lists the import %q; no package has it", arrow)
		}
	}
}

// TestTheAdapterKnowsNothingOfTheServiceButItsSignature: it runs on a project's side, and could
// be another program.
func TestTheAdapterKnowsNothingOfTheServiceButItsSignature(t *testing.T) {
	may := []string{
		"internal/evidence/signature", "receiver", "internal/tools/adapter",
		"internal/rules/exactjson", "internal/rules/request", "internal/rules/safetext", "internal/rules/importer", "internal/runtime/outbound",
	}
	rooms := 0
	for pkg, list := range imports(t) {
		if !strings.HasPrefix(pkg, "internal/tools/adapter/") {
			continue
		}
		rooms++
		for _, name := range list {
			ours, isOurs := strings.CutPrefix(name, module+"/")
			if isOurs && !slices.ContainsFunc(may, func(m string) bool { return ours == m || strings.HasPrefix(ours, m+"/") }) {
				t.Errorf("%s imports %s; the adapter may import %v", pkg, ours, may)
			}
		}
	}
	if rooms == 0 {
		t.Error("there is no adapter")
	}
}

func TestPackagesBesideInternalImportOnlyWhatTheyMay(t *testing.T) {
	all := imports(t)
	for pkg, allowed := range outside {
		for at, names := range all {
			if at != pkg && (rooms[pkg] == nil || !strings.HasPrefix(at, pkg+"/")) { // what a house may import, its rooms may
				continue
			}
			for _, name := range names {
				ours, isOurs := strings.CutPrefix(name, module+"/")
				within := strings.HasPrefix(pkg, "internal/") && strings.HasPrefix(ours, "internal/") // see the other tests
				if isOurs && !within && !slices.Contains(allowed, ours) {
					t.Errorf("%s imports %s; it may import %v", at, ours, allowed)
				}
			}
		}
	}
}

func TestPurePackagesPerformNothing(t *testing.T) {
	all := imports(t)
	for _, pkg := range gotest.Pure {
		for _, name := range all["internal/"+pkg] {
			if cache := pkg == "rules/exactjson" && name == "sync"; !cache && slices.Contains(impure, name) { // it remembers how types are read
				t.Errorf("internal/%s is pure and imports %s", pkg, name)
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

// TestNoNameOfAFileKeepsItsTestsFromBeingBuilt: `budget_windows_test.go` was of budgets' windows,
// and the go command took it for a test of Windows. What is for another system says so by a
// build constraint, where a reader sees it.
func TestNoNameOfAFileKeepsItsTestsFromBeingBuilt(t *testing.T) {
	here := build.Default
	here.GOOS, here.GOARCH = "linux", "amd64"
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil || bytes.Contains(source, []byte("//go:build ")) {
			return err
		}
		built, err := here.MatchFile(filepath.Dir(path), filepath.Base(path))
		if !built {
			t.Errorf("%s is built on no Linux: the end of its name is that of another system", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
