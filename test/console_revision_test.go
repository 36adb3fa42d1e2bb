package test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

var hiddenRevision = regexp.MustCompile(`name="revision" value="(\d+)"`)

// TestAFormThatIsShownAgainReplacesTheRevisionThatItBeganWith: while a form is filled in
// somebody else saves; the form is refused or only gets more rows, and is sent again. It must
// not overwrite what it never showed.
func TestAFormThatIsShownAgainReplacesTheRevisionThatItBeganWith(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN", "OPERATOR")
	reader, writer := w.clerks(t)
	team := doc{"name": "Desk", "members": []any{doc{"agentId": reader, "role": "reads"}, doc{"agentId": writer, "role": "writes"}}, "steps": []any{teamStep("note", writer, "note", doc{})}}
	w.operator.Put("/teams/desk", team).OK(t)
	group := doc{"name": "Board", "members": []any{}}
	w.tenantAdmin.Put("/groups/board", group).OK(t)
	echo := doc{"name": "Echo", "adapter": "LOCAL_ECHO", "capabilities": []any{doc{"name": "say", "method": "GET", "path": "/say"}}}
	w.tenantAdmin.Put("/projects/default-echo", echo).OK(t)
	again := func(by *harness.Client, path string, body doc) func() {
		return func() {
			now := by.Get(path).OK(t).At("revision").Int()
			by.Put(path, harness.With(body, "expectedRevision", now)).OK(t)
		}
	}
	project, teams, groups := again(w.tenantAdmin, "/projects/default-echo", echo), again(w.operator, "/teams/desk", team), again(w.tenantAdmin, "/groups/board", group)
	for _, one := range []struct {
		name, page, path string
		meanwhile        func()
		typed            []string
	}{
		{"more rows of a capability", "/projects/default-echo/capability?name=say", "/projects/default-echo/capability?name=say", project, []string{"more", "1"}},
		{"a wrong capability", "/projects/default-echo/capability?name=say", "/projects/default-echo/capability?name=say", project, []string{"timeoutMs", "x"}},
		{"a wrong new capability", "/projects/default-echo/capability", "/projects/default-echo/capability", project, []string{"name", ""}},
		{"a wrong connection", "/projects/default-echo/edit", "/projects/default-echo/edit", project, []string{"headers", "no colon"}},
		{"a wrong project as JSON", "/projects/default-echo/document", "/projects/default-echo/document", project, []string{"document", "{"}},
		{"a wrong team as JSON", "/teams/desk/document", "/teams/desk/document", teams, []string{"document", "{"}},
		{"a wrong team by form", "/teams/desk/edit", "/teams/desk/edit", teams, []string{"name", "", "do", "save"}},
		{"a team's run without a mode", "/teams/desk/run", "/teams/desk/run", teams, []string{"mode", ""}},
		{"a wrong group", "/access/groups/board", "/access/groups/board", groups, []string{"name", ""}},
		{"a model with an error", "/models/refund/form", "/models/refund/form", func() {
			now := w.operator.Get("/models/refund").OK(t).At("revision").Int()
			w.operator.Put("/models/refund", doc{"document": harness.Model("refund"), "expectedRevision": now}).OK(t)
		}, []string{"do", "save", "model.name", ""}},
	} {
		p := ada.Open(one.page)
		began := hiddenRevision.FindString(p.Text)
		if began == "" {
			t.Errorf("%s: %s has no revision: %d", one.name, one.page, p.Status)
			continue
		}
		one.meanwhile()
		shown := ada.Submit(one.path, asShown(p, one.typed...))
		if got := hiddenRevision.FindString(shown.Text); got != began {
			t.Errorf("%s (%d): began with %s, is shown again with %s", one.name, shown.Status, began, got)
		}
		if !strings.Contains(shown.Text, "<form") {
			t.Errorf("%s: isn't shown again", one.name)
		}
	}
}

func TestAnAgentThatChangedMeanwhileIsNotAdmittedByASecondAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN", "OPERATOR")
	reader, _ := w.clerks(t)
	p := ada.Open("/agents/" + reader)
	began := hiddenRevision.FindString(p.Text)
	blank := ada.Submit("/agents/"+reader+"/suspend", asShown(p, "reason", " "))
	if got := hiddenRevision.FindString(blank.Text); got != began || began == "" {
		t.Errorf("began with %s, is shown again with %s", began, got)
	}
	shown := ada.Submit("/agents/"+reader+"/suspend", asShown(p, "reason", " ", "revision", "7"))
	if got := hiddenRevision.FindString(shown.Text); got != `name="revision" value="7"` {
		t.Errorf("posted with 7, is shown again with %s", got)
	}
}
