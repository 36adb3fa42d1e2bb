package registry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/registry"
)

// TestManifestWithoutAProblemHasNone: whatever fits is accepted.
func TestManifestWithoutAProblemHasNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFacts(t)
		if problems := registry.Check(drawManifest(t, f), f); problems != nil {
			t.Fatalf("%v", problems)
		}
	})
}

// TestEveryPlantedProblemIsNamed, however many there are, and none besides.
func TestEveryPlantedProblemIsNamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFacts(t)
		m := drawManifest(t, f)
		planted := map[string]bool{}
		for range rapid.IntRange(0, 6).Draw(t, "problems") {
			if path := plant(t, m, f); path != "" {
				planted[path] = true
			}
		}
		found := map[string]bool{}
		for _, p := range registry.Check(m, f) {
			found[p.Path] = true
			if p.Code == "" || p.Message == "" {
				t.Fatalf("%+v says nothing", p)
			}
		}
		if diff := cmp.Diff(sorted(planted), sorted(found)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestCheckAgreesWithTheReference also where problems lie over each other.
func TestCheckAgreesWithTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFacts(t)
		m := drawManifest(t, f)
		for range rapid.IntRange(0, 6).Draw(t, "changes") {
			if len(m.Agents) > 0 {
				disturb(t, &m.Agents[rapid.IntRange(0, len(m.Agents)-1).Draw(t, "agent")])
			}
		}
		var found []string
		for _, p := range registry.Check(m, f) {
			found = append(found, p.Path)
		}
		slices.Sort(found)
		if diff := cmp.Diff(wrongIn(m, f), slices.Compact(found)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// plant puts one problem into a manifest where it disturbs no other one, and
// gives its path; "" when there is no room for it.
func plant(t *rapid.T, m *countersign.Manifest, f registry.Facts) string {
	if len(m.Agents) == 0 {
		return ""
	}
	i := rapid.IntRange(0, len(m.Agents)-1).Draw(t, "agent")
	a, at := &m.Agents[i], fmt.Sprintf("agents[%d].", i)
	switch rapid.IntRange(0, 6).Draw(t, "problem") {
	case 0:
		if strings.HasPrefix(a.ExternalAgentID, "twin") {
			return ""
		}
		a.ExternalAgentID = fmt.Sprintf("line\n%d", i)
		return at + "externalAgentId"
	case 1:
		twin := countersign.ManifestAgent{ExternalAgentID: fmt.Sprintf("twin %d", len(m.Agents)), Capabilities: []string{}}
		m.Agents = append(m.Agents, twin, twin)
		return fmt.Sprintf("agents[%d].externalAgentId", len(m.Agents)-1)
	case 2:
		a.Capabilities = append(slices.Clone(a.Capabilities), "unheard of")
		return fmt.Sprintf("%scapabilities[%d]", at, len(a.Capabilities)-1)
	case 3:
		if len(a.Capabilities) == 0 {
			return ""
		}
		a.Capabilities = append(slices.Clone(a.Capabilities), a.Capabilities[0])
		return fmt.Sprintf("%scapabilities[%d]", at, len(a.Capabilities)-1)
	case 4:
		put(a, "not.its.own", values("x", "1"))
		return at + "executorInputs.not.its.own"
	case 5:
		a.ModelID = rapid.SampledFrom([]string{"none", "m3"}).Draw(t, "model")
		return at + "modelId"
	default:
		return plantField(t, a, f, at)
	}
}

// plantField fixes a field that a capability doesn't have, or one of its own to a
// value that no field takes.
func plantField(t *rapid.T, a *countersign.ManifestAgent, f registry.Facts, at string) string {
	for _, name := range a.Capabilities {
		c := f.Project.Capability(name)
		if c == nil || c.InputSchema == nil {
			continue
		}
		field := rapid.SampledFrom(append(sorted(c.InputSchema), "undeclared")).Draw(t, "field")
		if a.ExecutorInputs[name] == nil {
			put(a, name, map[string]countersign.Value{})
		}
		a.ExecutorInputs[name][field] = countersign.Null
		return at + "executorInputs." + name + "." + field
	}
	return ""
}

// disturb changes anything about an item.
func disturb(t *rapid.T, a *countersign.ManifestAgent) {
	capability := rapid.SampledFrom([]string{"c0", "c1", "c2", "c3", "open.all", "c9"}).Draw(t, "capability")
	switch rapid.IntRange(0, 4).Draw(t, "change") {
	case 0:
		a.ExternalAgentID = rapid.SampledFrom([]string{"a", "b", "c", "", "  ", "a\x7f"}).Draw(t, "id")
	case 1:
		a.Capabilities = append(slices.Clone(a.Capabilities), capability)
	case 2:
		a.Capabilities = slices.DeleteFunc(slices.Clone(a.Capabilities), func(name string) bool { return name == capability })
	case 3:
		a.ModelID = rapid.SampledFrom([]string{"", "m1", "m2", "m3", "m4"}).Draw(t, "model")
	default:
		field := rapid.SampledFrom([]string{"amount", "note", "vip", "who", "ä b", "resourceId", "other"}).Draw(t, "field")
		put(a, capability, map[string]countersign.Value{field: drawValue(t, rapid.SampledFrom(sorted(spellings)).Draw(t, "type"))})
	}
}
