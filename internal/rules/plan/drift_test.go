package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
)

// standings is how everything is as long as nothing has changed.
func standings() plan.CurrentRevisions {
	return plan.CurrentRevisions{
		{Kind: plan.KindModel, ID: "refunds"}:       {Revision: 2},
		{Kind: plan.KindProject, ID: "acme-shop"}:   {Revision: 3},
		{Kind: plan.KindProject, ID: "acme-closed"}: {Revision: 3},
	}
}

func twoProjects() *countersign.Plan {
	p := plan.New(write("", read("a"), with(read("b"), "acme-closed", "read")), sources(), nil, origin())
	return &p
}

func TestNothingChangedIsNoDrift(t *testing.T) {
	d := plan.Drift(twoProjects(), standings())
	if diff := cmp.Diff(countersign.Drift{Current: true, Changes: []countersign.Change{}}, d); diff != "" {
		t.Error(diff)
	}
}

func TestDriftNamesEveryChange(t *testing.T) {
	now := standings()
	now[plan.Subject{Kind: plan.KindModel, ID: "refunds"}] = plan.CurrentRevision{Revision: 3, Suspended: true}
	now[plan.Subject{Kind: plan.KindProject, ID: "acme-shop"}] = plan.CurrentRevision{Revision: 5}
	delete(now, plan.Subject{Kind: plan.KindProject, ID: "acme-closed"})
	want := []countersign.Change{
		{Kind: "model", ID: "refunds", Planned: 2, Current: 3, Suspended: true, Message: "model refunds is suspended; when it is resumed, make the plan again"},
		{Kind: "project", ID: "acme-shop", Planned: 3, Current: 5, Message: "project acme-shop changed from revision 3 to 5 after the plan was made; make the plan again"},
		{Kind: "project", ID: "acme-closed", Planned: 3, Message: "project acme-closed is gone"},
	}
	if diff := cmp.Diff(countersign.Drift{Changes: want}, plan.Drift(twoProjects(), now)); diff != "" {
		t.Error(diff)
	}
}

// Resuming leaves the revision that the suspension made: a plan made before it
// never runs again.
func TestSuspensionIsDriftEvenAfterResuming(t *testing.T) {
	now := standings()
	now[plan.Subject{Kind: plan.KindModel, ID: "refunds"}] = plan.CurrentRevision{Revision: 3}
	if plan.Drift(twoProjects(), now).Current {
		t.Error("no drift")
	}
	now[plan.Subject{Kind: plan.KindModel, ID: "refunds"}] = plan.CurrentRevision{Revision: 2, Suspended: true}
	if plan.Drift(twoProjects(), now).Current {
		t.Error("a suspended model is no drift")
	}
}

func TestRefusal(t *testing.T) {
	subject := plan.Subject{Kind: plan.KindProject, ID: "acme-closed"}
	tests := []struct {
		name  string
		mode  string
		is    plan.CurrentRevision
		code  countersign.Code
		alone countersign.Code // what Disabled says
	}{
		{"nothing changed", countersign.ModeLive, plan.CurrentRevision{Revision: 3}, "", ""},
		{"disabled", countersign.ModeLive, plan.CurrentRevision{Revision: 3, Disabled: true}, countersign.CodeProjectDisabled, countersign.CodeProjectDisabled},
		{"disabled, rehearsal", countersign.ModeDryRun, plan.CurrentRevision{Revision: 3, Disabled: true}, "", ""},
		{"changed", countersign.ModeDryRun, plan.CurrentRevision{Revision: 4}, countersign.CodeDrift, ""},
		{"changed and disabled", countersign.ModeLive, plan.CurrentRevision{Revision: 4, Disabled: true}, countersign.CodeDrift, countersign.CodeProjectDisabled},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			now := standings()
			now[subject] = test.is
			if got := codeOf(plan.Refusal(twoProjects(), test.mode, now)); got != test.code {
				t.Errorf("Refusal is %q, want %q", got, test.code)
			}
			if got := codeOf(plan.Disabled(twoProjects(), test.mode, now)); got != test.alone {
				t.Errorf("Disabled is %q, want %q", got, test.alone)
			}
		})
	}
}

func codeOf(e *countersign.Error) countersign.Code {
	if e == nil {
		return ""
	}
	return e.Code
}
