package run_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
)

// TestAPreconditionCostsOneReadAndOneTurnMore for a step that asks nobody, and a step without one none:
// what leaves, and what is committed, is counted.
func TestAPreconditionCostsOneReadAndOneTurnMore(t *testing.T) {
	for name, c := range map[string]struct {
		w                   *world
		reads, calls, turns int
	}{
		"without": {newWorld(t, order(t, countersign.ModeLive, countersign.Step{ID: "refund", Capability: "pay", Input: values(t, `{"amount":5}`)})), 0, 1, 2},
		"with":    {against(t, countersign.ApprovalNone), 1, 1, 3},
	} {
		reads, calls, turns := 0, 0, 0
		res := c.w.must(run.Resumed{})
		for ; ; turns++ {
			if res.Look != nil {
				reads++
				res = c.w.finds(res.Look, answered(200, asItWas))
			} else if res.Call != nil {
				calls++
				res = c.w.must(c.w.returned(answered(200, bodies[0])))
			} else {
				break
			}
		}
		if turns++; reads != c.reads || calls != c.calls || turns != c.turns || !c.w.run.Status.IsTerminal() {
			t.Errorf("%s: %d reads, %d calls, %d turns; want %d, %d, %d (%s)", name, reads, calls, turns, c.reads, c.calls, c.turns, c.w.run.Status)
		}
	}
}
