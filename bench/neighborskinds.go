package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// prepare makes both tenants, and acme's large runs and long log.
func (w *neighborhood) prepare() error {
	root := w.as(bootstrap)
	token := func(tenant string, roles ...string) (string, error) {
		out, err := root.must("POST", "/tokens", object{"name": tenant + " " + strings.Join(roles, " "), "roles": roles, "tenantId": tenant})
		made, _ := out["token"].(string)
		return made, err
	}
	for _, tenant := range []string{"acme", "beta"} {
		if _, err := root.must("PUT", "/tenants/"+tenant, object{"name": tenant}); err != nil {
			return err
		}
		everything, err := token(tenant, "ADMIN", "OPERATOR")
		if err != nil {
			return err
		}
		if err := w.settle(tenant, everything); err != nil {
			return err
		}
	}
	var errs [2]error
	w.viewer, errs[0] = token("acme", "VIEWER")
	w.approver, errs[1] = token("beta", "APPROVER", "ADMIN")
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	return w.fillAcme()
}

// settle makes a tenant's project, model and plans.
func (w *neighborhood) settle(tenant, token string) error {
	p := w.as(token)
	project := tenant + "-shop"
	patterns, large := object{}, object{"note": object{"type": "string", "required": true}, "rows": object{"type": "array", "required": true}}
	for i := range patternFields {
		patterns[field(i)] = object{"type": "string", "required": false, "pattern": "[ab]{0,900}c$"}
	}
	body := object{
		"name": "shop", "adapter": "HTTP_JSON", "baseUrl": w.r.origin, "healthPath": "/health", "auth": object{"type": "HMAC", "credentialEnv": "BENCH_SECRET"},
		"capabilities": []object{
			{"name": "post", "method": "POST", "path": "/step", "sideEffect": true, "approval": "NONE"},
			{"name": "ask", "method": "POST", "path": "/step", "sideEffect": true, "approval": "ALWAYS"},
			{"name": "patterns", "method": "POST", "path": "/step", "sideEffect": true, "approval": "NONE", "inputSchema": patterns},
			{"name": "ruled", "method": "POST", "path": "/step", "sideEffect": true, "approval": "NONE", "inputSchema": object{"amount": object{"type": "number", "required": true}}, "approvalRules": ruled()},
			{"name": "large", "method": "POST", "path": "/step", "sideEffect": true, "approval": "NONE", "inputSchema": large},
		},
	}
	if _, err := p.must("PUT", "/projects/"+project, body); err != nil {
		return err
	}
	if _, err := p.must("POST", "/projects/"+project+"/health-check", nil); err != nil {
		return err
	}
	if _, err := p.must("POST", "/projects/"+project+"/enable", object{"expectedRevision": 1}); err != nil {
		return err
	}
	if _, err := p.must("PUT", "/models/bench", object{"document": model()}); err != nil {
		return err
	}
	plan := func(mode, capability string) (string, error) {
		step := object{"id": "s", "name": "s", "projectId": project, "capability": capability, "input": object{"order": "ord-000123"}}
		made, err := p.must("POST", "/plans", object{"name": capability, "modelId": "bench", "modelRevision": 1, "mode": mode, "steps": []object{step}})
		if err == nil && made["status"] != "READY" {
			err = fmt.Errorf("plan: %v", made["validationErrors"])
		}
		id, _ := made["id"].(string)
		return id, err
	}
	dry, err := plan("DRY_RUN", "post")
	if err != nil {
		return err
	}
	live, err := plan("LIVE", "ask")
	if tenant == "acme" {
		w.acme, w.acmeLive = token, dry
	} else {
		w.beta, w.betaDry, w.betaLive = token, dry, live
	}
	return err
}

const (
	patternFields = 90
	predicates    = 1900 // of each of five groups
)

func field(i int) string { return "s" + strconv.Itoa(i) }

// ruled are rules with very many predicates, none of which holds.
func ruled() (rules []object) {
	for g := range 5 {
		var conditions []object
		for i := range predicates {
			conditions = append(conditions, object{"kind": "predicate", "variableId": "amount", "operator": "lt", "value": -(g*predicates + i)})
		}
		rules = append(rules, object{"when": object{"kind": "group", "combinator": "OR", "conditions": conditions}, "then": "ASK", "reason": "measured"})
	}
	return rules
}

// fillAcme makes acme's runs.
func (w *neighborhood) fillAcme() error {
	if err := w.widen(); err != nil {
		return err
	}
	for range w.large {
		out, err := w.as(w.acme).must2("/projects/acme-shop/runs", w.largeStart(), w.key())
		if err != nil {
			return err
		}
		w.largeRun, _ = out["id"].(string)
	}
	for end := time.Now().Add(w.fill); time.Now().Before(end); {
		if _, err := w.as(w.acme).must2("/runs", object{"planId": w.acmeLive}, w.key()); err != nil {
			return err
		}
	}
	if w.only != "" && !strings.Contains(w.only, "search") && !strings.Contains(w.only, "lists") {
		return nil
	}
	fmt.Fprintln(os.Stderr, "waiting until acme's large runs are found: the index rests fifty times as long as it works")
	for end := time.Now().Add(10 * time.Minute); ; time.Sleep(time.Second) {
		out, err := w.as(w.viewer).must("GET", "/search?q=needle", nil)
		if items, _ := out["items"].([]any); err != nil || len(items) >= min(20, w.large) {
			return err
		}
		if time.Now().After(end) {
			return errors.New("acme's large runs are not found by search")
		}
	}
}

