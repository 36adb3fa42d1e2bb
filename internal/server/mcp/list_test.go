package mcp

import (
	"fmt"
	"slices"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// offering is a visit to an admitted agent with so many capabilities.
func offering(n int) *toolRequest {
	v := &toolRequest{offer: control.Offer{Agent: countersign.Agent{Status: countersign.AgentAdmitted}}}
	for i := range n {
		v.offer.Capabilities = append(v.offer.Capabilities, countersign.Capability{Name: fmt.Sprintf("orders.%d", i), Method: "GET", Path: "/orders"})
	}
	return v
}

func TestTheToolsComeInPagesEachOnce(t *testing.T) {
	for _, n := range []int{0, 1, countersign.MaxPageLimit - 1, countersign.MaxPageLimit, 3 * countersign.MaxPageLimit} {
		v, cursor, names := offering(n), "", []string{}
		for pages := 0; pages == 0 || cursor != ""; pages++ {
			after, err := v.after(cursor)
			if err != nil {
				t.Fatal(err)
			}
			page := v.list(after)
			if len(page.Tools) > countersign.MaxPageLimit || pages > n {
				t.Fatalf("page %d of %d capabilities has %d tools", pages, n, len(page.Tools))
			}
			for _, tool := range page.Tools {
				names = append(names, tool.Name)
			}
			cursor = page.NextCursor
		}
		want := append(sortedKeys(toolNames(v.offer.Capabilities)), statusTool)
		if slices.Sort(want); !slices.Equal(names, want) {
			t.Errorf("%d capabilities are %d tools, in order: %q", n, len(names), names)
		}
	}
}

func TestAnAgentThatIsNotAdmittedOffersItsRunsOnly(t *testing.T) {
	for _, a := range []countersign.Agent{{Status: countersign.AgentPending}, {Status: countersign.AgentPending, Suspended: true}, {Status: countersign.AgentAdmitted, Suspended: true}} {
		v := offering(3)
		v.offer.Agent = a
		if tools := v.list("").Tools; len(tools) != 1 || tools[0].Name != statusTool {
			t.Errorf("%+v offers %d tools", a, len(tools))
		}
	}
}

func BenchmarkList(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			v := offering(n)
			for b.Loop() {
				v.list("")
			}
		})
	}
}
