package evaluator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Sequence is a world and what is done in it.
type Sequence struct {
	Seed       uint64      `json:"seed"`
	World      World       `json:"world"`
	Operations []Operation `json:"operations"`
}

// drawing draws a sequence. It plays each operation on an evaluator, so that the next one is about what is there.
type drawing struct {
	*rand.Rand
	e     *Evaluator
	out   Sequence
	names int
	tools bool // whether the agent calls over MCP
	stern bool // whether people mostly reject
	lost  bool // whether much is lost on its way
}

// Draw draws the sequence of a seed: always the same.
func Draw(seed uint64) Sequence {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 57))}
	d.out = Sequence{Seed: seed, World: d.world()}
	d.e = New(d.out.World, "")
	for range 6 + d.IntN(9) {
		d.operation()
	}
	return d.out
}

func (d *drawing) chance(of int) bool { return d.IntN(of) == 0 }

func pick[T any](d *drawing, from ...T) T { return from[d.IntN(len(from))] }

func (d *drawing) world() World {
	d.tools, d.stern, d.lost = d.chance(2), d.chance(4), d.chance(4)
	w := World{Capabilities: []Capability{d.pays(), d.looks()}}
	if pays := &w.Capabilities[0]; d.chance(3) {
		pays.Precondition = d.precondition(*pays)
		w.Capabilities = append(w.Capabilities, Capability{Name: "state", Method: "GET", Inputs: map[string]Input{}})
	}
	if d.chance(4) {
		w.AgentBudgets = []Budget{{Count: 1 + d.IntN(3), Window: pick(d, "1h", "720h"), Then: pick(d, "ASK", "DENY"), Reason: "the agent's"}}
	}
	return w
}

func (d *drawing) pays() Capability {
	c := Capability{
		Name: "pay", Method: pick(d, "POST", "POST", "PUT", "PATCH", "DELETE"), Approval: pick(d, "", "NONE", "NONE", "RISK_BASED", "RISK_BASED", "ALWAYS"),
		Idempotent: d.chance(2), Expects: !d.chance(5),
		Inputs: map[string]Input{
			"amount": {Type: "number", Required: true}, "who": {Type: "string"}, "flag": {Type: "boolean"}, "obj": {Type: "object"},
			"either": {Type: "number", OrTypes: []string{"string"}},
		},
	}
	if d.chance(3) {
		c.Title = "Pay {who}"
	}
	if !d.chance(3) {
		c.Rules = d.rules(c, "amount", "amount", "who", "flag", "obj.a", "obj.b", "either")
	}
	if d.chance(2) {
		c.Budgets = d.budgets()
	}
	return c
}

// States are what the read of the state answers: JSON, or the status of a refusal.
var States = []string{
	`{"s":"open","n":1}`, `{"n":1.0,"s":"open"}`, `{"s":"open","n":1e0,"more":2}`, `{"s":"open","n":1.00000000000000000001}`, `{"s":"open","n":2}`, `{"s":"Open","n":1}`,
	`{"s":"open"}`, `{"s":null,"n":1}`, `{"s":"open","n":5}`, `500 `, `404 `,
}

// precondition has a condition where a step may ask nobody: without one nothing would judge that.
func (d *drawing) precondition(c Capability) *Precondition {
	p := &Precondition{Capability: "state", Fields: []string{"s", "n"}}
	if c.Approval != "ALWAYS" || d.chance(2) {
		p.When = &Condition{Kind: "predicate", VariableID: "n", Operator: "lt", Value: d.value(`3`)}
		if d.chance(2) {
			p.When = &Condition{Kind: "predicate", VariableID: "s", Operator: "neq", Value: "closed"}
		}
	}
	return p
}

