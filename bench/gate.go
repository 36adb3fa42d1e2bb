package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// gate is the benchmark of what the gate adds to a call: one client makes one call after the
// other, bare and through the product, in turns.
type gate struct {
	workload
	reps   int
	phase  time.Duration
	before string
	*testbed
	rows []*gateRow
}

// gateRow is one way to make a call.
type gateRow struct {
	name    string
	product *product // nil: the call is bare
	calls   int      // in one go
	once    func(n int) error

	p50, p99, adds []time.Duration // one element per repetition
	inSyncs, cpu   []float64
	syncs          float64 // a call; counted once
	n              int
}

func measureGate(args []string) (err error) {
	var m gate
	f := flag.NewFlagSet("bench gate", flag.ExitOnError)
	m.flags(f)
	f.StringVar(&m.before, "before", "", "an earlier build of the product, measured beside this one")
	f.IntVar(&m.reps, "reps", 5, "repetitions")
	f.DurationVar(&m.phase, "phase", 2*time.Second, "length of each kind's turn")
	only := f.String("only", "", "only kinds whose names contain this, beside the bare call")
	_ = f.Parse(args) // exits on an error
	m.conc = 64
	if m.testbed, err = m.start(false); err != nil {
		return err
	}
	defer m.clear()
	if m.before != "" {
		if err := m.addEarlier(m.before, m.conc); err != nil {
			return err
		}
	}
	if m.rows, err = m.kindsOf(m.p, m.earlier); err != nil {
		return err
	}
	m.rows = slices.DeleteFunc(m.rows, func(k *gateRow) bool { return k.product != nil && !strings.Contains(k.name, *only) })
	return m.measure()
}

func (m *gate) measure() error {
	here := watchMachine()
	var sync []time.Duration
	for rep := range m.reps {
		one, err := fdatasync(m.testbed.dir, 500*time.Millisecond)
		if err != nil {
			return err
		}
		sync = append(sync, one)
		order := slices.Clone(m.rows)
		if rep%2 == 1 {
			slices.Reverse(order)
		}
		for _, k := range order {
			if err := k.turn(m.phase); err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
		}
		bare := m.rows[0].p50[rep]
		for _, k := range m.rows {
			k.adds = append(k.adds, k.p50[rep]-bare)
			k.inSyncs = append(k.inSyncs, float64(k.p50[rep]-bare)/float64(one))
		}
		fmt.Fprintf(os.Stderr, "repetition %d of %d\n", rep+1, m.reps)
	}
	if err := m.countSyncs(); err != nil {
		return err
	}
	m.print(sync)
	here.print()
	return m.p.stop()
}

// turn makes calls for d.
func (k *gateRow) turn(d time.Duration) error {
	var roots []int
	if k.product != nil {
		roots = k.product.roots()
	}
	var took []time.Duration
	before := processorTime(roots)
	for until := time.Now().Add(d); time.Now().Before(until); {
		begin := time.Now()
		if err := k.next(); err != nil {
			return err
		}
		took = append(took, time.Since(begin)/time.Duration(k.calls))
	}
	k.cpu = append(k.cpu, (processorTime(roots)-before).Seconds()*1000/float64(len(took)*k.calls))
	k.p50, k.p99 = append(k.p50, quantile(took, 0.5)), append(k.p99, quantile(took, 0.99))
	return nil
}

func (k *gateRow) next() error {
	k.n++
	return k.once(k.n)
}

// countSyncs makes some calls to processes whose syncs are traced.
func (m *gate) countSyncs() error {
	for _, p := range []*product{m.p, m.earlier} {
		if p == nil {
			continue
		}
		if err := p.stop(); err != nil {
			return err
		}
		p.trace = p.dir + ".syncs"
		if err := p.start(); err != nil {
			fmt.Fprintln(os.Stderr, "NOT MEASURED: syncs:", err)
			return nil
		}
	}
	const some = 100
	for _, k := range m.rows {
		if k.product == nil {
			continue
		}
		before, err := k.product.syncs()
		for range some / k.calls {
			err = errors.Join(err, k.next())
		}
		after, countErr := k.product.syncs()
		if err := errors.Join(err, countErr); err != nil {
			return err
		}
		k.syncs = float64(after-before) / some
	}
	return nil
}

