package abuse

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// hostile is an expensive request.
type hostile struct {
	name, method, path string
	body               any
}

const full = 1<<20 - 1000

// filled repeats a part until a body is full.
func filled(before, part, after string) string {
	return before + strings.TrimSuffix(strings.Repeat(part, (full-len(before)-len(after))/len(part)), ",") + after
}

func numbered(n int, one func(i int) any) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = one(i)
	}
	return out
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// plans are plans that are expensive to validate.
func plans(t *testing.T) []hostile {
	t.Helper()
	bound := doc{}
	for i := range 16000 {
		bound[fmt.Sprintf("i%d", i)] = doc{"stepId": "z", "field": "f"}
	}
	step := func(id string, more doc) any {
		s := doc{"id": id, "name": "", "projectId": "default-shop", "capability": "note"}
		for name, v := range more {
			s[name] = v
		}
		return s
	}
	plan := func(steps ...any) string {
		return text(t, doc{"name": "n", "modelId": "refund", "modelRevision": 1, "steps": steps})
	}
	chained := numbered(100, func(i int) any {
		return step(fmt.Sprintf("s%d", i), doc{"dependsOn": numbered(900, func(n int) any { return fmt.Sprintf("s%d", (i+n)%100) })})
	})
	long := plan(step("a", doc{"dependsOn": append(numbered(60000, func(int) any { return "b" }), "z"), "inputBindings": bound}), step("b", nil), step("z", nil))
	return []hostile{
		{"bindings behind repeated dependencies", "POST", "/plans", long},
		{"everything depends on everything, often", "POST", "/plans", plan(chained...)},
		{"steps without end", "POST", "/plans", filled(`{"name":"n","modelId":"refund","modelRevision":1,"steps":[`, `{"id":"s","name":"n","projectId":"p","capability":"c"},`, `]}`)},
		{"dependencies that aren't", "POST", "/plans", plan(step("a", doc{"dependsOn": numbered(80000, func(i int) any { return fmt.Sprintf("x%d", i) })}))},
		{"inputs without end", "POST", "/plans", plan(step("a", doc{"input": doc{"x": strings.Repeat("é", 200000), "y": numbered(200000, func(int) any { return 1 })}}))},
	}
}

// models are models that are expensive to explore.
func models(t *testing.T) []hostile {
	t.Helper()
	counter := harness.Model("counter") // counts in binary: it would take 2^60 steps
	var variables, transitions, actions []any
	for i := range 60 {
		name := fmt.Sprintf("b%d", i)
		variables = append(variables, doc{"id": name, "name": name, "kind": "memory", "type": "boolean", "defaultValue": false, "source": "s"})
		conditions := []any{harness.Predicate(name, "eq", false)}
		effects := []any{doc{"variableId": name, "value": true}}
		for j := range i {
			conditions = append(conditions, harness.Predicate(fmt.Sprintf("b%d", j), "eq", true))
			effects = append(effects, doc{"variableId": fmt.Sprintf("b%d", j), "value": false})
		}
		actions = append(actions, doc{"id": "a" + name, "name": "a", "description": "", "inputs": []any{}, "simulatedResult": "", "memoryEffects": effects})
		transitions = append(transitions, harness.Transition("t"+name, "start", "start", i, harness.Group("AND", conditions...), "a"+name))
	}
	counter["variables"], counter["transitions"], counter["actions"] = variables, transitions, actions
	scenario := harness.Scenario("small", doc{}, "start", []any{}, "")
	counter["scenarios"] = numbered(1500, func(i int) any { return harness.With(scenario, "id", fmt.Sprintf("s%d", i)) })
	wide := harness.Model("wide")
	wide["transitions"] = numbered(5000, func(i int) any {
		return harness.Transition(fmt.Sprintf("t%d", i), "start", "start", i, harness.Predicate("amount", "eq", i), "")
	})
	deep := harness.Group("AND", harness.Predicate("amount", "gt", 0))
	for range 27 {
		deep = harness.Group("OR", deep, harness.Group("AND"))
	}
	nested := harness.Model("nested")
	nested["transitions"] = numbered(220, func(i int) any { return harness.Transition(fmt.Sprintf("t%d", i), "start", "review", i, deep, "") })
	var out []hostile
	for _, m := range []doc{counter, wide, nested} {
		id := m["id"].(string)
		out = append(out, hostile{id + ": stored", "PUT", "/models/" + id, text(t, doc{"document": m})}, hostile{id + ": validated", "POST", "/models/" + id + "/validate", nil},
			hostile{id + ": simulated", "POST", "/models/" + id + "/simulate", doc{"scenarioId": "s1"}},
			hostile{id + ": compiled", "POST", "/models/" + id + "/compile-plan", doc{"scenarioId": "s1", "actionBindings": doc{}}})
	}
	return out
}

