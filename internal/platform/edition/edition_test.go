package edition_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/edition"
)

type inner struct {
	Plain  string
	Tagged []string `json:"tagged,omitempty" since:"3"`
	Later  int64    `json:"later,omitempty" since:"4"`
	hidden int64    `since:"3"`
}

func TestARecordIsOfTheEditionOfTheLatestThatItHolds(t *testing.T) {
	type outer struct {
		One   *inner
		Some  []inner
		Named map[string]inner
		Any   any
		inner
	}
	for _, test := range []struct {
		name  string
		value any
		is    [2]bool // of the third, of the fourth
	}{
		{"nothing", outer{}, [2]bool{}},
		{"no value", nil, [2]bool{}},
		{"only what was there before", outer{One: &inner{Plain: "x"}}, [2]bool{}},
		{"an empty list, which isn't written", outer{One: &inner{Tagged: []string{}}}, [2]bool{}},
		{"what isn't exported", outer{One: &inner{hidden: 1}}, [2]bool{}},
		{"below a pointer", outer{One: &inner{Tagged: []string{"x"}}}, [2]bool{true, false}},
		{"in a list", &outer{Some: []inner{{}, {Later: 1}}}, [2]bool{true, true}},
		{"in a map", outer{Named: map[string]inner{"x": {Tagged: []string{"x"}}}}, [2]bool{true, false}},
		{"behind an interface", outer{Any: []any{1, inner{Later: 1}}}, [2]bool{true, true}},
		{"a plan with rules", countersign.Run{PlanSnapshot: &countersign.Plan{Gate: countersign.Gate}}, [2]bool{true, false}},
		{"a plan without", countersign.Run{PlanSnapshot: &countersign.Plan{}}, [2]bool{}},
	} {
		if is := [2]bool{edition.Has(edition.Third, test.value), edition.Has(4, test.value)}; is != test.is {
			t.Errorf("%s: %v, want %v", test.name, is, test.is)
		}
	}
}

// TestAFieldOfALaterEditionIsLeftOutWhereItIsEmpty: else what was written before would be
// written otherwise, and every record would be of the later edition to a reader.
func TestAFieldOfALaterEditionIsLeftOutWhereItIsEmpty(t *testing.T) {
	files, err := filepath.Glob("../../../*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	found := 0
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if f, is := n.(*ast.Field); is && f.Tag != nil {
				found += tagged(t, f.Tag.Value)
			}
			return true
		})
	}
	if found == 0 {
		t.Error("no field has the tag")
	}
}

// tagged counts a field that has the tag, and judges it.
func tagged(t *testing.T, literal string) int {
	t.Helper()
	text, _ := strconv.Unquote(literal)
	tag := reflect.StructTag(text)
	since, is := tag.Lookup(edition.Tag)
	if !is {
		return 0
	}
	name, option, _ := strings.Cut(tag.Get("json"), ",")
	if number, err := strconv.Atoi(since); err != nil || number < edition.Third || name == "" || option != "omitempty" && option != "omitzero" {
		t.Errorf("%s: since is a number from 3, and the field is omitempty or omitzero", literal)
	}
	return 1
}