func (m *gate) print(sync []time.Duration) {
	printMachine()
	fmt.Printf("\n### What the gate adds to a call\n\n%d repetitions, one client, one call after the other; an fdatasync took %s. What is added is to the bare call of the same repetition.\n\n", m.reps, spreadOf(sync))
	fmt.Println("| | p50 | p99 | Adds | Of a sync | CPU ms a call | Syncs a call |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|")
	for _, k := range m.rows {
		fmt.Printf("| %s | %s | %s | %s | %s | %s | %.1f |\n", k.name, spreadOf(k.p50), spreadOf(k.p99), spreadOf(k.adds), spread("%.1f", k.inSyncs), spread("%.2f", k.cpu), k.syncs)
	}
	if m.earlier == nil {
		return
	}
	fmt.Printf("\n| To the build before, in a repetition | p50 | CPU |\n|---|--:|--:|\n")
	for _, k := range m.rows {
		for _, was := range m.rows {
			if k.product == m.p && was.product == m.earlier && k.name+beforeSuffix == was.name {
				fmt.Printf("| %s | %s | %s |\n", k.name, spread("%.2f", ratios(k.p50, was.p50)), spread("%.2f", ratios(k.cpu, was.cpu)))
			}
		}
	}
}

func ratios[T float64 | time.Duration](of, to []T) (out []float64) {
	for i := range of {
		out = append(out, float64(of[i])/float64(to[i]))
	}
	return out
}

// gated are the capabilities whose calls are measured: each with one thing that the gate looks at.
var gated = []struct {
	name, costs string
	api, mcp    bool // the ways in which it is called
	with        object
}{
	{"plain", "", true, true, nil},
	// of an agent's calls few may look in a minute
	{"looked", ", with a precondition", true, false, object{"precondition": object{"capability": "state", "fields": []string{"ok"}}}},
	{"ruled", ", with a rule", false, true, object{"approvalRules": []object{{"when": predicate("amount", "gt", 1_000_000), "then": "ASK", "reason": "much"}}}},
	{"budgeted", ", with a budget", false, true, object{"budgets": []object{{"count": 1_000_000_000, "window": "1h", "then": "ASK", "reason": "much"}}}},
}

// kindsOf registers what is called, and gives the ways to call it: bare, and of each product. What
// is compared comes one after the other.
func (m *gate) kindsOf(products ...*product) ([]*gateRow, error) {
	rows := []*gateRow{{name: "The bare call", calls: 1, once: func(n int) error { return m.r.post("", n) }}}
	var of [][]*gateRow
	for i, p := range products {
		if p == nil {
			continue
		}
		ways, err := p.gatedWays(m.steps, [...]string{"", beforeSuffix}[i])
		if err != nil {
			return nil, err
		}
		of = append(of, ways)
	}
	for i := range of[0] {
		for _, ways := range of {
			rows = append(rows, ways[i])
		}
	}
	return rows, nil
}

// beforeSuffix is what the names of the earlier build's rows end with.
const beforeSuffix = ", before"

func (p *product) gatedWays(steps int, suffix string) ([]*gateRow, error) {
	p.token, p.keys = bootstrap, p.keys+"gate-"
	made, err := p.must("POST", "/tokens", object{"name": "gate", "roles": []string{"ADMIN", "OPERATOR"}})
	if err != nil {
		return nil, err
	}
	p.token = made["token"].(string)
	agents, err := p.gatedAgents()
	if err != nil {
		return nil, err
	}
	ways := []*gateRow{{name: fmt.Sprintf("A step of a plan of %d%s", steps, suffix), product: p, calls: steps, once: func(int) error { _, err := p.runOnce(); return err }}}
	for _, g := range gated {
		if g.api {
			ways = append(ways, &gateRow{name: "A call over the API" + g.costs + suffix, product: p, calls: 1, once: func(int) error { return p.callByAPI(g.name) }})
		}
		if g.mcp {
			ways = append(ways, &gateRow{name: "A tool call over MCP" + g.costs + suffix, product: p, calls: 1, once: func(n int) error { return p.callTool(agents["gate"], g.name, n) }})
		}
	}
	return append(ways, &gateRow{name: "A tool call over MCP, its answer signed" + suffix, product: p, calls: 1, once: func(n int) error { return p.callTool(agents["signed"], "plain", n) }}), nil
}

