package gate_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/gate"
)

// said is what the gate is expected to say.
type said struct {
	Then      string
	Approvals int
	Groups    []string
}

// TestTheCasesThatAllVerifiersShare judges testdata/cases.jsonl, as the verifiers of the
// SDKs do: what members in another case are to a plan that is made now, and to one of before.
func TestTheCasesThatAllVerifiersShare(t *testing.T) {
	f, err := os.Open(filepath.Join("testdata", "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	lines, n := bufio.NewScanner(f), 0
	for ; lines.Scan(); n++ {
		var c struct {
			Name        string
			Rules       []countersign.ApprovalRule
			Asks        bool
			Input       map[string]countersign.Value
			Open        []string
			Now, Before said
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		capability := &countersign.Capability{Method: "POST", Approval: countersign.ApprovalNone, ApprovalRules: c.Rules}
		if c.Asks {
			capability.Approval = countersign.ApprovalAlways
		}
		open := map[string]countersign.Binding{}
		for _, name := range c.Open {
			open[name] = countersign.Binding{}
		}
		for edition, want := range map[gate.Edition]said{gate.Now: c.Now, gate.First: c.Before} {
			v := gate.Judge(nil, edition, capability, c.Input, open)
			if v.Then != want.Then || v.Approvals != want.Approvals || !slices.Equal(v.Groups, want.Groups) {
				t.Errorf("%s, edition %d: %s, %d of %v; want %+v", c.Name, edition, v.Then, v.Approvals, v.Groups, want)
			}
		}
	}
	if err := lines.Err(); err != nil || n < 30 {
		t.Errorf("%d cases: %v", n, err)
	}
}