// widened is how many projects acme's wide plan has: about as many of this size as a plan may be
// made of.
const widened = 8

// widen registers acme's large projects, and makes the plan of all of them.
func (w *neighborhood) widen() error {
	if w.only != "" && !strings.Contains(w.only, "plans") {
		return nil
	}
	large := object{
		"name": "wide", "adapter": "LOCAL_ECHO",
		"capabilities": []object{{"name": "post", "method": "POST", "path": "/step", "sideEffect": true, "approval": "NONE", "inputSchema": object{"x": object{"type": "string", "required": false, "description": strings.Repeat("d", 1000<<10)}}}},
	}
	for i := range widened {
		if _, err := w.as(w.acme).must("PUT", "/projects/acme-wide"+strconv.Itoa(i), large); err != nil {
			return err
		}
	}
	made, err := w.as(w.acme).must("POST", "/plans", widePlan())
	w.acmeWide, _ = made["id"].(string)
	return err
}

func widePlan() object {
	var steps []object
	for i := range widened {
		steps = append(steps, object{"id": "s" + strconv.Itoa(i), "name": "s", "projectId": "acme-wide" + strconv.Itoa(i), "capability": "post"})
	}
	return object{"name": "wide", "modelId": "bench", "modelRevision": 1, "mode": "DRY_RUN", "steps": steps}
}

// crowd is a manifest of as many agents as one may have, all of which it changes.
func crowd(n int64) object {
	var agents []object
	for i := range 500 {
		agents = append(agents, object{"externalAgentId": fmt.Sprint("agent", n%32, "-", i), "sourceRevision": n, "name": "n", "role": "r", "goal": fmt.Sprint("g", n), "capabilities": []string{"post"}})
	}
	return object{"schemaVersion": "1.0", "agents": agents}
}

// must2 is must for a POST with an idempotency key; no slot is waited for.
func (p *product) must2(path string, body any, key string) (object, error) {
	for {
		status, out, err := p.call("POST", path, body, key)
		if err != nil || status < 300 {
			return out, err
		}
		if status != 503 {
			return out, fmt.Errorf("POST %s: %d %v", path, status, out)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (w *neighborhood) largeStart() object {
	rows := make([]string, w.kib*1024/32)
	for i := range rows {
		rows[i] = fmt.Sprintf("row %024d", i)
	}
	return object{"capability": "large", "mode": "DRY_RUN", "inputs": object{"note": "needle", "rows": rows}}
}

// neighborsKind is a kind of acme's requests. n counts them.
type neighborsKind struct {
	name string
	ask  func(n int64) error
}

// kinds are the requests of which one costs most, of each kind that there is.
func (w *neighborhood) kinds() []neighborsKind {
	text := func(v any) []byte {
		doc, err := json.Marshal(v)
		if err != nil {
			panic(err) // can't happen: they are texts and numbers
		}
		return doc
	}
	values := object{}
	for i := range patternFields {
		values[field(i)] = strings.Repeat("ab", 4999) + "c"
	}
	starts := func(body []byte) func(int64) error {
		return func(int64) error { return w.done(w.acme, "POST", "/projects/acme-shop/runs", body, w.key()) }
	}
	get := func(token string, paths ...string) func(int64) error {
		return func(n int64) error { return w.done(token, "GET", paths[n%int64(len(paths))], nil, "") }
	}
	one := func() object { return object{field(0): strings.Repeat("ab", 500) + "c"} }
	number := json.RawMessage(strings.Repeat("7", w.digits))
	wide := text(widePlan())
	large, chain := text(w.largeStart()), text(object{"document": chainModel()})
	return []neighborsKind{
		{"patterns", starts(text(object{"capability": "patterns", "mode": "DRY_RUN", "inputs": values}))},
		{"pattern", starts(text(object{"capability": "patterns", "mode": "DRY_RUN", "inputs": one()}))},
		{"rules", starts(text(object{"capability": "ruled", "mode": "DRY_RUN", "inputs": object{"amount": number}}))},
		{"inputs", starts(large)},
		{"search", get(w.viewer, "/search?q=needle")},
		{"lists", get(w.viewer, "/runs?q=needle&limit=1", "/runs?limit=200", "/runs?limit=200&offset=1000", "/runs?q=needle&limit=200")},
		{"audit", get(w.acme, "/audit?limit=200", "/audit?limit=200&offset=2000", "/audit?actor=nobody&limit=200")},
		{"verify", get(w.acme, "/audit/verify")},
		{"export", get(w.acme, "/audit/export")},
		{"receipts", get(w.acme, "/runs/"+w.largeRun+"/receipt")},
		{"validate", func(int64) error { return w.done(w.acme, "POST", "/projects/acme-shop/validate", nil, "") }},
		{"sync", func(n int64) error {
			return w.done(w.acme, "POST", "/systems/acme-shop/agents/sync", text(crowd(n)), "")
		}},
		{"plans", func(n int64) error {
			if n%2 == 0 {
				return w.done(w.acme, "GET", "/plans/"+w.acmeWide, nil, "")
			}
			return w.done(w.acme, "POST", "/plans", wide, "")
		}},
		{"models", func(n int64) error { return w.done(w.acme, "PUT", "/models/m"+strconv.FormatInt(n, 10), chain, "") }},
	}
}
