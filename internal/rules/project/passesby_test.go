package project_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/project"
)

// TestAnotherWayPastAGateWeakens: the gate stands before requests, whatever the
// capability is called that makes them.
func TestAnotherWayPastAGateWeakens(t *testing.T) {
	no, yes := false, true
	refund := countersign.Capability{Name: "refund", Method: "POST", Path: "/refunds/{id}", Probe: "find"}
	find := countersign.Capability{Name: "find", Method: "GET", Path: "/refunds"}
	edited := func(c countersign.Capability, change func(*countersign.Capability)) countersign.Capability {
		change(&c)
		return c
	}
	other := func(method, path, approval string) countersign.Capability {
		return countersign.Capability{Name: "other", Method: method, Path: path, Approval: approval}
	}
	for _, test := range []struct {
		name       string
		was, added []countersign.Capability
		want       bool
	}{
		{"nothing added", []countersign.Capability{refund, find}, []countersign.Capability{refund, find}, false},
		{"a second one with approval NONE", []countersign.Capability{refund, find}, []countersign.Capability{refund, find, other("POST", "/refunds/{id}", "NONE")}, true},
		{"by another name of its input", []countersign.Capability{refund, find}, []countersign.Capability{refund, find, other("POST", "/refunds/{order}", "NONE")}, true},
		{"of one order", []countersign.Capability{refund, find}, []countersign.Capability{refund, find, other("POST", "/refunds/A-1", "NONE")}, true},
		{"with a slash at the end", []countersign.Capability{refund, find}, []countersign.Capability{refund, find, other("POST", "/Refunds//{id}/", "NONE")}, true},
		{"with an escape", []countersign.Capability{refund, find}, []countersign.Capability{refund, find, other("POST", "/re%66unds/{id}", "NONE")}, true},
		{"decided by risk", []countersign.Capability{refund, find}, []countersign.Capability{refund, find, other("POST", "/refunds/{id}", "RISK_BASED")}, true},
		{"called a read", []countersign.Capability{refund, find}, []countersign.Capability{refund, find, edited(other("POST", "/refunds/{id}", ""), func(c *countersign.Capability) { c.SideEffect = &no })}, true},
		{"renamed with approval NONE", []countersign.Capability{refund, find}, []countersign.Capability{find, other("POST", "/refunds/{id}", "NONE")}, true},
		{"renamed as it is", []countersign.Capability{refund, find}, []countersign.Capability{find, edited(refund, func(c *countersign.Capability) { c.Name = "payback" })}, false},
		{"a second one as strict", []countersign.Capability{refund, find}, []countersign.Capability{refund, find, other("POST", "/refunds/{id}", "ALWAYS")}, false},
		{"of another method", []countersign.Capability{refund, find}, []countersign.Capability{refund, find, other("PUT", "/refunds/{id}", "NONE")}, false},
		{"of another path", []countersign.Capability{refund, find}, []countersign.Capability{refund, find, other("POST", "/refunds/{id}/notes", "NONE")}, false},
		{"a read of its path", []countersign.Capability{refund, find}, []countersign.Capability{refund, find, other("GET", "/refunds/{id}", "")}, false},
		{"there was one already", []countersign.Capability{refund, find, other("POST", "/refunds/{id}", "NONE")}, []countersign.Capability{refund, find, edited(other("POST", "/refunds/{id}", "NONE"), func(c *countersign.Capability) { c.Name = "third" })}, false},
		{"one that was there is led to the path", []countersign.Capability{refund, find, other("POST", "/notes/{id}", "NONE")}, []countersign.Capability{refund, find, other("POST", "/refunds/{id}", "NONE")}, true},
		{"a read that is gated has a second one", []countersign.Capability{edited(find, func(c *countersign.Capability) { c.Approval = "ALWAYS" })}, []countersign.Capability{edited(find, func(c *countersign.Capability) { c.Approval = "ALWAYS" }), other("GET", "/refunds", "")}, true},
		{"a gate before what had none", []countersign.Capability{other("POST", "/refunds/{id}", "NONE")}, []countersign.Capability{refund, find, other("POST", "/refunds/{id}", "NONE")}, false},
		{"the probe looks at another path", []countersign.Capability{refund, find}, []countersign.Capability{refund, edited(find, func(c *countersign.Capability) { c.Path = "/notes" })}, true},
		{"the probe takes another field", []countersign.Capability{refund, find}, []countersign.Capability{refund, edited(find, func(c *countersign.Capability) { c.OutputField = "last" })}, true},
		{"the probe sends another query", []countersign.Capability{refund, find}, []countersign.Capability{refund, edited(find, func(c *countersign.Capability) { c.Request = &countersign.RequestMapping{Query: []string{"id"}} })}, true},
		{"the probe has a description", []countersign.Capability{refund, find}, []countersign.Capability{refund, edited(find, func(c *countersign.Capability) { c.Description, c.SideEffect = "looks", &no })}, false},
		{"a read that is no probe looks elsewhere", []countersign.Capability{edited(refund, func(c *countersign.Capability) { c.Probe, c.SideEffect = "", &yes }), find}, []countersign.Capability{edited(refund, func(c *countersign.Capability) { c.Probe, c.SideEffect = "", &yes }), edited(find, func(c *countersign.Capability) { c.Path = "/notes" })}, false},
	} {
		before, after := &countersign.Project{Capabilities: test.was}, &countersign.Project{Capabilities: test.added}
		if got := project.Weakens(nil, before, after, before.Capability); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
