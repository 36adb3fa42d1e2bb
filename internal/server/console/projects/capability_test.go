package projects

import (
	"reflect"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/server/console/form"
	"github.com/countersign/countersign/internal/server/console/web/webtest"
)

// rowsOf are the members of a capability that its form asks for in rows of their own, each with the template's part.
var rowsOf = map[string]string{
	"inputSchema": "inputs", "expectation": "expected", "approvalRules": "rules", "budgets": "budgets",
}

// TestAFormAsksForEachMemberOfACapability fails for one that is added: an administrator who registers it in the
// console could neither see it nor say it.
func TestAFormAsksForEachMemberOfACapability(t *testing.T) {
	c := countersign.Capability{Precondition: &countersign.Precondition{}}
	s := form.Of(webtest.Posted(t, ""), nil, "")
	asked := map[string]bool{}
	for _, fields := range [][]form.Field{operationFields(s, c), policyFields(s, c), placeFields(s, countersign.Project{}, c)} {
		for _, f := range fields {
			member, _, _ := strings.Cut(f.Name, ".")
			asked[member] = true
		}
	}
	members := reflect.TypeFor[countersign.Capability]()
	for i := range members.NumField() {
		member, _, _ := strings.Cut(members.Field(i).Tag.Get("json"), ",")
		if !asked[member] && rowsOf[member] == "" {
			t.Errorf("Capability.%s: no field of the form asks for %q; add it to capability.go and capability_typed.go", members.Field(i).Name, member)
		}
		delete(asked, member)
	}
	for name := range asked {
		t.Errorf("the form asks for %q, which no capability has", name)
	}
}