// gatedAgents registers two projects, of which one signs its answers, with an agent each.
func (p *product) gatedAgents() (map[string]string, error) {
	ids := map[string]string{}
	for _, name := range []string{"gate", "signed"} {
		var capabilities []object
		var names []string
		for _, g := range gated {
			c := object{"name": g.name, "method": "POST", "path": "/" + name, "sideEffect": true, "approval": "NONE", "expectation": object{"field": "ok", "equals": true}}
			for k, v := range g.with {
				c[k] = v
			}
			capabilities, names = append(capabilities, c), append(names, g.name)
		}
		capabilities = append(capabilities, object{"name": "state", "method": "GET", "path": "/state"})
		project := object{"name": name, "adapter": "HTTP_JSON", "baseUrl": p.r.origin, "healthPath": "/health", "auth": object{"type": "HMAC", "credentialEnv": "BENCH_SECRET"}, "capabilities": capabilities}
		if name == "signed" {
			project["answerKeys"] = []string{"ed25519:" + hex.EncodeToString(answerKey.Public().(ed25519.PublicKey))}
		}
		id := "/projects/default-" + name
		steps := []struct {
			method, path string
			body         any
		}{
			{"PUT", id, project}, {"POST", id + "/health-check", nil}, {"POST", id + "/enable", object{"expectedRevision": 1}},
			{"POST", "/systems/default-" + name + "/agents/sync", object{"schemaVersion": "1.0", "agents": []object{{"externalAgentId": "gate", "sourceRevision": 1, "name": name, "role": "clerk", "goal": "help", "capabilities": names}}}},
		}
		var out object
		for _, s := range steps {
			var err error
			if out, err = p.must(s.method, s.path, s.body); err != nil {
				return nil, err
			}
		}
		ids[name] = out["items"].([]any)[0].(object)["id"].(string)
		if _, err := p.must("POST", "/agents/"+ids[name]+"/admit", object{"reason": "bench"}); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// callTool makes a LIVE call as a client of MCP does, whose answer must be that it is done.
func (p *product) callTool(agent, tool string, n int) error {
	arguments := bytes.TrimSuffix(payload("bench", 1), []byte("}"))
	doc := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"task":"%s%d"}}}`, n, tool, arguments, p.keys, n)
	q, err := http.NewRequest(http.MethodPost, strings.TrimSuffix(p.base, "/v1")+"/mcp/agents/"+agent, bytes.NewReader(doc))
	if err != nil {
		return err
	}
	q.Header.Set("Authorization", "Bearer "+p.token)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	q.Header.Set("MCP-Protocol-Version", "2025-06-18")
	resp, err := client.Do(q)
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err == nil && !bytes.Contains(answer, []byte(`"structuredContent":{"outcome":"DONE"`)) {
		err = fmt.Errorf("%d %s", resp.StatusCode, answer)
	}
	return err
}

// callByAPI starts a run of one capability and waits for its end.
func (p *product) callByAPI(capability string) error {
	doc := fmt.Appendf(nil, `{"capability":%q,"mode":"LIVE","inputs":%s}`, capability, payload("bench", 1))
	status, head, err := p.exchangeHead("POST", "/projects/default-gate/runs", doc, p.key())
	if err == nil && status != http.StatusAccepted {
		err = fmt.Errorf("%d %s", status, head)
	}
	if err != nil {
		return err
	}
	return p.await(member(head, "id"))
}

// signedPath is where calls are answered with a signature, by answerKey.
const signedPath = "/signed"

var answerKey = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

// sign signs an answer as receivers of Countersign do.
func sign(h http.Header, q *http.Request, body, answer []byte) {
	at := strconv.FormatInt(time.Now().Unix(), 10)
	lines := []string{"countersign-answer/1", q.Header.Get("Idempotency-Key"), q.Header.Get("X-Runtime-Timestamp"), q.Method, q.RequestURI, sha256Hex(body), "200", sha256Hex(answer), at}
	h.Set("X-Runtime-Answer", "v1 "+at+" "+hex.EncodeToString(ed25519.Sign(answerKey, []byte(strings.Join(lines, "\n")))))
}

func sha256Hex(doc []byte) string {
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:])
}
