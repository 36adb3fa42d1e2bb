package registry_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/registry"
)

// TestEveryProblemOfAManifestIsNamedWithItsPath: each alone, so that none hides
// another.
func TestEveryProblemOfAManifestIsNamedWithItsPath(t *testing.T) {
	tests := []struct {
		name  string
		items []countersign.ManifestAgent
		want  []string
	}{
		{"empty external id", []countersign.ManifestAgent{item("")}, []string{"agents[0].externalAgentId bad_id"}},
		{"blank external id", []countersign.ManifestAgent{item(" \u00a0")}, []string{"agents[0].externalAgentId bad_id"}},
		{"a line feed in it", []countersign.ManifestAgent{item("a\nb")}, []string{"agents[0].externalAgentId bad_id"}},
		{"a delete in it", []countersign.ManifestAgent{item("a\x7fb")}, []string{"agents[0].externalAgentId bad_id"}},
		{"a C1 control in it", []countersign.ManifestAgent{item("a\u0085b")}, []string{"agents[0].externalAgentId bad_id"}},
		{"one agent twice", []countersign.ManifestAgent{item("a"), item("b"), item("a")}, []string{"agents[2].externalAgentId duplicate"}},
		{"one agent three times", []countersign.ManifestAgent{item("a"), item("a"), item("a")},
			[]string{"agents[1].externalAgentId duplicate", "agents[2].externalAgentId duplicate"}},
		{"unregistered capability", []countersign.ManifestAgent{item("a", capable("look", "fly", "pay"))}, []string{"agents[0].capabilities[1] unregistered"}},
		{"a capability's name in other case", []countersign.ManifestAgent{item("a", capable("pay", "Look"))}, []string{"agents[0].capabilities[1] unregistered"}},
		{"one capability twice", []countersign.ManifestAgent{item("a", capable("pay", "look", "pay"))}, []string{"agents[0].capabilities[2] duplicate"}},
		{"fixed input of a capability that it lacks", []countersign.ManifestAgent{item("a", capable("look"))}, []string{"agents[0].executorInputs.pay not_a_capability"}},
		{"fixed input of an unregistered capability", []countersign.ManifestAgent{item("a", capable("look", "pay", "fly"), fixed("fly", "x", "1"))},
			[]string{"agents[0].capabilities[2] unregistered"}},
		{"field outside the contract", []countersign.ManifestAgent{item("a", fixed("pay", "tip", "1"))}, []string{"agents[0].executorInputs.pay.tip undeclared_input"}},
		{"value of another type", []countersign.ManifestAgent{item("a", fixed("pay", "amount", `"1"`))}, []string{"agents[0].executorInputs.pay.amount wrong_type"}},
		{"null is no value of a type", []countersign.ManifestAgent{item("a", fixed("pay", "who", `null`))}, []string{"agents[0].executorInputs.pay.who wrong_type"}},
		{"path value that is no id", []countersign.ManifestAgent{item("a", fixed("look", "resourceId", `"../x"`))}, []string{"agents[0].executorInputs.look.resourceId not_an_id"}},
		{"absent model", []countersign.ManifestAgent{item("a", modelled("none"))}, []string{"agents[0].modelId no_model"}},
		{"another system's model", []countersign.ManifestAgent{item("a", modelled("theirs"))}, []string{"agents[0].modelId foreign_model"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, named(registry.Check(manifest(test.items...), facts()))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsRightHasNoProblem(t *testing.T) {
	for name, m := range map[string]*countersign.Manifest{
		"no agents":                        manifest(),
		"no capabilities":                  manifest(item("a", capable(), free)),
		"required inputs left for the run": manifest(item("a", fixed("pay", "currency", `"EUR"`))),
		"nothing fixed of a capability":    manifest(item("a", fixed("look"))),
		"anything where no schema declares": manifest(item("a", capable("open"), free, func(a *countersign.ManifestAgent) {
			a.ExecutorInputs = map[string]map[string]countersign.Value{"open": values("x", "null")}
		})),
		"no model":                           manifest(item("a", modelled(""))),
		"a model of the same system's agent": manifest(item("a", modelled("ours")), item("b", modelled("ours"))),
		"names that differ by letter case":   manifest(item("a"), item("A")),
		"a name with a space and an umlaut":  manifest(item("Büro 1")),
	} {
		if problems := registry.Check(m, facts()); problems != nil {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

func TestProblemsOfAllAgentsAreNamedTogether(t *testing.T) {
	wrong := item("a\t", capable("fly", "pay"), fixed("look", "verbose", "true"), fixed("pay", "tip", "1", "amount", "{}"), modelled("none"))
	want := []string{
		"agents[0].externalAgentId bad_id", "agents[0].capabilities[0] unregistered", "agents[0].executorInputs.look not_a_capability",
		"agents[0].executorInputs.pay.amount wrong_type", "agents[0].executorInputs.pay.tip undeclared_input", "agents[0].modelId no_model",
		"agents[2].modelId foreign_model",
	}
	if diff := cmp.Diff(want, named(registry.Check(manifest(wrong, item("b"), item("c", modelled("theirs"))), facts()))); diff != "" {
		t.Error(diff)
	}
}

// Which other system has a model may lie outside the caller's scope.
func TestForeignModelDoesNotNameTheOtherSystem(t *testing.T) {
	for _, p := range registry.Check(manifest(item("a", modelled("theirs"))), facts()) {
		if strings.Contains(p.Message, "lab") {
			t.Errorf("it does: %s", p.Message)
		}
	}
}

// A message about a fixed input repeats no value: it may be sensitive.
func TestProblemRepeatsNoFixedValue(t *testing.T) {
	for _, p := range registry.Check(manifest(item("a", fixed("pay", "amount", `"s3cret"`, "tip", `"s3cret"`))), facts()) {
		if strings.Contains(p.Message, "s3cret") {
			t.Errorf("it does: %s", p.Message)
		}
	}
}

func TestModelsOfAManifestAreListedOnce(t *testing.T) {
	m := manifest(item("a", modelled("y")), item("b", modelled("")), item("c", modelled("x")), item("d", modelled("y")))
	if diff := cmp.Diff([]string{"x", "y"}, registry.ModelIDs(m)); diff != "" {
		t.Error(diff)
	}
}
