package test

import (
	"strings"
	"testing"
)

// TestOperationsAreChosenByTheGroupsOfTheirDocument: each is ticked at once, and asks as one says.
func TestOperationsAreChosenByTheGroupsOfTheirDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.person(t, "ada@example.com", "ADMIN")
	var b strings.Builder
	b.WriteString("openapi: 3.0.3\ninfo: {title: Shop, version: '1'}\nservers: [{url: '" + w.shop.Origin() + "'}]\npaths:\n")
	for _, o := range [][2]string{{"orders", "list"}, {"orders", "count"}, {"money & <more>", "balance"}, {"", "alone"}} {
		tags := ""
		if o[0] != "" {
			tags = "      tags: ['" + o[0] + "']\n"
		}
		b.WriteString("  /" + o[1] + ":\n    get:\n      operationId: " + o[1] + "\n" + tags + "      responses: {'200': {description: OK, content: {application/json: {schema: {type: object}}}}}\n")
	}
	p := uploads(t, ada, sheetFields(ada.Open(importForm), "id", "grouped"), b.String())
	mustSay(t, p, 200, "0 of 2 chosen: 2 read, 0 change something", "0 of 1 chosen: 1 reads", "Without a group")
	p = ada.Submit(importForm, asShown(p, "do", "tick orders"))
	mustSay(t, p, 200, "2 of 4 chosen", "Untick 2")
	p = ada.Submit(importForm, asShown(p, "do", "tick money & <more>"))
	mustSay(t, p, 200, "3 of 4 chosen")
	p = ada.Submit(importForm, asShown(p, "do", "untick orders"))
	mustSay(t, p, 200, "1 of 4 chosen")
	p = ada.Submit(importForm, asShown(p, "do", "tick orders", "policy.money & <more>", "ALWAYS", "policy.orders", "NONE"))
	mustHold(t, p, `<option value="ALWAYS" selected>`)
	p = ada.Submit(importForm, asShown(p, "do", "connect", "policy.orders", "NONE"))
	leads(t, ada.Submit(importForm, asShown(p, "do", "register", "auth.type", "NONE")), "/projects/default-grouped")
	made := w.Admin.Get("/projects/default-grouped").OK(t)
	for _, c := range made.At("capabilities").Items() {
		want := map[string]string{"balance": "ALWAYS"}[c.At("name").Text()]
		if got := c.At("approval").Text(); got != want && (want != "" || got != "NONE") {
			t.Errorf("%s asks %q", c.At("name").Text(), got)
		}
	}
}
