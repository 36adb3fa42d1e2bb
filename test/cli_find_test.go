package test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

func TestACommandFindsARunByAnInput(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	id := s.run(t, step("a", "refund", doc{"orderId": "Order 52077"}))
	harness.Until(t, "the index to have the run", func() bool { return strings.Contains(s.command(t, 0, "find", "52077").Out, id) })
	prints(t, s.command(t, 0, "find", "52077").Out, id, "input orderId of step a", "Order 52077")
	if out := s.command(t, 0, "find", "52078").Out; strings.Contains(out, "run-") {
		t.Errorf("another number finds\n%s", out)
	}
}
