package judge

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/campaign"
	"github.com/countersign/countersign/test/harness"
	"github.com/countersign/countersign/test/judge/evaluator"
)

var (
	edits    = campaign.SizeFlag("edited", 20, 300, "how many projects are drawn and edited")
	editSeed = campaign.SeedFlag("edit-seed")
)

// TestAnEditIsMarkedAsWeakeningAsASecondImplementationSays edits drawn projects, one change at a time, and compares what
// the audit log says of each. It would notice: each sentence is negated, and something must differ.
func TestAnEditIsMarkedAsWeakeningAsASecondImplementationSays(t *testing.T) {
	b := beds(t, 1)[0]
	told := map[string]bool{}
	b.receiver.begins(t, "/edited")
	first := editSeed.First(t)
	for i := range uint64(edits.N()) {
		b.edit(t, first+i, told)
	}
	for n := range uint64(20) { // always the same
		b.edit(t, n+1, told)
	}
	for _, sentence := range evaluator.Weakenings() {
		if !told[sentence] && !t.Failed() {
			t.Errorf("nothing tells %q from its negation", sentence)
		}
	}
}

func (b *bed) edit(t *testing.T, of uint64, told map[string]bool) {
	t.Helper()
	b.sequences++
	id := fmt.Sprintf("%s-e%d", b.tenant, b.sequences)
	guards := evaluator.Edits(of)
	for i, g := range guards {
		p := guarded(g, b.receiver.origin())
		if i > 0 {
			p["expectedRevision"] = i
		}
		b.must(t, "admin", "PUT", "/projects/"+id, p)
		if i == 0 {
			continue
		}
		record := b.must(t, "admin", "GET", "/audit?limit=1&subject=project/"+id, nil)
		got, _ := record.at("items.0.weakens").(bool)
		was := guards[i-1]
		if evaluator.Open(was, g) {
			continue
		}
		if want := evaluator.Weakens(was, g, ""); got != want {
			t.Errorf("-edit-seed %d: weakens is %v, predicted %v\n# from\n%s\n# to\n%s\n# %s", of, got, want, written(t, guarded(was, "")), written(t, p), record)
		}
		for _, sentence := range evaluator.Weakenings() {
			told[sentence] = told[sentence] || got != evaluator.Weakens(was, g, sentence)
		}
	}
}

// guarded is a project whose one capability that acts is guarded so.
func guarded(g evaluator.Guard, origin string) doc {
	amount := func(operator, value string) doc {
		return doc{"kind": "predicate", "variableId": "amount", "operator": operator, "value": json.Number(value)}
	}
	who := doc{"type": "string", "required": true}
	if g.PathText {
		who["pathText"], who["pattern"] = true, "^[a-z/]+$"
	}
	c := doc{"name": "pay", "method": "POST", "path": "/edited/{who}", "approval": g.Approval, "timeoutMs": g.Timeout, "inputSchema": doc{"amount": doc{"type": "number", "required": true}, "who": who}}
	var rules []any
	if g.AskAbove != "" {
		r := doc{"when": amount("gt", g.AskAbove), "then": "ASK", "reason": "r"}
		if g.Approvals > 0 {
			r["approvals"] = g.Approvals
		}
		if len(g.Groups) > 0 {
			r["groups"] = g.Groups
		}
		rules = append(rules, r)
	}
	if g.AllowTo != "" {
		rules = append(rules, doc{"when": amount("lte", g.AllowTo), "then": "ALLOW", "reason": "r"})
	}
	if g.DenyAbove != "" {
		rules = append(rules, doc{"when": amount("gt", g.DenyAbove), "then": "DENY", "reason": "r"})
	}
	for name, v := range map[string]any{"approvalRules": rules, "sensitive": g.Sensitive, "probe": g.Probe} {
		if text := fmt.Sprint(v); strings.Trim(text, "[]") != "" {
			c[name] = v
		}
	}
	if g.Budget > 0 {
		c["budgets"] = []doc{{"count": g.Budget, "window": g.Window, "then": g.Then, "reason": "r"}}
	}
	if g.Expectation != "" {
		c["expectation"] = doc{"field": "status", "equals": g.Expectation}
	}
	if g.Must != "" {
		c["precondition"] = doc{"capability": "state", "fields": []string{"s"}, "when": doc{"kind": "predicate", "variableId": "s", "operator": "eq", "value": g.Must}}
	}
	reads := func(name string) doc { return doc{"name": name, "method": "GET", "path": "/edited/" + name} }
	p := doc{"name": "edited", "adapter": "HTTP_JSON", "baseUrl": origin, "auth": doc{"type": "HMAC", "credentialEnv": harness.SecretEnv}, "capabilities": []any{c, reads("find"), reads("look"), reads("state")}}
	if g.Header != "" {
		p["headers"] = doc{"X-Shop": g.Header}
	}
	return p
}
