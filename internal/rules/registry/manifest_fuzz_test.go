package registry_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/exactjson"
	"github.com/countersign/countersign/internal/rules/registry"
)

// FuzzManifest: of any manifest that decodes, the check and its plain reference
// find the same things wrong; a good one makes agents that a second sync of it
// leaves as they are, and that an older or a contrary one can't change.
func FuzzManifest(f *testing.F) {
	f.Add(written(manifest(item("a"), item("b", free), item("c", at(0), modelled("")))))
	f.Add(written(manifest(item("a", capable("look", "look")), item("a", modelled("theirs")))))
	for _, seed := range []string{
		`{"schemaVersion":"1.0","agents":[]}`, `{"schemaVersion":"1.0","agents":[{"externalAgentId":"\u0085","sourceRevision":1,"name":"","role":"","goal":"","capabilities":["open"],"executorInputs":{"open":{"a":[1e2,null]},"pay":{"amount":1.0}}}]}`,
		`{"schemaVersion":"1.0","agents":[{"externalAgentId":" ","sourceRevision":9223372036854775807,"name":"n","role":"r","goal":"g","capabilities":["none"],"modelId":"ours"}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m countersign.Manifest
		if exactjson.Decode(data, &m) != nil || slices.ContainsFunc(m.Agents, odd) {
			return
		}
		facts := facts()
		var found []string
		for _, p := range registry.Check(&m, facts) {
			found = append(found, p.Path)
		}
		slices.Sort(found)
		found = slices.Compact(found)
		if diff := cmp.Diff(wrongIn(&m, facts), found); diff != "" {
			t.Fatalf("%s: %s", data, diff)
		}
		if len(found) > 0 {
			return
		}
		for _, a := range m.Agents {
			checkSync(t, a)
		}
	})
}

// odd are names that the reference is too plain for: other blanks than a space,
// and other control characters than those of the tests.
func odd(a countersign.ManifestAgent) bool {
	return slices.ContainsFunc([]rune(a.ExternalAgentID), func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' && r != 0 || r >= 0x80 && r < 0xa1 && r != 0x85 || r > 0x3ff
	})
}

func checkSync(t *testing.T, item countersign.ManifestAgent) {
	t.Helper()
	made, changed, err := registry.Sync(nil, "acme-shop", item, noon)
	if err != nil || !changed || made.Revision != 1 || made.Status != countersign.AgentPending {
		t.Fatalf("%+v: %v, %v, %v", item, made, changed, err)
	}
	again, changed, err := registry.Sync(&made, "acme-shop", item, noon.AddDate(1, 0, 0))
	if diff := cmp.Diff(made, again, cmp.AllowUnexported(countersign.Value{})); err != nil || changed || diff != "" {
		t.Fatalf("the same again: %v, %v, %s", changed, err, diff)
	}
	contrary := item
	contrary.Goal += "!"
	if _, changed, err := registry.Sync(&made, "acme-shop", contrary, noon); err == nil || changed {
		t.Fatalf("other content at the same revision: %v", changed)
	}
	if contrary.SourceRevision--; contrary.SourceRevision < item.SourceRevision { // not below the least
		if _, changed, err := registry.Sync(&made, "acme-shop", contrary, noon); err == nil || changed {
			t.Fatalf("an older revision: %v", changed)
		}
	}
}

func written(m *countersign.Manifest) []byte {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}