func (d *drawing) looks() Capability {
	c := Capability{
		Name: "look", Method: "GET", Approval: pick(d, "", "", "NONE", "RISK_BASED", "ALWAYS"), Expects: d.chance(4),
		Inputs: map[string]Input{"amount": {Type: "number", Required: true}, "who": {Type: "string"}, "flag": {Type: "boolean"}},
	}
	if d.chance(3) {
		c.Rules = d.rules(c, "amount", "who", "flag")
	}
	if d.chance(5) {
		c.Budgets = d.budgets()
	}
	return c
}

func (d *drawing) rules(c Capability, inputs ...string) (out []Rule) {
	for range 1 + d.IntN(3) {
		r := Rule{When: d.condition(2, inputs), Then: pick(d, "ASK", "ASK", "DENY", "ALLOW"), Reason: "as it was drawn"}
		if r.Then == "ALLOW" && (c.Approval == "ALWAYS" || c.Approval == "" && c.sideEffect()) {
			r.Then = "ASK"
		}
		if r.Then == "ASK" && d.chance(2) {
			r.Approvals = 1 + d.IntN(3)
		}
		if r.Then == "ASK" && d.chance(3) {
			r.Groups = pick(d, []string{"finance"}, []string{"legal"}, []string{"finance", "legal"})
			r.Approvals = min(r.Approvals, 2)
		}
		out = append(out, r)
	}
	return out
}

func (d *drawing) condition(depth int, inputs []string) Condition {
	if depth > 0 && d.chance(3) {
		c := Condition{Kind: "group", Combinator: pick(d, "AND", "OR"), Conditions: []Condition{}}
		for range 1 + d.IntN(3) {
			c.Conditions = append(c.Conditions, d.condition(depth-1, inputs))
		}
		return c
	}
	c := Condition{Kind: "predicate", VariableID: inputs[d.IntN(len(inputs))]}
	numbers := []string{"eq", "neq", "gt", "gte", "lt", "lte"}
	switch c.VariableID {
	case "amount":
		c.Operator, c.Value = pick(d, numbers...), d.value(amounts...)
	case "who":
		c.Operator, c.Value = pick(d, "eq", "neq"), d.value(texts...)
	case "flag":
		c.Operator, c.Value = pick(d, "eq", "neq"), d.chance(2)
	case "either":
		if c.Operator = pick(d, numbers...); c.Operator == "eq" || c.Operator == "neq" {
			c.Value = d.value(pick(d, `7`, `"7"`, `"seven"`))
		} else {
			c.Value = d.value(`7`)
		}
	default:
		c.Operator, c.Value = pick(d, numbers...), d.value(`5`)
		if c.Operator == "eq" || c.Operator == "neq" {
			c.Value = d.value(`5`, `"x"`, `true`)
		}
	}
	if d.chance(6) && c.VariableID != "obj.b" {
		c.Operator, c.Value = pick(d, "isKnown", "isUnknown"), nil
	}
	return c
}

var (
	amounts = []string{`0`, `1`, `10`, `50`, `50.01`, `100`, `0.1`, `99.99999999999999999999`}
	spelled = map[string]string{`1`: `1.0`, `10`: `1e1`, `50`: `50.00`, `100`: `1E+2`, `0.1`: `1e-1`, `0`: `0.0`}
	texts   = []string{`"ada"`, `"Ada"`, `"straße"`, `"STRASSE"`, `""`}
	objects = []string{`{"a":5,"b":5}`, `{"a":6}`, `{"a":5.0,"b":"x"}`, `{"b":5,"B":6}`, `{"b":5,"B":5.0}`, `{"a":true,"b":true}`, `{}`, `{"a":"x","c":1}`}
)

func (d *drawing) value(texts ...string) any {
	v, _ := parse(pick(d, texts...))
	return v
}

func (d *drawing) budgets() (out []Budget) {
	for range 1 + d.IntN(2) {
		b := Budget{Window: pick(d, "1h", "24h", "720h"), Then: pick(d, "ASK", "DENY"), Reason: "as it was drawn"}
		if d.chance(2) {
			b.Count = 1 + d.IntN(3)
		} else {
			b.Sum, b.Most = "amount", d.value(`0.3`, `20`, `60`, `100`, `150.01`)
		}
		out = append(out, b)
	}
	return out
}

