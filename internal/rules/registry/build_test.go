package registry_test

import (
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/registry"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// shop is the project system that the test agents belong to.
func shop() *countersign.Project {
	field := func(kind string, required bool) countersign.InputField {
		return countersign.InputField{Type: kind, Required: required}
	}
	return &countersign.Project{ID: "acme-shop", Revision: 1, Capabilities: []countersign.Capability{
		{Name: "look", Method: "GET", Path: "/orders/{resourceId}", InputSchema: map[string]countersign.InputField{
			"resourceId": field("string", true), "verbose": field("boolean", false),
		}},
		{Name: "pay", Method: "POST", Path: "/payments", InputSchema: map[string]countersign.InputField{
			"amount": field("number", true), "currency": field("string", true), "who": field("object", false),
		}},
		{Name: "open", Method: "POST", Path: "/open"},
	}}
}

// facts are the shop and three models: one that nobody has, one of the shop's
// agents, one of another system's.
func facts() registry.Facts {
	return registry.Facts{Project: shop(), Models: map[string]registry.ModelOwner{
		"free": {}, "ours": {ProjectID: "acme-shop"}, "theirs": {ProjectID: "acme-lab"},
	}}
}

func manifest(items ...countersign.ManifestAgent) *countersign.Manifest {
	return &countersign.Manifest{SchemaVersion: countersign.ManifestSchemaVersion, Agents: items}
}

// item is an agent as a manifest has it, without a problem, with these changes.
func item(external string, changes ...func(*countersign.ManifestAgent)) countersign.ManifestAgent {
	a := countersign.ManifestAgent{
		ExternalAgentID: external, SourceRevision: 3, Name: "Clerk", Role: "clerk", Goal: "help", Capabilities: []string{"look", "pay"},
		ExecutorInputs: map[string]map[string]countersign.Value{"pay": values("currency", `"EUR"`, "amount", "12.50")}, ModelID: "free",
	}
	for _, change := range changes {
		change(&a)
	}
	return a
}

func at(sourceRevision int64) func(*countersign.ManifestAgent) {
	return func(a *countersign.ManifestAgent) { a.SourceRevision = sourceRevision }
}

func capable(names ...string) func(*countersign.ManifestAgent) {
	return func(a *countersign.ManifestAgent) { a.Capabilities = names }
}

// fixed replaces what is fixed of a capability's inputs.
func fixed(capability string, namesAndValues ...string) func(*countersign.ManifestAgent) {
	return func(a *countersign.ManifestAgent) { a.ExecutorInputs[capability] = values(namesAndValues...) }
}

func free(a *countersign.ManifestAgent) { a.ExecutorInputs = nil }

func modelled(id string) func(*countersign.ManifestAgent) {
	return func(a *countersign.ManifestAgent) { a.ModelID = id }
}

// values reads names and JSON texts in turn.
func values(namesAndValues ...string) map[string]countersign.Value {
	m := map[string]countersign.Value{}
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		m[namesAndValues[i]] = countersign.RawValue(namesAndValues[i+1])
	}
	return m
}

// named are problems as "path code".
func named(problems []countersign.Problem) []string {
	var out []string
	for _, p := range problems {
		out = append(out, fmt.Sprintf("%s %s", p.Path, p.Code))
	}
	return out
}
