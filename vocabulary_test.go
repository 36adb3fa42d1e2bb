package countersign_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign"
)

// sources are the files of the vocabulary, without tests.
func sources(t *testing.T) []*ast.File {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// declared are the text constants that are wanted: by name, and by type, which is "" for text.
func declared(t *testing.T, wanted func(name, kind string) bool) (values []string) {
	t.Helper()
	for _, file := range sources(t) {
		for _, d := range file.Decls {
			group, is := d.(*ast.GenDecl)
			if !is || group.Tok != token.CONST {
				continue
			}
			for _, s := range group.Specs {
				spec := s.(*ast.ValueSpec)
				kind, _ := spec.Type.(*ast.Ident)
				for i, name := range spec.Names {
					if i < len(spec.Values) && wanted(name.Name, nameOf(kind)) {
						text, err := strconv.Unquote(spec.Values[i].(*ast.BasicLit).Value)
						if err != nil {
							t.Fatalf("%s: %v", name.Name, err)
						}
						values = append(values, text)
					}
				}
			}
		}
	}
	return values
}

func nameOf(kind *ast.Ident) string {
	if kind == nil {
		return ""
	}
	return kind.Name
}

// wordTable is a table of the API's words: what must be in it, and what is.
type wordTable struct {
	name     string
	declared func(name, kind string) bool // the constants
	listed   []string
	words    func(value string) bool // whether it has its words
}

func textsOf[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

func ofType(wanted string) func(name, kind string) bool {
	return func(_, kind string) bool { return kind == wanted }
}

func begins(prefix string) func(name, kind string) bool {
	return func(name, kind string) bool {
		rest, is := strings.CutPrefix(name, prefix)
		return is && kind == "" && rest != "" && rest[0] >= 'A' && rest[0] <= 'Z'
	}
}

var wordTables = []wordTable{
	{"RunStatuses", ofType("RunStatus"), textsOf(countersign.RunStatuses), func(s string) bool { return countersign.RunStatus(s).Words() != "" }},
	{"StepStatuses", ofType("StepStatus"), textsOf(countersign.StepStatuses), func(s string) bool { return countersign.StepStatus(s).Words() != "" }},
	{"ApprovalStatuses", ofType("ApprovalStatus"), textsOf(countersign.ApprovalStatuses), func(s string) bool { return countersign.ApprovalStatus(s).Words() != "" }},
	{"Readings", ofType("Reading"), textsOf(countersign.Readings), func(s string) bool { return countersign.Reading(s).Words() != "" }},
	{"Operators", begins("Op"), strings.Split(countersign.OperatorNames(), ", "), func(s string) bool {
		o, _ := countersign.OperatorNamed(s)
		return o.Words != "" && o.Spoken != "" && (o.Unary || o.Less || o.Equal || o.Greater)
	}},
	{"Events", begins("Event"), countersign.WebhookEvents, func(s string) bool {
		return slices.ContainsFunc(countersign.Events, func(e countersign.Event) bool { return e.Name == s && e.Title != "" && e.Note != "" })
	}},
	{"the codes with a status, or RunReasons", ofType("Code"), codesThatAreTold(), func(string) bool { return true }},
}

func codesThatAreTold() []string {
	codes := textsOf(countersign.RunReasons)
	for code := range countersign.Statuses() {
		codes = append(codes, string(code))
	}
	return codes
}

// TestEachWordIsInItsTable fails for a constant that its table doesn't list, or lists without what people read for it:
// whatever offers, checks or shows words knows them from the tables.
func TestEachWordIsInItsTable(t *testing.T) {
	for _, v := range wordTables {
		values := declared(t, v.declared)
		if len(values) == 0 {
			t.Errorf("%s: no constant was found", v.name)
		}
		for _, value := range values {
			if !slices.Contains(v.listed, value) || !v.words(value) {
				t.Errorf("%q is not in %s, or without its words", value, v.name)
			}
		}
		for _, value := range v.listed {
			if !slices.Contains(values, value) {
				t.Errorf("%s lists %q, which is no constant", v.name, value)
			}
		}
	}
}

// TestEachEnumListsItsTable: what the API document says of a field of statuses, operators or events follows from a tag,
// which can't be derived.
func TestEachEnumListsItsTable(t *testing.T) {
	whole := map[string]wordTable{"RunStatus": wordTables[0], "StepStatus": wordTables[1], "Reads": wordTables[3], "Operator": wordTables[4], "Events": wordTables[5]}
	seen := map[string]bool{}
	for _, file := range sources(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			f, is := n.(*ast.Field)
			if !is || f.Tag == nil || len(f.Names) != 1 {
				return true
			}
			tag, err := strconv.Unquote(f.Tag.Value)
			if err != nil {
				t.Fatal(err)
			}
			enum, has := reflect.StructTag(tag).Lookup("enum")
			kind, _ := f.Type.(*ast.Ident)
			v, known := whole[nameOf(kind)]
			if !known {
				v, known = whole[f.Names[0].Name]
			}
			if has && known {
				seen[v.name] = true
				if enum != strings.Join(v.listed, ",") {
					t.Errorf("field %s has enum %q; %s is %q", f.Names[0].Name, enum, v.name, strings.Join(v.listed, ","))
				}
			}
			return true
		})
	}
	if len(seen) != len(whole) {
		t.Errorf("fields of %v alone were found", seen)
	}
}

