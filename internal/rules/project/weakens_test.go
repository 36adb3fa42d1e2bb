package project_test

import (
	"strconv"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/cost"
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
	path := func(text bool) map[string]countersign.InputField {
		return map[string]countersign.InputField{"file": {Type: "string", PathText: text}}
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
		{"an input or output that viewers see from now on", post(func(c *countersign.Capability) { c.Sensitive = []string{"iban", "name"} }), post(func(c *countersign.Capability) { c.Sensitive = []string{"name"} }), true},
		{"one more that they don't", post(func(c *countersign.Capability) { c.Sensitive = []string{"name"} }), post(func(c *countersign.Capability) { c.Sensitive = []string{"iban", "name"} }), false},
		{"an input of the path that takes any text from now on", post(func(c *countersign.Capability) { c.InputSchema = path(false) }), post(func(c *countersign.Capability) { c.InputSchema = path(true) }), true},
		{"a first input of the path that does", post(same), post(func(c *countersign.Capability) { c.InputSchema = path(true) }), true},
		{"one that did and takes ids alone now", post(func(c *countersign.Capability) { c.InputSchema = path(true) }), post(func(c *countersign.Capability) { c.InputSchema = path(false) }), false},
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

// TestOtherHeadersOrAnotherAccountWeaken: the inputs that approvers compare stay the same, and
// mean something else.
func TestOtherHeadersOrAnotherAccountWeaken(t *testing.T) {
	known := func(string) *countersign.Capability { return nil }
	headers := func(list countersign.Headers) *countersign.Project { return &countersign.Project{Headers: list} }
	as := func(kind, user string) *countersign.Project {
		return &countersign.Project{Auth: countersign.OneAuth(countersign.Auth{Type: kind, User: user, CredentialEnv: "KEY"})}
	}
	staging, production := countersign.Headers{"X-Environment": "staging"}, countersign.Headers{"X-Environment": "production"}
	several := &countersign.Project{Auth: &countersign.Auths{Several: []countersign.Auth{{Type: "API_KEY", HeaderName: "X-Key"}, {Type: "BASIC", User: "desk"}}}}
	for _, test := range []struct {
		name          string
		before, after *countersign.Project
		want          bool
	}{
		{"the same headers", headers(staging), headers(countersign.Headers{"X-Environment": "staging"}), false},
		{"another value", headers(staging), headers(production), true},
		{"a header is gone", headers(staging), headers(nil), true},
		{"a first header", headers(nil), headers(production), true},
		{"the same user", as("BASIC", "desk"), as("BASIC", "desk"), false},
		{"another user", as("BASIC", "desk"), as("BASIC", "root"), true},
		{"no user any more", as("BASIC", "desk"), as("BEARER", ""), true},
		{"one of several keys", several, as("BASIC", "root"), true},
		{"the same user beside another key", several, as("BASIC", "desk"), false},
	} {
		if got := project.Weakens(nil, test.before, test.after, known); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// TestWhatFieldsOfAnEditAreComparedByIsCounted: many capabilities of one path are each compared
// with each, in all their fields. Where it is too much, the edit counts as one that weakens.
func TestWhatFieldsOfAnEditAreComparedByIsCounted(t *testing.T) {
	before := &countersign.Project{}
	for i := range 100 {
		c := countersign.Capability{Name: "c" + strconv.Itoa(i), Method: "POST", Path: "/c", Approval: countersign.ApprovalAlways}
		for n := range 100 {
			c.Sensitive = append(c.Sensitive, "field"+strconv.Itoa(n))
		}
		before.Capabilities = append(before.Capabilities, c)
	}
	m := cost.New(t.Context(), 100_000, 0)
	if !project.Weakens(m, before, before, before.Capability) || !m.Over() {
		t.Errorf("%d steps", m.Spent())
	}
	if project.Weakens(cost.New(t.Context(), cost.Most, 0), before, before, before.Capability) {
		t.Error("the same weakens")
	}
}
