package text

import (
	"testing"

	"github.com/countersign/countersign"
)

// TestEachStatusHasAColorAndAnIcon: its words are those of the vocabulary.
func TestEachStatusHasAColorAndAnIcon(t *testing.T) {
	states := map[string]State{}
	for _, s := range countersign.RunStatuses {
		states["run "+string(s)] = RunStates[s]
	}
	for _, s := range countersign.StepStatuses {
		states["step "+string(s)] = StepStates[s]
	}
	for _, s := range countersign.ApprovalStatuses {
		states["approval "+string(s)] = approvalStates[s]
	}
	for of, s := range states {
		if s.Class == "" || s.Icon == "" || s.Word == "" {
			t.Errorf("%s is shown as %+v", of, s)
		}
	}
}