// do adds an operation, and plays it.
func (d *drawing) do(op Operation) Expected {
	d.out.Operations = append(d.out.Operations, op)
	return d.e.Do(op)
}

func (d *drawing) operation() {
	// What a stop holds is one run at most: of several the contract leaves open how far they go beside each other.
	if len(d.e.held) > 0 && d.chance(2) || d.e.stopped && d.chance(4) {
		d.do(Operation{Kind: "go"})
		return
	}
	waiting, open := d.runs("WAITING_APPROVAL"), d.runs("RECOVERY_REQUIRED")
	if d.out.World.Capabilities[0].Precondition != nil && d.chance(5) {
		d.do(Operation{Kind: "state", Answer: pick(d, append(States, States[0], States[1], States[4])...)})
		return
	}
	if p := d.out.World.Capabilities[0].Precondition; p != nil && len(waiting) > 0 && d.chance(2) {
		d.do(Operation{Kind: "state", Answer: pick(d, States[0], States[4], States[4])})
		d.decision(pick(d, waiting...))
		return
	}
	switch n := d.IntN(20); {
	case (n < 5 || n < 10 && d.stern) && len(waiting) > 0:
		d.decision(pick(d, waiting...))
	case n < 8 && len(open) > 0:
		d.resolution(pick(d, open...))
	case n < 10:
		op := Operation{Kind: "receiver", Answer: pick(d, Answers...)}
		if d.lost {
			op.Answer = pick(d, "hang up", "500", "unreachable", "ok", "409")
		}
		d.do(op)
	case n == 10 && len(d.e.runs) > 0:
		d.do(Operation{Kind: "cancel", Run: pick(d, d.e.runs...).name})
	case n == 11 && !d.e.stopped && d.chance(2):
		d.do(Operation{Kind: "stop"})
	case n == 12:
		d.do(Operation{Kind: "budgets"})
	case n == 13 && len(d.e.runs) > 0:
		d.anyhow(pick(d, d.e.runs...))
	case n < 16 && len(d.e.runs) > 0:
		d.repeat()
	default:
		d.start()
	}
}

func (d *drawing) runs(status string) (out []*run) {
	for _, r := range d.e.runs {
		if r.status == status {
			out = append(out, r)
		}
	}
	return out
}

// anyhow decides or reconciles what may not wait for it.
func (d *drawing) anyhow(r *run) {
	if d.chance(2) {
		d.decision(r)
	} else {
		d.resolution(r)
	}
}

func (d *drawing) decision(r *run) {
	if r.approval != nil && d.e.stopped && len(d.e.held) > 0 {
		return
	}
	op := Operation{Kind: "decide", Run: r.name, By: d.decider(r), Decision: pick(d, "APPROVED", "APPROVED", "APPROVED", "REJECTED")}
	if d.stern && d.chance(2) {
		op.Decision = "REJECTED"
	}
	if d.chance(20) {
		op.Reason = " "
	}
	if r.approval == nil && r.status != "COMPLETED" && r.status != "FAILED" && r.status != "CANCELLED" {
		return // it has no approval to decide
	}
	d.do(op)
}

// decider is mostly one who may decide.
func (d *drawing) decider(r *run) string {
	who := pick(d, Deciders...)
	for range 3 {
		if a := r.approval; a != nil && who != "oda" && !slices.Contains(a.deciders, who) && (len(a.groups) == 0 || len(memberOf(who, a.groups)) > 0) {
			return who
		}
		who = pick(d, Deciders...)
	}
	return who
}

func (d *drawing) resolution(r *run) {
	if d.e.stopped {
		return
	}
	op := Operation{Kind: "reconcile", Run: r.name, By: pick(d, Deciders...), Decision: pick(d, "CONFIRMED_COMPLETED", "CONFIRMED_NOT_EXECUTED", "CONFIRMED_NOT_EXECUTED", "ABANDON")}
	if op.Decision == "CONFIRMED_COMPLETED" {
		op.Output = pick(d, `{"ok":true}`, `{"ok":true}`, `{"ok":false}`, `{}`)
	}
	if d.chance(20) {
		op.Reason = " "
	}
	d.do(op)
}

