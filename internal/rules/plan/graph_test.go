package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
)

// TestADependencyNamedOftenCostsNoMoreThanOnce: bindings behind it are looked for
// along the steps there are, not along what was written. A body has room for
// 100,000 dependencies and 10,000 bindings.
func TestADependencyNamedOftenCostsNoMoreThanOnce(t *testing.T) {
	g := newGraph([]countersign.Step{{ID: "a", DependsOn: []string{"b", "c", "b", "x", "b", "c"}}, {ID: "b", DependsOn: []string{"c", "c"}}, {ID: "c"}})
	if diff := cmp.Diff([][]int{{1, 2}, {2}, nil}, g.deps); diff != "" {
		t.Error(diff)
	}
}
