package countersign_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rooms are the packages below a package that puts them together, each with those of them that it
// imports. A room is one noun. What all of them stand on comes first; a noun imports another one
// only where that is written here. What else it needs of another is handed in.
var rooms = map[string]map[string][]string{
	"internal/control": {
		"core":     {},
		"names":    {"core"},
		"reach":    {"core"},
		"sessions": {"core"},

		"agents":    {"core", "names", "plans", "reach"},
		"approvals": {"core", "names", "reach", "runs", "sessions"},
		"changes":   {"core"},
		"evidence":  {"approvals", "core", "names", "reach", "runs"},
		"models":    {"core", "reach"},
		"people":    {"core", "sessions"},
		"plans":     {"core", "names", "reach"},
		"projects":  {"core", "names", "reach"},
		"runs":      {"core", "names", "plans", "reach"},
		"signin":    {"core", "people", "sessions"},
		"storewide": {"core", "projects"},
	},
	"internal/server/console": {
		"text":        {},
		"web":         {"text"},
		"web/webtest": {"web"}, // for tests
		"form":        {"text", "web"},
		"drawn":       {"text"},
		"desk":        {"drawn", "text", "web"},
		"steps":       {"form", "text", "web"},
		"rules":       {"form", "text", "web"},

		"access":    {"desk", "form", "text", "web"},
		"agents":    {"drawn", "form", "plans", "projects", "rules", "steps", "text", "web"},
		"approvals": {"desk", "drawn", "runs", "text", "web"},
		"models":    {"drawn", "form", "rules", "steps", "text", "web"},
		"overview":  {"runs", "text", "web"},
		"plans":     {"form", "runs", "steps", "text", "web"},
		"projects":  {"form", "rules", "text", "web"},
		"recovery":  {"approvals", "desk", "drawn", "runs", "text", "web"},
		"runs":      {"drawn", "form", "steps", "text", "web"},
	},
	"internal/tools/cli": {
		"words":    {},
		"terminal": {"words"},
		"typed":    {"terminal", "words"},
		"service":  {"terminal", "words"},

		"agents":    {"budgets", "plans", "runs", "service", "terminal", "typed", "words"},
		"approvals": {"runs", "service", "terminal", "typed", "words"},
		"budgets":   {"service", "terminal", "words"},
		"changes":   {"service", "terminal", "words"},
		"evidence":  {"service", "terminal", "typed", "words"},
		"health":    {"service", "terminal", "words"},
		"importing": {"terminal", "typed", "words"},
		"models":    {"service", "terminal", "typed", "words"},
		"people":    {"service", "terminal", "typed", "words"},
		"plans":     {"service", "terminal", "typed", "words"},
		"policies":  {"service", "terminal", "typed", "words"},
		"projects":  {"runs", "service", "terminal", "typed", "words"},
		"runs":      {"service", "terminal", "typed", "words"},
		"setup":     {"service", "terminal", "words"},
		"signin":    {"service", "terminal", "words"},
	},
}

// TestARoomImportsOnlyTheRoomsThatItMay compares the table with the code, in both directions.
func TestARoomImportsOnlyTheRoomsThatItMay(t *testing.T) {
	all := imports(t)
	for house, allowed := range rooms {
		for pkg, names := range all {
			room, is := strings.CutPrefix(pkg, house+"/")
			if !is {
				continue
			}
			may, listed := allowed[room]
			if !listed {
				t.Errorf("%s is no room of %s that is listed here", room, house)
				continue
			}
			found := roomsAmong(names, house)
			for _, other := range found {
				if !slices.Contains(may, other) {
					t.Errorf("%s imports the room %s; it may import %v", pkg, other, may)
				}
			}
			for _, other := range may {
				if !slices.Contains(found, other) {
					t.Errorf("%s doesn't import the room %s; take it off the list", pkg, other)
				}
			}
		}
		for room := range allowed {
			if len(all[house+"/"+room]) == 0 {
				t.Errorf("%s/%s is no package", house, room)
			}
		}
	}
}

// roomsAmong are the rooms of a house among imported packages; "." is the house itself.
func roomsAmong(names []string, house string) (found []string) {
	for _, name := range names {
		if name == module+"/"+house {
			found = append(found, ".")
		}
		if room, is := strings.CutPrefix(name, module+"/"+house+"/"); is {
			found = append(found, room)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// TestRoomsAreReachedThroughTheirHouse: who stands outside imports the package that puts the
// rooms together, and none of them.
func TestRoomsAreReachedThroughTheirHouse(t *testing.T) {
	for pkg, names := range imports(t) {
		for house := range rooms {
			within := pkg == house || strings.HasPrefix(pkg, house+"/")
			if found := roomsAmong(names, house); !within && slices.ContainsFunc(found, func(room string) bool { return room != "." }) {
				t.Errorf("%s imports rooms of %s: %v", pkg, house, found)
			}
		}
	}
}

// maxMethods is how many methods a type of a house or its rooms has at most: with more, nothing
// says who may use what.
const maxMethods = 25

// TestNoTypeHasMoreMethodsThanAReaderKeepsInMind counts those of the product that are written for
// a type; those of what it embeds are counted there.
func TestNoTypeHasMoreMethodsThanAReaderKeepsInMind(t *testing.T) {
	found := 0
	for house := range rooms {
		for of, count := range methods(t, house) {
			found++
			if count > maxMethods {
				t.Errorf("%s has %d methods, and may have %d: give some of them to a type of their own", of, count, maxMethods)
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d types with methods were found", found)
	}
}

// methods counts the methods of each type below a folder, tests and generated files apart.
func methods(t *testing.T, folder string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is && f.Recv != nil {
				counts[path.Dir(filepath.ToSlash(name))+"."+receiver(f.Recv.List[0].Type)]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// receiver is the name of a method's type.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.IndexListExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}
