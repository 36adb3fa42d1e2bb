package request

import (
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
)

// TestThePatternsOfARequestAreBoundedTogether: each of them is within its own bounds.
func TestThePatternsOfARequestAreBoundedTogether(t *testing.T) {
	field := countersign.InputField{Type: "string", Pattern: "[ab]{0,900}c$"}
	c := &countersign.Capability{Name: "re", Method: "POST", Path: "/re", InputSchema: map[string]countersign.InputField{}}
	input := map[string]countersign.Value{}
	check := func(n int) (*cost.Meter, []countersign.Problem) {
		for _, letter := range strings.Split("abcdefghijklmnopqrstuvwxyz", "")[:n] {
			c.InputSchema[letter], input[letter] = field, countersign.String(strings.Repeat("ab", 999)+"c")
		}
		m := cost.New(t.Context(), cost.Most, 0)
		return m, CheckInputs(m, c, input, nil)
	}
	m, problems := check(5)
	if m.Over() || problems != nil || m.Spent() != int64(InputSteps(nil, c, input)) || m.Spent() < 5*1800*1999 {
		t.Errorf("five: %d steps of %d, %v, %v", m.Spent(), InputSteps(nil, c, input), m.Err(), problems)
	}
	m, _ = check(6)
	if err := m.Err(); countersign.ErrorCode(err) != countersign.CodeInvalidRequest || !strings.HasPrefix(err.Error(), "invalid_request: input.f: judging") {
		t.Errorf("six: %v", err)
	}
}

// TestAnEnumAndABoundAreCounted: each option once, and the value.
func TestAnEnumAndABoundAreCounted(t *testing.T) {
	long := countersign.RawValue(strings.Repeat("9", 1000))
	for name, f := range map[string]countersign.InputField{
		"enum": {Type: "number", Enum: []countersign.Value{countersign.Int(1), long}},
		"most": {Type: "number", Maximum: long},
	} {
		m := cost.New(t.Context(), cost.Most, 0)
		if why := misfit(m, "input.n", f, long); why != "" || m.Spent() < 2000 || m.Spent() > 3010 {
			t.Errorf("%s: %d steps, %s", name, m.Spent(), why)
		}
	}
}

// TestTheSizeOfAPatternIsKnownBeforeItIsCompiled: what a few characters stand for may take
// seconds and hundreds of megabytes to compile.
func TestTheSizeOfAPatternIsKnownBeforeItIsCompiled(t *testing.T) {
	for _, pattern := range []string{`abc`, `[ab]{0,900}c$`, `(a|b)*c+d?`, `^\d{3,}-(x{2}y){1,4}$`, `(?i)straße|x`, `.*`, `a{0}`, `\bfoo\b(?:bar)`} {
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		p, err := syntax.Compile(tree.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		if size, is := sizeOf(tree), len(p.Inst); 2*size+10 < is || size > 2*is {
			t.Errorf("%s: %d, and it is %d", pattern, size, is)
		}
	}
	p, err := compiled(nil, "(?:(?:a{0,99}){0,99}){0,99}")
	if err != nil && !strings.Contains(err.Error(), "repeat") || p.expression != nil {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err := compiled(nil, "(?:a{0,999}){0,1}b{999}c{999}d{999}e{999}"); err != nil || p.expression != nil || p.size <= maxPatternProgram {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestAPatternIsCompiledOnce: by the memory of the meter, if it has one.
func TestAPatternIsCompiledOnce(t *testing.T) {
	k := remembered{}
	m := cost.New(t.Context(), cost.Most, 0).With(k)
	first, err := compiled(m, "a+b")
	again, _ := compiled(m, "a+b")
	if err != nil || first.expression == nil || again.expression != first.expression || len(k) != 1 {
		t.Errorf("%v, %v, %d kept", first, again, len(k))
	}
	if other, _ := compiled(nil, "a+b"); other.expression == first.expression || other.size != first.size {
		t.Errorf("without a memory: %v", other)
	}
}

type remembered map[string]any

func (r remembered) Get(text string) (any, bool)          { v, ok := r[text]; return v, ok }
func (r remembered) PutWeighed(text string, v any, _ int) { r[text] = v }

// TestATitleStopsWhereItIsCutOff and at the end of its meter.
func TestATitleStopsWhereItIsCutOff(t *testing.T) {
	c := &countersign.Capability{Title: strings.Repeat("{a.b}", 100_000)}
	input := map[string]countersign.Value{"a": countersign.RawValue(`{"b":"x"}`)}
	m := cost.New(t.Context(), cost.Most, 0)
	if title := TitleOf(m, c, input); title != strings.Repeat("x", countersign.MaxTitle) || m.Spent() > 20*countersign.MaxTitle {
		t.Errorf("%d steps for %s", m.Spent(), title)
	}
	m = cost.New(t.Context(), 1000, 0)
	if TitleOf(m, c, map[string]countersign.Value{"a": countersign.RawValue(`{"c":"x"}`)}); !m.Over() {
		t.Error("places that nothing stands at cost nothing")
	}
}

// weighing is a memory that notes how much it is told to hold.
type weighing map[string]int

func (w weighing) Get(string) (any, bool) { return nil, false }

func (w weighing) PutWeighed(text string, _ any, weight int) { w[text] = weight }

// TestAPatternInMemoryWeighsWhatItsProgramDoes: a few characters may stand for thousands of
// instructions, and the memory is bounded by these.
func TestAPatternInMemoryWeighsWhatItsProgramDoes(t *testing.T) {
	for _, pattern := range []string{`[ab]{0,900}c$`, `(x{30}){30}`, `abc`} {
		w := weighing{}
		p, err := compiled(cost.New(t.Context(), cost.Most, 0).With(w), pattern)
		if err != nil || w[pattern] < p.size+len(pattern) {
			t.Errorf("%s has %d instructions and weighs %d, %v", pattern, p.size, w[pattern], err)
		}
	}
}
