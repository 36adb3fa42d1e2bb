package mcp

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
)

func taking(names ...string) *countersign.Capability {
	c := &countersign.Capability{Name: "x", Method: "POST", Path: "/x", InputSchema: map[string]countersign.InputField{}}
	for _, n := range names {
		c.InputSchema[n] = countersign.InputField{Type: "string"}
	}
	return c
}

// TestEachInputHasAPropertyThatProvidersTake, one of its own, and back.
func TestEachInputHasAPropertyThatProvidersTake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]rune("aB9_-.$ é/"))
		names := rapid.SliceOfNDistinct(rapid.StringOfN(letters, 1, 80, 200), 0, 12, rapid.ID[string]).Draw(t, "names")
		for _, n := range names { // somebody may give a name that another's property would have
			if fit := cut(n, maxProperty, nil); !property.MatchString(n) && rapid.Bool().Draw(t, "taken") {
				names = append(names, fit)
			}
		}
		names = append(names, rapid.SampledFrom([]string{"task", "x", waitSeconds}).Draw(t, "word"))
		c := taking(names...)
		p, seen := propertiesOf(c), map[string]bool{}
		given := map[string]countersign.Value{}
		for name := range c.InputSchema {
			fit := p.property(name)
			if !property.MatchString(fit) || seen[fit] || property.MatchString(name) && fit != name || fit != name && c.InputSchema[fit].Type != "" {
				t.Fatalf("%q is %q", name, fit)
			}
			for _, w := range ownWords(c) {
				if w.name == fit {
					t.Fatalf("%q has the name of our own %q", name, fit)
				}
			}
			seen[fit] = true
			given[fit] = countersign.String(name)
		}
		back, err := p.inputs(given)
		if err != nil || len(back) != len(c.InputSchema) {
			t.Fatalf("%v, %v", back, err)
		}
		for name, v := range back {
			if v.Text() != name {
				t.Fatalf("%q came back as %q", v.Text(), name)
			}
		}
	})
}

// TestAPropertyKeepsItsNameWhateverElseComes.
func TestAPropertyKeepsItsNameWhateverElseComes(t *testing.T) {
	if a, b := propertiesOf(taking("$filter")).property("$filter"), propertiesOf(taking("$filter", "order id", "größe", "_filter")).property("$filter"); a != b || !strings.HasPrefix(a, "_filter_") {
		t.Errorf("%s and %s", a, b)
	}
}

// TestAnInputIsGivenByOneOfItsNames: the one that the schema has, or the API's.
func TestAnInputIsGivenByOneOfItsNames(t *testing.T) {
	v, c := offering(1), taking("order id")
	fit := propertiesOf(c).property("order id")
	for _, name := range []string{fit, "order id"} {
		got, _, err := v.read("x", c, []byte(`{"`+name+`":"A-1"}`))
		if err != nil || len(got) != 1 || got["order id"].Text() != "A-1" {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	_, _, err := v.read("x", c, []byte(`{"order id":"A-1","`+fit+`":"A-2"}`))
	if want := `invalid_request: ` + fit + `: it is the input "order id", which is given besides; give it once`; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}
