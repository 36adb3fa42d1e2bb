package records_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

// Ids that the store makes hold a character that no id from outside has.
func TestStoredIDsMeetNoOther(t *testing.T) {
	for _, id := range []string{records.RevisionID("refund", 12), records.StepID("run-1", 0), records.UnfinishedID("acme", "run-1")} {
		if countersign.ValidID(id) {
			t.Errorf("%s could be an id from outside", id)
		}
	}
	if records.RevisionID("a", 11) == records.RevisionID("a1", 1) || records.UnfinishedID("a", "b-c") == records.UnfinishedID("a-b", "c") {
		t.Error("two records share an id")
	}
}

func TestStepIDsSortInPlanOrder(t *testing.T) {
	var ids []string
	for i := range countersign.MaxPlanSteps {
		ids = append(ids, records.StepID("run-1", i))
	}
	if !slices.IsSorted(ids) || len(slices.Compact(ids)) != countersign.MaxPlanSteps {
		t.Errorf("%v", ids)
	}
}

func TestScopeIsTheSetOfProjects(t *testing.T) {
	for want, projects := range map[string][]string{
		"":              nil,
		"acme-a":        {"acme-a", "acme-a"},
		"acme-a,acme-b": {"acme-b", "acme-a", "acme-b"},
	} {
		if got := records.Scope(projects); got != want {
			t.Errorf("scope of %v is %q", projects, got)
		}
	}
	projects := []string{"acme-b", "acme-a"}
	records.Scope(projects)
	if projects[0] != "acme-b" {
		t.Error("Scope sorted its argument")
	}
}

// TestInScopeKeepsWhatLiesWithin: a document is seen when all its projects are.
func TestInScopeKeepsWhatLiesWithin(t *testing.T) {
	s := memory.New()
	plans := map[string][]string{
		"none": nil, "a": {"acme-a"}, "b": {"acme-b"}, "ab": {"acme-a", "acme-b"}, "longer": {"acme-a-2"}, "again": {"acme-a", "acme-a"},
	}
	err := s.Update(context.Background(), func(tx store.Tx) error {
		for id, projects := range plans {
			p := &records.Plan{Plan: countersign.Plan{ID: id}}
			for _, project := range projects {
				p.Projects = append(p.Projects, countersign.ProjectRef{ID: project})
			}
			if _, err := records.Plans.Put(tx, "acme", id, p, 0); err != nil {
				return err
			}
		}
		_, err := records.Plans.Put(tx, "other", "theirs", &records.Plan{Plan: countersign.Plan{ID: "theirs"}}, 0)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name     string
		projects []string
		want     []string
	}{
		{"everything", nil, []string{"a", "ab", "again", "b", "longer", "none"}},
		{"one project", []string{"acme-a"}, []string{"a", "again", "none"}},
		{"two projects", []string{"acme-b", "acme-a"}, []string{"a", "ab", "again", "b", "none"}},
		{"no project", []string{}, []string{"none"}},
		{"another's", []string{"other-a"}, []string{"none"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			err := s.View(context.Background(), func(tx store.Tx) error {
				where, err := records.InScope(tx, store.Plans, access.Principal{Tenant: "acme", Projects: test.projects})
				if err != nil {
					return err
				}
				page, err := records.Plans.Page(tx, "acme", store.Query{Where: where})
				var got []string
				for _, p := range page.Items {
					got = append(got, p.ID)
				}
				if diff := cmp.Diff(test.want, got); diff != "" || page.Total != len(test.want) {
					t.Errorf("%s total %d", diff, page.Total)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestRecordsComeBackAsTheyWere: what is kept beside the public form survives
// the store, and so does every value in it.
func TestRecordsComeBackAsTheyWere(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 0, 0, 123456789, time.UTC)
	digest := "d"
	run := &records.Run{
		Run: countersign.Run{
			ID: "run-1", Status: countersign.RunWaitingApproval, CreatedAt: at, UpdatedAt: at, Steps: []countersign.StepRun{},
			WaitingFor: &countersign.WaitingFor{Kind: countersign.WaitApproval, Since: at, ExpiresAt: at.Add(time.Nanosecond)},
		},
		Requester: access.Requester{ID: "token:t", Email: "ada@example.com"}, Projects: []string{"acme-a"},
	}
	step := &countersign.StepRun{
		ID: "a", DependsOn: []string{}, Input: map[string]countersign.Value{"n": countersign.RawValue("1.50"), "none": countersign.Null}, RequestDigest: countersign.StepDigest(digest),
		Output: countersign.Null, Request: &countersign.Request{Method: "POST", Query: countersign.RawValue("{}"), Body: countersign.RawValue(`{"a":1e0}`)},
	}
	s := memory.New()
	err := s.Update(context.Background(), func(tx store.Tx) error {
		if _, err := records.Runs.Put(tx, "acme", "run-1", run, 0); err != nil {
			return err
		}
		steps := records.Steps("run-1", 0, "")
		if _, err := steps.Put(tx, "acme", records.StepID("run-1", 0), step, 0); err != nil {
			return err
		}
		gotRun, version, err := records.Runs.Get(tx, "acme", "run-1")
		if err != nil {
			return err
		}
		gotStep, _, err := steps.Get(tx, "acme", records.StepID("run-1", 0))
		exactly := cmp.Comparer(func(a, b countersign.Value) bool { return a.Raw() == b.Raw() })
		if diff := cmp.Diff(run, gotRun, exactly) + cmp.Diff(step, gotStep, exactly); diff != "" || version != 1 {
			t.Errorf("version %d: %s", version, diff)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Runs that nothing is due for are found under no due time at all.
func TestUnfinishedRunIsDueWhenItsApprovalExpires(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s := memory.New()
	err := s.Update(context.Background(), func(tx store.Tx) error {
		for id, due := range map[string]time.Time{"never": {}, "early": at, "late": at.Add(time.Hour)} {
			u := &records.Unfinished{TenantID: "acme", RunID: id, State: records.Waiting, Since: at, Due: due}
			if _, err := records.UnfinishedRuns.Put(tx, store.Realm, records.UnfinishedID("acme", id), u, 0); err != nil {
				return err
			}
		}
		list, err := records.UnfinishedRuns.List(tx, store.Realm, store.Query{
			Where: []store.Filter{{Column: "due", Op: store.AtLeast, Values: []any{int64(1)}}}, Order: []store.Order{{Column: "due"}},
		})
		if len(list) != 2 || list[0].RunID != "early" || list[1].RunID != "late" {
			t.Errorf("%+v", list)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDamagedDocumentIsAnErrorThatNamesIt(t *testing.T) {
	var v countersign.StepRun
	if err := records.Decode(store.Row{ID: "run-1/000", Doc: []byte(`{"id":`)}, &v); err == nil || err.Error() != "decode run-1/000: unexpected end of JSON input" {
		t.Errorf("%v", err)
	}
}
