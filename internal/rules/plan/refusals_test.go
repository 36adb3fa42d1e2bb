package plan_test

import (
	"testing"

	"github.com/countersign/countersign/internal/rules/plan"
)

// TestWhatIsRetiredSaysWhoBringsItBack.
func TestWhatIsRetiredSaysWhoBringsItBack(t *testing.T) {
	const want = "state_conflict: project acme-closed is retired; an ADMIN brings it back with POST /projects/acme-closed/restore"
	now := standings()
	closed := plan.Subject{Kind: plan.KindProject, ID: "acme-closed"}
	is := now[closed]
	is.Retired = true
	now[closed] = is
	if err := plan.RetiredPart(twoProjects(), now); err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}
