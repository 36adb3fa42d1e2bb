package abuse

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// mostJudged is the CPU time of the costliest request that may be judged, as a multiple of an
// honest document of a mebibyte: it is judged at its start and at the gate.
const mostJudged = 60

// TestJudgingIsBoundedAsAWhole: starts of schemas, rules and values that are near their own bounds, whose
// costs multiply. Each is refused or runs, at a bounded cost, and other callers are answered meanwhile.
func TestJudgingIsBoundedAsAWhole(t *testing.T) {
	v := serve(t, 0)
	inputs := map[string]any{"amount": doc{"type": "number", "required": false}}
	for i := range 90 {
		inputs[fmt.Sprintf("s%d", i)] = doc{"type": "string", "required": false, "pattern": "[ab]{0,900}c$"}
	}
	rule := doc{"then": "ASK", "reason": "r", "when": doc{"kind": "group", "combinator": "OR", "conditions": numbered(9500, func(i int) any {
		return doc{"kind": "predicate", "variableId": "amount", "operator": "lt", "value": -1 - i}
	})}}
	v.Admin.Put("/projects/default-costly", doc{"name": "n", "adapter": "LOCAL_ECHO", "capabilities": []any{
		doc{"name": "match", "method": "POST", "path": "/match", "approval": "NONE", "inputSchema": inputs},
		doc{"name": "compare", "method": "POST", "path": "/compare", "approval": "RISK_BASED", "inputSchema": inputs, "approvalRules": []any{rule}},
	}}).OK(t)
	v.Admin.Post("/projects/default-costly/health-check", nil).OK(t)
	v.Admin.Post("/projects/default-costly/enable", doc{"expectedRevision": 1}).OK(t)
	texts := func(n, length int) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf(`"s%d":%q`, i, strings.Repeat("ab", length/2)+"c")
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	unit := v.honest(t)
	others := v.askBeside(t)
	for i, c := range []struct{ name, capability, inputs, answer string }{
		{"one long text", "match", texts(1, 9998), ""},
		{"two long texts", "match", texts(2, 9998), "inputs.s1: judging"},
		{"forty long texts", "match", texts(40, 9998), "inputs.s1"},
		{"ninety long texts", "match", texts(90, 9998), "inputs.s1"},
		{"ninety texts", "match", texts(90, 100), ""},
		{"digits without end", "compare", `{"amount":` + strings.Repeat("9", 900_000) + `}`, "inputs.amount: a number of 900000 characters"},
		{"as many digits as may be", "compare", `{"amount":` + strings.Repeat("9", 4096) + `}`, "approvalRules: judging"},
		{"many digits", "compare", `{"amount":` + strings.Repeat("9", 1900) + `}`, ""},
	} {
		for _, mode := range []string{"DRY_RUN", "LIVE"} {
			body := fmt.Sprintf(`{"capability":%q,"mode":%q,"inputs":%s}`, c.capability, mode, c.inputs)
			var a *harness.Answer
			before := v.spent(t)
			others.during(func() {
				a = v.operator.Post("/projects/default-costly/runs", body, harness.Header("Idempotency-Key: k"+strconv.Itoa(i)+mode))
				if a.Status == 202 {
					v.ended(t, a.At("id").Text())
				}
			})
			work := (v.spent(t).cpu - before.cpu) / unit
			t.Logf("%-26s %s: %d, %5.1f times an honest document", c.name, mode, a.Status, work)
			if refused := a.Status == 400 && c.answer != "" && strings.Contains(a.Raw, c.answer); !refused && (a.Status != 202 || c.answer != "") || work > mostJudged {
				t.Errorf("%s, %s: %d %.200s, with %.1f times the work of an honest document", c.name, mode, a.Status, a.Raw, work)
			}
		}
	}
	others.leave()
	if n := others.answered.Load(); n < 10 {
		t.Errorf("others were answered %d times meanwhile", n)
	}
}

// ended waits until a run has ended, or waits for a person.
func (v *victim) ended(t *testing.T, id string) {
	t.Helper()
	harness.Until(t, "the run to end", func() bool {
		return slices.Contains([]string{"COMPLETED", "FAILED", "WAITING_APPROVAL"}, v.operator.Get("/runs/"+id).OK(t).At("status").Text())
	})
}