func TestARefusedWriteIsAuditedForEach403And409(t *testing.T) {
	for code, status := range countersign.Statuses() {
		if code.Audited() != (status == 403 || status == 409) {
			t.Errorf("%s, %d: audited is %v", code, status, code.Audited())
		}
	}
}

// TestAnEndIsReadAsItWasWritten, whatever a person wrote.
func TestAnEndIsReadAsItWasWritten(t *testing.T) {
	for _, want := range []countersign.Ending{
		countersign.Rejection("user:mara@x.example", "the parcel: empty"), countersign.Cancellation("token:a", "called: off"),
		{Code: countersign.CodeDrift, Message: "model m changed: make the plan again"}, {Code: countersign.CodeCancelled, Message: "it was cancelled while step b was on its way"},
	} {
		r := countersign.Run{Error: want.String()}
		if got := r.Ended(); got != want {
			t.Errorf("%q is read as %+v, want %+v", r.Error, got, want)
		}
	}
	if got := (&countersign.Run{}).Ended(); got != (countersign.Ending{}) {
		t.Errorf("a run without an error ended for %+v", got)
	}
}

// TestARefusalKeepsItsProblems: its message names each, and nobody need read it back.
func TestARefusalKeepsItsProblems(t *testing.T) {
	one, two := countersign.Problem{Path: "steps[1].input", Message: "is required; or not"}, countersign.Problem{Message: "nothing fits"}
	err := countersign.Refusal(countersign.CodeModelInvalid, one, two)
	if err.Message != "steps[1].input: is required; or not; nothing fits" || len(err.Problems) != 2 || err.Problems[0].Path != one.Path {
		t.Errorf("%+v", err)
	}
	read := (&countersign.Error{Code: err.Code, Message: "a problem of the whole; more of it; steps[1].input: is required; or not; b: the last"}).Each()
	want := []countersign.Problem{{Message: "a problem of the whole; more of it"}, {Path: "steps[1].input", Message: "is required; or not"}, {Path: "b", Message: "the last"}}
	if !reflect.DeepEqual(read, want) || !reflect.DeepEqual(err.Each(), err.Problems) {
		t.Errorf("read %+v", read)
	}
	if got := countersign.Invalid("reason", "say %s", "why"); got.Error() != "invalid_request: reason: say why" || got.Problems[0].Path != "reason" {
		t.Errorf("%+v", got)
	}
}
