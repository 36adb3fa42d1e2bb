package control_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/registry"
)

func decoded[T any](t fataler, text []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// item is an agent as a manifest has it, with all capabilities and model m1.
func item(external string, changes ...func(*countersign.ManifestAgent)) countersign.ManifestAgent {
	a := countersign.ManifestAgent{
		ExternalAgentID: external, SourceRevision: 1, Name: external, Role: "clerk", Goal: "help",
		Capabilities: []string{"look", "note", "ping"}, ModelID: "m1",
	}
	for _, change := range changes {
		change(&a)
	}
	return a
}

func modelled(id string) func(*countersign.ManifestAgent) {
	return func(a *countersign.ManifestAgent) { a.ModelID = id }
}

func at(sourceRevision int64) func(*countersign.ManifestAgent) {
	return func(a *countersign.ManifestAgent) { a.SourceRevision = sourceRevision }
}

func manifest(items ...countersign.ManifestAgent) countersign.Manifest {
	return countersign.Manifest{SchemaVersion: countersign.ManifestSchemaVersion, Agents: items}
}

// values reads names and JSON texts in turn.
func values(namesAndValues ...string) map[string]countersign.Value {
	m := map[string]countersign.Value{}
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		m[namesAndValues[i]] = countersign.RawValue(namesAndValues[i+1])
	}
	return m
}

// sync syncs agents of acme-one and gives their ids.
func (f *fixture) sync(items ...countersign.ManifestAgent) []string {
	f.t.Helper()
	out, err := f.service.SyncAgents(background, as("acme"), "acme-one", manifest(items...))
	f.must(err)
	ids := make([]string, len(out))
	for i, a := range out {
		ids[i] = a.ID
	}
	return ids
}

// admitted syncs agents of acme-one and admits them.
func (f *fixture) admitted(items ...countersign.ManifestAgent) []string {
	f.t.Helper()
	ids := f.sync(items...)
	for _, id := range ids {
		_, err := f.service.AdmitAgent(background, as("acme"), id, countersign.Admission{Reason: "known"})
		f.must(err)
	}
	return ids
}

// teamOf is a team of these agents and steps.
func teamOf(agents []string, steps ...countersign.TeamStep) countersign.TeamWrite {
	if len(steps) == 0 && len(agents) > 0 {
		steps = []countersign.TeamStep{pings("s0", agents[0])}
	}
	w := countersign.TeamWrite{Name: "Team", Steps: steps}
	for _, id := range agents {
		w.Members = append(w.Members, countersign.TeamMember{AgentID: id, Role: "member"})
	}
	return w
}

func pings(id, agentID string) countersign.TeamStep {
	return countersign.TeamStep{ID: id, Name: id, AgentID: agentID, Capability: "ping"}
}

// wantCode asserts a refusal, "" success.
func wantCode(t *testing.T, err error, want countersign.Code) {
	t.Helper()
	if got := countersign.ErrorCode(err); got != want {
		t.Errorf("%q (%v), want %q", got, err, want)
	}
}

func contains(err error, text string) bool { return strings.Contains(err.Error(), text) }

func clerk(external string) string { return registry.ID("acme-one", external) }
