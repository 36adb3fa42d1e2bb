package registry_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/registry"
)

var exactly = cmp.Comparer(func(a, b countersign.Value) bool { return a.Raw() == b.Raw() })

const later = time.Hour

// registered is an agent of the shop as its first manifest made it.
func registered(t *testing.T, changes ...func(*countersign.ManifestAgent)) countersign.Agent {
	t.Helper()
	a, is, err := registry.Sync(nil, "acme-shop", item("clerk-1", changes...), noon)
	if err != nil || !is {
		t.Fatalf("changed %v, %v", is, err)
	}
	return a
}

// resynced syncs an item over the agent, an hour later.
func resynced(t *testing.T, stored countersign.Agent, i countersign.ManifestAgent) (countersign.Agent, bool) {
	t.Helper()
	next, is, err := registry.Sync(&stored, "acme-shop", i, noon.Add(later))
	if err != nil {
		t.Fatal(err)
	}
	return next, is
}

func wantConflict(t *testing.T, stored countersign.Agent, i countersign.ManifestAgent) {
	t.Helper()
	next, is, err := registry.Sync(&stored, "acme-shop", i, noon.Add(later))
	if countersign.ErrorCode(err) != countersign.CodeManifestConflict || is {
		t.Errorf("changed %v, %v", is, err)
	}
	if diff := cmp.Diff(stored, next, exactly); diff != "" {
		t.Errorf("a conflict changed the agent: %s", diff)
	}
}

func TestNewAgentIsPendingAtRevisionOne(t *testing.T) {
	want := countersign.Agent{
		ID: registry.ID("acme-shop", "clerk-1"), ProjectID: "acme-shop", ExternalAgentID: "clerk-1", SourceRevision: 3, Revision: 1,
		Name: "Clerk", Role: "clerk", Goal: "help", Capabilities: []string{"look", "pay"},
		ExecutorInputs: map[string]map[string]countersign.Value{"pay": values("currency", `"EUR"`, "amount", "12.50")},
		ModelID:        "free", Status: countersign.AgentPending, CreatedAt: noon, UpdatedAt: noon,
	}
	if diff := cmp.Diff(want, registered(t), exactly); diff != "" {
		t.Error(diff)
	}
}

func TestNothingIsNilInANewAgent(t *testing.T) {
	a := registered(t, capable(), free)
	if a.Capabilities == nil || a.ExecutorInputs == nil {
		t.Errorf("%+v", a)
	}
}

func TestEqualRevisionAndContentChangesNothing(t *testing.T) {
	stored, _ := registry.Admit(registered(t), noon)
	next, is := resynced(t, stored, item("clerk-1"))
	if diff := cmp.Diff(stored, next, exactly); is || diff != "" {
		t.Errorf("changed %v: %s", is, diff)
	}
}

func TestNewerRevisionReplacesTheContent(t *testing.T) {
	stored, _ := registry.Admit(registered(t), noon)
	next, is := resynced(t, stored, item("clerk-1", at(4), capable("look"), free, modelled(""), func(a *countersign.ManifestAgent) { a.Name, a.Role, a.Goal = "N", "r", "g" }))
	want := countersign.Agent{
		ID: stored.ID, ProjectID: "acme-shop", ExternalAgentID: "clerk-1", SourceRevision: 4, Revision: 2, Name: "N", Role: "r", Goal: "g",
		Capabilities: []string{"look"}, ExecutorInputs: map[string]map[string]countersign.Value{}, Status: countersign.AgentPending,
		CreatedAt: noon, UpdatedAt: noon.Add(later),
	}
	if diff := cmp.Diff(want, next, exactly); !is || diff != "" {
		t.Errorf("changed %v: %s", is, diff)
	}
}

// A system that raises its revision says that something changed, seen here or
// not.
func TestNewerRevisionIsAChangeWhateverItsContent(t *testing.T) {
	stored, _ := registry.Admit(registered(t), noon)
	next, is := resynced(t, stored, item("clerk-1", at(4)))
	if !is || next.Revision != 2 || next.Status != countersign.AgentPending {
		t.Errorf("changed %v: %+v", is, next)
	}
}

func TestOlderRevisionIsAConflict(t *testing.T) {
	wantConflict(t, registered(t), item("clerk-1", at(2)))
	wantConflict(t, registered(t), item("clerk-1", at(2), capable("look"), free))
}

