package mcp

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
)

func named(names ...string) []countersign.Capability {
	var out []countersign.Capability
	for _, n := range names {
		out = append(out, countersign.Capability{Name: n})
	}
	return out
}

func TestAToolHasItsCapabilitysNameWhereThatFits(t *testing.T) {
	byTool := toolNames(named("refund", "orders.read", "zahle zurück", statusTool, strings.Repeat("x", 65), "a_B-9"))
	var got []string
	for tool, capability := range byTool {
		got = append(got, tool+" = "+capability)
	}
	slices.Sort(got)
	want := []string{
		"a_B-9 = a_B-9", "orders_read_6d7c070f = orders.read", "refund = refund", "run_status_c62f443a = run_status",
		strings.Repeat("x", 39) + "_9537c5fd = " + strings.Repeat("x", 65), "zahle_zur_ck_35f41431 = zahle zurück",
	}
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("the tools are\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestEachCapabilityHasOneToolOfItsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]rune("aB9_-./ é"))
		names := rapid.SliceOfNDistinct(rapid.StringOfN(letters, 1, 70, 128), 0, 20, rapid.ID[string]).Draw(t, "names")
		for _, n := range slices.Clone(names) { // somebody may give a name that another's tool would have
			if tool := cut(n, maxCutName, nil); !fits(n) && !slices.Contains(names, tool) {
				names = append(names, tool)
			}
		}
		byTool := toolNames(named(names...))
		if len(byTool) != len(names) {
			t.Fatalf("%d capabilities have %d tools: %q", len(names), len(byTool), byTool)
		}
		for tool, capability := range byTool {
			if len(tool) > maxToolName || tool != capability && len(tool) > maxCutName || spelt(tool) != tool || tool == statusTool || !slices.Contains(names, capability) {
				t.Fatalf("%q is the tool of %q", tool, capability)
			}
		}
	})
}

func TestAToolKeepsItsNameWhateverElseComes(t *testing.T) {
	alone := toolNames(named("orders.read"))
	for tool := range toolNames(named("orders read", "orders.read", "orders_read", "z")) {
		delete(alone, tool)
	}
	if len(alone) != 0 {
		t.Errorf("%q is gone", alone)
	}
}
