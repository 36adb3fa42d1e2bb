package main

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// prepare registers the receiver as a project, stores a model and creates the plan of the
// canonical workload: sequential POSTs, each verified.
func (p *product) prepare() error {
	_, err := p.must("PUT", "/projects/default-bench", object{
		"name": "bench", "adapter": "HTTP_JSON", "baseUrl": p.r.origin, "healthPath": "/health",
		"auth":         object{"type": "HMAC", "credentialEnv": "BENCH_SECRET"},
		"capabilities": []object{{"name": "post", "method": "POST", "path": "/step", "sideEffect": true, "approval": "NONE"}},
	})
	if err != nil {
		return err
	}
	if _, err := p.must("POST", "/projects/default-bench/health-check", nil); err != nil {
		return err
	}
	if _, err := p.must("POST", "/projects/default-bench/enable", object{"expectedRevision": 1}); err != nil {
		return err
	}
	made, err := p.must("POST", "/tokens", object{"name": "bench", "roles": []string{"OPERATOR"}})
	if err != nil {
		return err
	}
	p.token = made["token"].(string)
	if _, err := p.must("PUT", "/models/bench", object{"document": model()}); err != nil {
		return err
	}
	plan, err := p.must("POST", "/plans", object{"name": "bench", "modelId": "bench", "modelRevision": 1, "mode": "LIVE", "steps": steps(p.r.steps)})
	if err != nil {
		return err
	}
	if plan["status"] != "READY" {
		return fmt.Errorf("plan: %v", plan["validationErrors"])
	}
	p.plan = plan["id"].(string)
	return nil
}

func steps(n int) []object {
	var body object
	if err := json.Unmarshal(payload("bench", 1), &body); err != nil {
		panic(err) // can't happen: the document is a constant
	}
	var out []object
	for i := range n {
		s := object{"id": "s" + strconv.Itoa(i), "name": "step", "projectId": "default-bench", "capability": "post", "input": body, "expectation": object{"field": "ok", "equals": true}}
		if i > 0 {
			s["dependsOn"] = []string{"s" + strconv.Itoa(i-1)}
		}
		out = append(out, s)
	}
	return out
}

func model() object {
	state := func(id string, first, last bool) object {
		return object{"id": id, "name": id, "meaning": id, "isStart": first, "isFinal": last, "position": object{"x": 0, "y": 0}}
	}
	return object{
		"schemaVersion": "1.0.0", "id": "bench", "name": "bench", "description": "bench", "revision": 1, "updatedAt": "2026-01-01T00:00:00Z",
		"agent":     object{"id": "a", "name": "a", "role": "r", "user": "u", "goal": "g", "completionCriteria": "c"},
		"scope":     object{"allowedActions": "a", "limits": "l", "askUserWhen": "n"},
		"variables": []object{}, "actions": []object{}, "scenarios": []object{},
		"states": []object{state("s", true, false), state("e", false, true)},
		"transitions": []object{{"id": "t", "name": "t", "fromStateId": "s", "toStateId": "e", "priority": 0,
			"condition": object{"kind": "group", "combinator": "AND", "conditions": []object{}}}},
	}
}
