package project_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/project"
)

func TestWeakens(t *testing.T) {
	no, yes := false, true
	post := func(change func(*countersign.Capability)) *countersign.Capability {
		c := &countersign.Capability{Name: "refund", Method: "POST", Probe: "find"}
		change(c)
		return c
	}
	same := func(*countersign.Capability) {}
	approval := func(word string) func(*countersign.Capability) {
		return func(c *countersign.Capability) { c.Approval = word }
	}
	expecting := func(field string) func(*countersign.Capability) {
		return func(c *countersign.Capability) {
			c.Expectation = &countersign.Expectation{Field: field, Equals: countersign.Bool(true)}
		}
	}
	for _, test := range []struct {
		name     string
		was, now *countersign.Capability
		want     bool
	}{
		{"nothing", post(same), post(same), false},
		{"its default said aloud", post(same), post(approval("ALWAYS")), false},
		{"approval from its default to none", post(same), post(approval("NONE")), true},
		{"approval from always to by risk", post(same), post(approval("RISK_BASED")), true},
		{"approval from by risk to none", post(approval("RISK_BASED")), post(approval("NONE")), true},
		{"approval raised", post(approval("NONE")), post(approval("ALWAYS")), false},
		{"a side effect called a read", post(same), post(func(c *countersign.Capability) { c.SideEffect = &no }), true},
		{"a read called a side effect", post(func(c *countersign.Capability) { c.SideEffect = &no }), post(func(c *countersign.Capability) { c.SideEffect = &yes }), false},
		{"declared idempotent where risk decides", post(approval("RISK_BASED")), post(func(c *countersign.Capability) { c.Approval, c.Idempotent = "RISK_BASED", true }), true},
		{"declared idempotent where it is asked always", post(same), post(func(c *countersign.Capability) { c.Idempotent = true }), false},
		{"another probe", post(same), post(func(c *countersign.Capability) { c.Probe = "other" }), true},
		{"no probe any more", post(same), post(func(c *countersign.Capability) { c.Probe = "" }), true},
		{"a first probe", post(func(c *countersign.Capability) { c.Probe = "" }), post(same), false},
		{"no expectation any more", post(expecting("ok")), post(same), true},
		{"another expectation", post(expecting("ok")), post(expecting("done")), true},
		{"the same expectation", post(expecting("ok")), post(expecting("ok")), false},
		{"a first expectation", post(same), post(expecting("ok")), false},
		{"a new capability", nil, post(approval("NONE")), false},
		{"a slower one", post(same), post(func(c *countersign.Capability) { c.TimeoutMs = 20000 }), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			at := &countersign.Project{BaseURL: "https://a.example", Capabilities: []countersign.Capability{*test.now}}
			known := func(string) *countersign.Capability { return test.was }
			if got := project.Weakens(nil, at, at, known); got != test.want {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestAnotherOriginWeakens(t *testing.T) {
	known := func(string) *countersign.Capability { return nil }
	a, b, none := &countersign.Project{BaseURL: "https://a.example"}, &countersign.Project{BaseURL: "https://b.example"}, &countersign.Project{}
	for _, test := range []struct {
		before, after *countersign.Project
		want          bool
	}{{a, b, true}, {a, none, true}, {none, a, false}, {a, a, false}} {
		if got := project.Weakens(nil, test.before, test.after, known); got != test.want {
			t.Errorf("from %q to %q: %v", test.before.BaseURL, test.after.BaseURL, got)
		}
	}
}