// TestEqualRevisionWithOtherContentIsAConflict, for each part of the content.
func TestEqualRevisionWithOtherContentIsAConflict(t *testing.T) {
	for name, change := range map[string]func(*countersign.ManifestAgent){
		"name":                       func(a *countersign.ManifestAgent) { a.Name = "Other" },
		"role":                       func(a *countersign.ManifestAgent) { a.Role = "other" },
		"goal":                       func(a *countersign.ManifestAgent) { a.Goal = "other" },
		"a letter from role to name": func(a *countersign.ManifestAgent) { a.Name, a.Role = "Clerkc", "lerk" },
		"one capability less":        capable("pay"),
		"one capability more":        capable("look", "pay", "open"),
		"no model":                   modelled(""),
		"another model":              modelled("ours"),
		"a fixed value":              fixed("pay", "currency", `"EUR"`, "amount", "12.51"),
		"a number in quotes":         fixed("pay", "currency", `"EUR"`, "amount", `"12.50"`),
		"one fixed field less":       fixed("pay", "currency", `"EUR"`),
		"a field of another":         fixed("look", "verbose", "true"),
		"nothing fixed any more":     free,
	} {
		t.Run(name, func(t *testing.T) { wantConflict(t, registered(t), item("clerk-1", change)) })
	}
}

// TestSpellingIsNoContent: numbers count by value, and nothing fixed of a
// capability is the same as not naming it.
func TestSpellingIsNoContent(t *testing.T) {
	who := func(text string) func(*countersign.ManifestAgent) {
		return fixed("pay", "amount", "1", "who", text)
	}
	stored := registered(t, who(`{"a":1.50,"b":["x",10e-1]}`))
	for name, i := range map[string]countersign.ManifestAgent{
		"numbers":          item("clerk-1", who(`{"a":15e-1,"b":["x",1]}`)),
		"order of keys":    item("clerk-1", who(`{"b":["x",10e-1],"a":1.50}`)),
		"escapes":          item("clerk-1", who(`{"\u0061":1.50,"b":["\u0078",10e-1]}`)),
		"an empty mention": item("clerk-1", who(`{"a":1.50,"b":["x",10e-1]}`), fixed("look")),
	} {
		if _, is := resynced(t, stored, i); is {
			t.Errorf("%s made a change", name)
		}
	}
	wantConflict(t, stored, item("clerk-1", who(`{"a":1.50,"b":[10e-1,"x"]}`))) // the order of an array is content
}

func TestSuspendedAgentStaysSuspendedWhenItSyncsAnew(t *testing.T) {
	stored, _ := registry.Suspend(registered(t), noon)
	if next, _ := resynced(t, stored, item("clerk-1", at(4))); !next.Suspended || next.Status != countersign.AgentPending || next.Revision != 3 {
		t.Errorf("%+v", next)
	}
}

func TestAdmittingKeepsTheRevisionAndEndsASuspension(t *testing.T) {
	suspended, _ := registry.Suspend(registered(t), noon)
	next, is := registry.Admit(suspended, noon.Add(later))
	want := suspended
	want.Status, want.Suspended, want.UpdatedAt = countersign.AgentAdmitted, false, noon.Add(later)
	if diff := cmp.Diff(want, next, exactly); !is || diff != "" {
		t.Errorf("changed %v: %s", is, diff)
	}
	if again, is := registry.Admit(next, noon.Add(2*later)); is || cmp.Diff(next, again, exactly) != "" {
		t.Error("admitting twice is a change")
	}
}

// TestSuspendingRaisesTheRevision and makes the agent PENDING, whatever it was.
func TestSuspendingRaisesTheRevision(t *testing.T) {
	pending := registered(t)
	admitted, _ := registry.Admit(pending, noon)
	for _, stored := range []countersign.Agent{pending, admitted} {
		next, is := registry.Suspend(stored, noon.Add(later))
		want := stored
		want.Status, want.Suspended, want.Revision, want.UpdatedAt = countersign.AgentPending, true, 2, noon.Add(later)
		if diff := cmp.Diff(want, next, exactly); !is || diff != "" {
			t.Errorf("changed %v: %s", is, diff)
		}
		if again, is := registry.Suspend(next, noon.Add(2*later)); is || again.Revision != 2 {
			t.Error("suspending twice is a change")
		}
	}
}

// TestAgentHasOneIDForEver: the registry of an older release must find it.
func TestAgentHasOneIDForEver(t *testing.T) {
	if id := registry.ID("acme-shop", "clerk-1"); id != "agent-mmgrgttyfv2kgbygjksk" {
		t.Errorf("now it is %s", id)
	}
}

func TestAgentsOfDifferentNameOrSystemAreDifferent(t *testing.T) {
	seen := map[string]bool{}
	for _, project := range []string{"acme-a", "acme-ab", "acme-a-b", "beta-a"} {
		for _, external := range []string{"", "b", "bc", "B", "b ", strings.Repeat("x", 256)} {
			id := registry.ID(project, external)
			if seen[id] || !countersign.ValidID(id) {
				t.Errorf("%s of %q is %s", external, project, id)
			}
			seen[id] = true
		}
	}
}