// wants are requests that are expensive to decode, list or filter.
func wants(t *testing.T) []hostile {
	t.Helper()
	query := func(one func(i int) string, n int) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = one(i)
		}
		return strings.Join(parts, "&")
	}
	manifest := doc{"schemaVersion": "1.0", "agents": numbered(5000, func(i int) any {
		return doc{"externalAgentId": fmt.Sprintf("a%d", i), "sourceRevision": 1, "name": "n", "role": "r", "goal": "g", "capabilities": []any{"note", "note", "x"}, "modelId": "none"}
	})}
	return []hostile{
		{"deep beyond the limit", "POST", "/plans", strings.Repeat("[", 1<<19) + strings.Repeat("]", 1<<19)},
		{"deep objects", "POST", "/plans", strings.Repeat(`{"a":`, 1<<17) + "1" + strings.Repeat("}", 1<<17)},
		{"many keys", "POST", "/plans", text(t, map[string]any{"name": func() doc {
			m := doc{}
			for i := range 60000 {
				m[fmt.Sprintf("k%d", i)] = i
			}
			return m
		}()})},
		{"unknown fields without end", "POST", "/plans", filled(`{`, `"a":1,`, `}`)},
		{"a number without end", "POST", "/models/refund/simulate", `{"scenarioId":"small","inputs":{"amount":` + strings.Repeat("9", full-100) + `}}`},
		{"a huge exponent", "POST", "/models/refund/simulate", `{"scenarioId":"small","inputs":{"amount":1e999999999}}`},
		{"escapes", "POST", "/models/refund/simulate", `{"scenarioId":"` + strings.Repeat(`\u0041`, full/6-20) + `"}`},
		{"agents without end", "POST", "/systems/default-shop/agents/sync", text(t, manifest)},
		{"a team without end", "PUT", "/teams/t", filled(`{"name":"n","members":[`, `{"agentId":"a","role":"r"},`, `],"steps":[]}`)},
		{"roles without end", "POST", "/tokens", filled(`{"name":"n","roles":[`, `"ADMIN",`, `]}`)},
		{"query parameters without end", "GET", "/runs?" + query(func(i int) string { return fmt.Sprintf("p%d=1", i) }, 6000), nil},
		{"one parameter without end", "GET", "/runs?" + query(func(int) string { return "status=COMPLETED" }, 3000), nil},
		{"a filter without end", "GET", "/audit?subject=" + strings.Repeat("%41", 20000), nil},
		{"a page beyond the end", "GET", "/audit?offset=1099511627776", nil},
	}
}

// Bounds for one document: allocated bytes, and CPU time as a multiple of an honest document of the same
// size, so that they are the same on every machine.
const (
	mostAllocated = 160 << 20
	mostWork      = 20
)

// TestNoDocumentTakesLong: and other callers are answered meanwhile.
func TestNoDocumentTakesLong(t *testing.T) {
	v := serve(t, 0)
	unit := v.honest(t)
	others := v.askBeside(t)
	for _, h := range append(append(plans(t), models(t)...), wants(t)...) {
		before := v.spent(t)
		others.during(func() { v.send(t, h) })
		after := v.spent(t)
		allocated, work := after.allocated-before.allocated, (after.cpu-before.cpu)/unit
		t.Logf("%-40s %4d MiB allocated, %5.1f times an honest document", h.name, allocated>>20, work)
		if allocated > mostAllocated || work > mostWork {
			t.Errorf("%s: %d bytes were allocated, with %.1f times the work of an honest document", h.name, allocated, work)
		}
	}
	others.leave()
	now, most := v.resident(t)
	heap := v.spent(t).heap >> 20
	t.Logf("others were answered %d times meanwhile; a heap of %d MiB at most; %d MiB, %d at most", others.answered.Load(), heap, now, most)
	if n := others.answered.Load(); n < 10 {
		t.Errorf("others were answered %d times meanwhile", n)
	}
	if heap > 400 || most > 400*perByte {
		t.Errorf("a heap of %d MiB, %d MiB in all", heap, most)
	}
}
