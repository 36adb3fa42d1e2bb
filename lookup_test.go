package countersign_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/testing/allocbudget"
)

// output is what a project API could answer: keys that look like paths, nulls,
// strings with brackets and quotes in them.
const output = ` {
  "id": "r-1", "total": 12.50, "none": null, "": "empty", "a.b": "exact", "a": {"b": "dotted", "c": {"d.e": 1, "d": {"e": 2}}},
  "items": [ {"sku": "x", "tags": ["]", "\"}", "last"]}, [10, 20], null ],
  "0": "key zero", "\u006bey": "escaped", "tricky": {"}": "{[", "n": {"deep": true}}
} `

func TestLookupFindsAField(t *testing.T) {
	for field, want := range map[string]string{
		"id":             `"r-1"`,
		"total":          `12.50`,
		"":               `"empty"`,
		"none":           `null`,
		"a.b":            `"exact"`, // an exact key first, else a dotted path
		"a":              `{"b":"dotted","c":{"d.e":1,"d":{"e":2}}}`,
		"a.c.d.e":        `1`, // and so below the first key
		"a.c.d":          `{"e":2}`,
		"items.0.sku":    `"x"`,
		"items.0.tags.2": `"last"`,
		"items.1.1":      `20`,
		"items.2":        `null`,
		"0":              `"key zero"`,
		"key":            `"escaped"`,
		"tricky.}":       `"{["`,
		"tricky.n.deep":  `true`,
	} {
		got, ok := raw(output).Lookup(field)
		if !ok || got.Raw() != want {
			t.Errorf("%q: got %s %v, want %s", field, got.Raw(), ok, want)
		}
	}
}

func TestLookupFindsNothingElse(t *testing.T) {
	for _, field := range []string{
		"ID", "missing", "none.x", "id.0", "total.x", "items.3", "items.-1", "items.00", "items.+1", "items.1e0", "items. 1", "items.sku",
		"items.0.", ".", "a.", ".a", "a.c.x", "items.99999999999999999999", "$",
	} {
		if got, ok := raw(output).Lookup(field); ok || !got.IsZero() {
			t.Errorf("%q: got %s", field, got.Raw())
		}
	}
}

func TestLookupInWhatIsNoObject(t *testing.T) {
	if got, ok := raw(`[1,[2,3]]`).Lookup("1.0"); !ok || got.Raw() != "2" {
		t.Errorf("got %s %v", got.Raw(), ok)
	}
	for _, text := range []string{"", "null", "1", `"id"`, "{}", "[]", "true"} {
		if _, ok := raw(text).Lookup("0"); ok {
			t.Errorf("found in %q", text)
		}
	}
}

// TestLookupReadsOnlyWhatThePathLeadsThrough: each level steps over what it holds once,
// and takes nothing of it apart.
func TestLookupReadsOnlyWhatThePathLeadsThrough(t *testing.T) {
	const levels = countersign.MaxJSONDepth - 1
	path := strings.TrimSuffix(strings.Repeat("a.", levels), ".")
	allocbudget.Proportional(t, countersign.MaxBodyBytes/64, func(n int) func() {
		v := raw(strings.Repeat(`{"a":`, levels) + "[" + strings.Repeat("1,", n/2) + "1]" + strings.Repeat("}", levels))
		find := func() {
			if _, ok := v.Lookup(path); !ok {
				t.Fatal("not found")
			}
		}
		// The count is the whole process's: over 16 runs one of the runtime's own doesn't show.
		if n := testing.AllocsPerRun(16, find); n > 1 {
			t.Errorf("%v allocations; the field found is one", n)
		}
		return find
	})
}

// TestLookupCostsWhatThePathLeadsThrough: half the levels, half the cost.
func TestLookupCostsWhatThePathLeadsThrough(t *testing.T) {
	bulk := "[" + strings.Repeat("1,", countersign.MaxBodyBytes/64) + "1]"
	allocbudget.Proportional(t, countersign.MaxJSONDepth/4-1, func(levels int) func() {
		v := raw(strings.Repeat(`{"a":`, levels) + bulk + strings.Repeat("}", levels))
		path := strings.TrimSuffix(strings.Repeat("a.", levels), ".")
		return func() { v.Lookup(path) }
	})
}
