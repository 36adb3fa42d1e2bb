package registry_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/registry"
)

// spellings are values by type, each in several spellings of one value. Path
// values are among the strings; what stands first in a row is how it is written.
var spellings = map[string][][]string{
	"number": {
		{"1", "1.0", "1e0", "10e-1", "0.1E+1"}, {"0", "-0", "0.00", "0e9"}, {"12.5", "12.50", "125e-1"}, {"-3", "-3.0", "-30E-1"},
		{"9007199254740993", "9007199254740993.0"}, {"9007199254740992", "9007199254740992e0"},
	},
	"string":  {{`"a"`, `"\u0061"`}, {`"A"`, `"\u0041"`}, {`"o-1"`, `"o\u002d1"`}, {`"o-2"`}},
	"boolean": {{"true"}, {"false"}},
	"object": {
		{`{}`}, {`{"a":1,"b":[true,null]}`, `{"b":[true,null],"a":1.0}`, `{"\u0062":[true,null],"a":1e0}`}, {`{"a":1,"b":[null,true]}`, `{"b":[null,true],"a":10e-1}`},
		{`{"a":{"x":"1","y":1}}`, `{"a":{"y":1.00,"x":"1"}}`},
	},
	"array": {{`[]`}, {`[1,2]`, `[1.0,20e-1]`}, {`[2,1]`, `[2.0,1]`}, {`[{"p":0,"q":""}]`, `[{"q":"","p":-0}]`}},
}

// drawValue draws a value of a type in any spelling.
func drawValue(t *rapid.T, kind string) countersign.Value {
	row := rapid.SampledFrom(spellings[kind]).Draw(t, "value")
	return countersign.RawValue(rapid.SampledFrom(row).Draw(t, "spelling"))
}

// respelt is the same value in any spelling.
func respelt(t *rapid.T, v countersign.Value) countersign.Value {
	for _, row := range spellings[v.Kind().String()] {
		if slices.Contains(row, v.Raw()) {
			return countersign.RawValue(rapid.SampledFrom(row).Draw(t, "respelt"))
		}
	}
	return v
}

// drawFacts draws a project of up to five capabilities, the last of which may
// take any input, and the models of its tenant.
func drawFacts(t *rapid.T) registry.Facts {
	p := &countersign.Project{ID: "acme-shop"}
	for i := range rapid.IntRange(0, 4).Draw(t, "capabilities") {
		p.Capabilities = append(p.Capabilities, drawCapability(t, fmt.Sprintf("c%d", i)))
	}
	if rapid.Bool().Draw(t, "open") {
		p.Capabilities = append(p.Capabilities, countersign.Capability{Name: "open.all", Method: "POST", Path: "/open"})
	}
	return registry.Facts{Project: p, Models: map[string]registry.ModelOwner{"m1": {}, "m2": {ProjectID: "acme-shop"}, "m3": {ProjectID: "acme-lab"}}}
}

func drawCapability(t *rapid.T, name string) countersign.Capability {
	c := countersign.Capability{Name: name, Method: "POST", Path: "/x", InputSchema: map[string]countersign.InputField{}}
	types := []string{"number", "string", "boolean", "object", "array"}
	if rapid.Bool().Draw(t, "get") {
		c.Method, types = "GET", types[:3] // a query carries no more
	}
	for _, field := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"amount", "note", "vip", "who", "ä b"}), 0, 4, rapid.ID).Draw(t, "fields") {
		c.InputSchema[field] = countersign.InputField{Type: rapid.SampledFrom(types).Draw(t, "type"), Required: rapid.Bool().Draw(t, "required")}
	}
	if rapid.Bool().Draw(t, "path") {
		c.Path = "/x/{resourceId}"
		c.InputSchema["resourceId"] = countersign.InputField{Type: "string", Required: true}
	}
	return c
}

// drawManifest draws a manifest without a problem.
func drawManifest(t *rapid.T, f registry.Facts) *countersign.Manifest {
	m := manifest()
	for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "A", "ä 1", "x/y"}), 0, 6, rapid.ID).Draw(t, "agents") {
		m.Agents = append(m.Agents, drawItem(t, f, id))
	}
	return m
}

func drawItem(t *rapid.T, f registry.Facts, id string) countersign.ManifestAgent {
	word := rapid.SampledFrom([]string{"", "x", "y"})
	a := countersign.ManifestAgent{
		ExternalAgentID: id, SourceRevision: rapid.Int64Range(0, 3).Draw(t, "revision"),
		Name: word.Draw(t, "name"), Role: word.Draw(t, "role"), Goal: word.Draw(t, "goal"),
		Capabilities: []string{}, ModelID: rapid.SampledFrom([]string{"", "m1", "m2"}).Draw(t, "model"),
	}
	for _, c := range rapid.Permutation(f.Project.Capabilities).Draw(t, "order") {
		if rapid.Bool().Draw(t, "has") {
			a.Capabilities = append(a.Capabilities, c.Name)
		}
		if slices.Contains(a.Capabilities, c.Name) && rapid.Bool().Draw(t, "fixes") {
			put(&a, c.Name, drawFixed(t, &c))
		}
	}
	return a
}

// drawFixed draws some fields of a capability with values that fit.
func drawFixed(t *rapid.T, c *countersign.Capability) map[string]countersign.Value {
	fixed := map[string]countersign.Value{}
	if c.InputSchema == nil && rapid.Bool().Draw(t, "given") {
		fixed["anything"] = drawValue(t, rapid.SampledFrom(sorted(spellings)).Draw(t, "type"))
	}
	for _, name := range sorted(c.InputSchema) {
		if rapid.Bool().Draw(t, "given") {
			fixed[name] = drawValue(t, c.InputSchema[name].Type)
		}
	}
	return fixed
}

func put(a *countersign.ManifestAgent, capability string, fixed map[string]countersign.Value) {
	if a.ExecutorInputs == nil {
		a.ExecutorInputs = map[string]map[string]countersign.Value{}
	}
	a.ExecutorInputs[capability] = fixed
}

func sorted[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// respeltItem says the same as an item: other spellings of its values, and what
// is empty named or not.
func respeltItem(t *rapid.T, a countersign.ManifestAgent) countersign.ManifestAgent {
	from := a.ExecutorInputs
	a.ExecutorInputs = nil
	for _, name := range a.Capabilities {
		fixed := map[string]countersign.Value{}
		for _, field := range sorted(from[name]) {
			fixed[field] = respelt(t, from[name][field])
		}
		if len(fixed) > 0 || rapid.Bool().Draw(t, "named") {
			put(&a, name, fixed)
		}
	}
	return a
}
