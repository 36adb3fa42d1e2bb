package inputs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/inputs"
)

// TestWhatPathsLeadThroughIsCounted: telling names apart, comparing what stands under those that
// are alike, and decoding what a path leads through cost what the caller sends.
func TestWhatPathsLeadThroughIsCounted(t *testing.T) {
	long := countersign.String(strings.Repeat("x", 10_000))
	many := map[string]countersign.Value{}
	for i := range 10_000 {
		many[fmt.Sprintf("n%d", i)] = countersign.Int(1)
	}
	for name, c := range map[string]struct {
		values map[string]countersign.Value
		path   string
	}{
		"many names":                 {many, "n1"},
		"values of names alike":      {map[string]countersign.Value{"a": long, "A": long}, "a"},
		"a value with members":       {map[string]countersign.Value{"a": countersign.ObjectValue(map[string]countersign.Value{"b": long})}, "a.b"},
		"values read in two ways":    {map[string]countersign.Value{"a": countersign.ObjectValue(map[string]countersign.Value{"b": long}), "a.b": long}, "a.b"},
		"a path with a long name":    {map[string]countersign.Value{"a": long}, strings.Repeat("y", 100_000)},
		"members of a member, alike": {map[string]countersign.Value{"a": countersign.ObjectValue(map[string]countersign.Value{"b": long, "B": long})}, "a.b"},
	} {
		m := cost.New(t.Context(), 1000, 0)
		if at := inputs.Of(m, "title", inputs.Folded, c.values, nil).Read(c.path); !m.Over() || !at.Unclear {
			t.Errorf("%s: %d steps, %+v", name, m.Spent(), at)
		}
		m = cost.New(t.Context(), cost.Most, 0)
		if at := inputs.Of(m, "title", inputs.Folded, c.values, nil).Read(c.path); m.Over() || at.Unclear {
			t.Errorf("%s with enough: %+v, %v", name, at, m.Err())
		}
	}
}

// TestAValueIsDecodedOnceForAllPaths: what is counted for many paths through a value isn't its
// size for each.
func TestAValueIsDecodedOnceForAllPaths(t *testing.T) {
	values := map[string]countersign.Value{"a": countersign.ObjectValue(map[string]countersign.Value{"b": countersign.String(strings.Repeat("x", 10_000))})}
	m := cost.New(t.Context(), cost.Most, 0)
	in := inputs.Of(m, "title", inputs.Folded, values, nil)
	for range 100 {
		in.Read("a.b")
	}
	if m.Spent() > 11_000 {
		t.Errorf("%d steps", m.Spent())
	}
}