func (d *drawing) start() {
	d.names++
	op := Operation{Kind: "start", Run: fmt.Sprintf("r%d", d.names), Door: pick(d, "call", "call", "agent"), Capability: pick(d, "pay", "pay", "pay", "look"), Mode: pick(d, "LIVE", "LIVE", "LIVE", "DRY_RUN"), Key: fmt.Sprintf("k%d", d.names)}
	if d.tools && !d.chance(4) {
		op.Door, op.Mode, op.Key = pick(d, "tool", "tool", "tool", "tool", "rehearsal"), "", ""
		op.Task = pick(d, "", "", "case 7", " case  7 ", "case 8")
		if d.chance(6) {
			op.Again = pick(d, "the first was lost", " ")
		}
	}
	op.Inputs = d.inputs(op.Capability)
	d.begin(op)
}

// begin adds a start, unless a stop would hold more than one run, or one that is asked about or denied: whether that
// comes before the stop, the contract leaves open.
func (d *drawing) begin(op Operation) {
	if d.e.stopped {
		if len(d.e.held) > 0 || !d.goesOut(op) {
			return
		}
	}
	d.do(op)
}

func (d *drawing) goesOut(op Operation) bool {
	v, _ := parse(op.Inputs)
	inputs, _ := v.(map[string]any)
	c := d.e.world.capability(op.Capability)
	inputs, ok := d.e.fits(c, inputs)
	r := &run{door: op.Door, capability: c, inputs: inputs, content: canonical(inputs), mode: "LIVE"}
	return ok && d.e.gate(r).then == "ALLOW"
}

// repeat repeats a start: as it was, spelled otherwise, or with other content.
func (d *drawing) repeat() {
	var starts []Operation
	for _, op := range d.out.Operations {
		if op.Kind == "start" {
			starts = append(starts, op)
		}
	}
	op := pick(d, starts...)
	if d.chance(2) {
		op = starts[len(starts)-1]
	}
	d.names++
	op.Run = fmt.Sprintf("r%d", d.names)
	what := d.IntN(6)
	if op.Mode == "" && d.chance(2) {
		what = 4
	}
	switch what {
	case 0:
		op.Inputs = d.inputs(op.Capability)
	case 1:
		if op.Again == "" && op.Mode == "" {
			op.Again = "it is meant once more"
		}
	case 2, 3:
		op.Inputs = respelled(op.Inputs)
	case 4:
		if op.Mode == "" {
			op.Task = pick(d, "case 7", "case 8", " case\t7") // of a blank one the contract says nothing
		}
	}
	d.begin(op)
}

func respelled(inputs string) string {
	for from, to := range spelled {
		if strings.HasPrefix(inputs, `{"amount":`+from+`,`) {
			return strings.Replace(inputs, from, to, 1)
		}
		if inputs == `{"amount":`+from+`}` {
			return `{"amount":` + to + `}`
		}
	}
	return strings.TrimSuffix(inputs, "}") + "}"
}

func (d *drawing) inputs(capability string) string {
	parts := []string{`"amount":` + pick(d, amounts...)}
	add := func(name string, of ...string) {
		if d.chance(2) {
			parts = append(parts, `"`+name+`":`+pick(d, append(of, of[0], "null")...))
		}
	}
	add("who", texts...)
	add("flag", "true", "false")
	if capability == "pay" {
		add("obj", objects...)
		add("either", `7`, `7.0`, `8`, `"7"`, `"seven"`)
	}
	if d.chance(40) {
		parts[0] = pick(d, `"amount":"1"`, `"amount":null`, `"amounts":1`, `"amount":1,"other":2`)
	}
	return "{" + strings.Join(parts, ",") + "}"
}
