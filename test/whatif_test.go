package test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/countersign/countersign/test/campaign"
	"github.com/countersign/countersign/test/harness"
)

var (
	whatIfs    = campaign.SizeFlag("whatif", 2, 30, "how many histories to try proposed rules and budgets on")
	whatIfSeed = campaign.SeedFlag("whatif-seed")
)

// TestWhatIfIsWhatThenHappens: of runs under one set of rules and budgets, `policy what-if`
// says what happens when the same runs are started under another set, and people decide
// alike. Nothing of it is computed by the gate's code: what happened is read from the runs.
func TestWhatIfIsWhatThenHappens(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	first := whatIfSeed.First(t)
	for seed := first; seed < first+uint64(whatIfs.N()); seed++ {
		h := history{shell: s, draw: rand.New(rand.NewPCG(seed, 1)), seed: seed}
		if h.play(t); t.Failed() {
			t.Fatalf("history with -whatif-seed %d", seed)
		}
	}
}

// history is a few runs, played under two sets of rules and budgets, each of a project of
// its own: what was used of a budget outlives changes of it.
type history struct {
	*shell
	draw *rand.Rand
	seed uint64
}

// terms are what decides beside a capability's approval.
type terms struct{ rules, budgets []doc }

// took is what came of a step.
type took struct {
	run                           string
	asked, denied, sent, rejected bool
}

func (h *history) play(t *testing.T) {
	t.Helper()
	approval := oneOf(h.draw, "NONE", "RISK_BASED", "ALWAYS")
	inputs := make([]doc, 3+h.draw.IntN(6))
	for i := range inputs {
		inputs[i] = h.inputs()
	}
	first := fmt.Sprint("default-first-", h.seed)
	before := h.under(t, first, approval, terms{h.rules(approval), h.budgets()}, inputs, nil)
	proposed := terms{h.rules(approval), h.budgets()}
	report := h.asked(t, "policy", "what-if", "--rules", first+"/pay="+rulesFile(t, proposed.rules...), "--budgets", first+"/pay="+budgetsFile(t, proposed.budgets...), "--last", strconv.Itoa(len(inputs)))
	after := h.under(t, fmt.Sprint("default-second-", h.seed), approval, proposed, inputs, before)

	count := func(of []took, is func(took) bool) (n int) {
		for _, s := range of {
			if is(s) {
				n++
			}
		}
		return n
	}
	named := func(is func(was, now took) bool) any {
		runs := []string{}
		for i := range before {
			if is(before[i], after[i]) {
				runs = append(runs, before[i].run)
			}
		}
		if slices.Reverse(runs); len(runs) == 0 { // the latest run is read first
			return nil
		}
		return runs
	}
	number := func(n int) any {
		if n == 0 {
			return harness.Absent
		}
		return n
	}
	report.Is(t, "runs", len(inputs)).Is(t, "steps", len(inputs))
	report.Is(t, "asked", count(before, took.wasAsked)).Is(t, "wouldAsk", count(after, took.wasAsked)).Is(t, "wouldDeny", number(count(after, took.wasDenied)))
	list := func(name string, want, none any) {
		if want == nil {
			want = none
		}
		report.Is(t, "capabilities.0."+name, want)
	}
	list("denied", named(func(was, now took) bool { return now.denied && was.sent }), harness.Absent)
	list("undenied", named(func(was, now took) bool { return was.denied && !now.denied }), harness.Absent)
	list("rejected", named(func(was, now took) bool { return was.rejected && !now.asked && !now.denied }), []string{})
	list("lapsed", nil, []string{})
	more, fewer := 0, 0
	for i, was := range before {
		switch now := after[i]; {
		case was.denied || now.denied:
		case now.asked && !was.asked:
			more++
		case was.asked && !now.asked:
			fewer++
		}
	}
	report.Is(t, "capabilities.0.more", more).Is(t, "capabilities.0.fewer", fewer)
}

func (s took) wasAsked() bool  { return s.asked }
func (s took) wasDenied() bool { return s.denied }

// under starts runs on some terms and decides what they ask for: as it was before, where
// somebody was asked for it, and where nobody was, by an approval.
func (h *history) under(t *testing.T, id, approval string, on terms, inputs []doc, before []took) (out []took) {
	t.Helper()
	project := payRules(h.shop.Origin(), approval, on.rules...)
	project["capabilities"].([]any)[0].(doc)["budgets"] = on.budgets
	h.register(t, id, project)
	for i, input := range inputs {
		decision := "APPROVED"
		if before == nil && h.draw.IntN(2) == 0 || before != nil && before[i].rejected {
			decision = "REJECTED"
		}
		run := h.operator.Post("/projects/"+id+"/runs", doc{"capability": "pay", "mode": "LIVE", "inputs": input}, key()).OK(t).At("id").Text()
		out = append(out, h.became(t, run, decision))
	}
	return out
}

// became waits for what comes of a run, and decides what it asks for.
func (h *history) became(t *testing.T, id, decision string) took {
	t.Helper()
	s := took{run: id}
	var run json
	harness.Until(t, "run "+id+" to end", func() bool {
		run = h.Admin.Get("/runs/" + id).OK(t)
		if approval := run.At("approvalId"); run.At("status").Text() == "WAITING_APPROVAL" && !s.asked {
			s.asked, s.rejected = true, decision == "REJECTED"
			h.approver.Post("/approvals/"+approval.Text()+"/decision", doc{"decision": decision, "reason": "drawn"}).OK(t)
		}
		return slices.Contains([]string{"COMPLETED", "FAILED"}, run.At("status").Text())
	})
	if code := run.At("steps.0.error.code"); code.Exists() {
		s.denied = code.Text() == "denied_by_rule" || code.Text() == "denied_by_budget"
	}
	s.sent = run.At("status").Text() == "COMPLETED"
	if (run.At("steps.0.approvalRequired").String() == "true") != s.asked || !s.sent && !s.denied && !s.rejected {
		t.Fatalf("%+v: %s", s, run)
	}
	return s
}

var (
	drawnNumbers  = []string{"-1", "0", "5", "100", "100.00000000000000000001", "1e2", "9007199254740993"}
	drawnTexts    = []any{"DE", "KP", "de", ""}
	drawnCountry  = []any{"DE", "KP", 5, nil, true}
	drawnCompared = []string{"eq", "neq", "gt", "gte", "lt", "lte"}
)

func oneOf[T any](draw *rand.Rand, of ...T) T { return of[draw.IntN(len(of))] }

func (h *history) inputs() doc {
	in := doc{"amount": number(oneOf(h.draw, drawnNumbers...))}
	if h.draw.IntN(2) == 0 {
		in["country"] = oneOf(h.draw, drawnTexts...)
	}
	switch h.draw.IntN(3) {
	case 0:
		in["to"] = doc{"country": oneOf(h.draw, drawnCountry...)}
	case 1:
		in["to"] = doc{}
	}
	return in
}

func (h *history) rules(approval string) []doc {
	answers := []string{"ASK", "DENY", "ALLOW"}
	if approval == "ALWAYS" { // nothing is let out beside it
		answers = answers[:2]
	}
	out := make([]doc, h.draw.IntN(4))
	for i := range out {
		out[i] = rule(h.condition(2), oneOf(h.draw, answers...))
	}
	return out
}

func (h *history) budgets() []doc {
	out := make([]doc, h.draw.IntN(3))
	for i := range out {
		then := oneOf(h.draw, "ASK", "DENY")
		if out[i] = countOf(1+h.draw.IntN(5), then); h.draw.IntN(2) == 0 {
			out[i] = sumOf(oneOf(h.draw, "5", "110", "1e3"), then)
		}
	}
	return out
}

func (h *history) condition(depth int) doc {
	if depth > 0 && h.draw.IntN(3) == 0 {
		parts := make([]any, h.draw.IntN(3))
		for i := range parts {
			parts[i] = h.condition(depth - 1)
		}
		return doc{"kind": "group", "combinator": oneOf(h.draw, "AND", "OR"), "conditions": parts}
	}
	switch h.draw.IntN(5) {
	case 0:
		return doc{"kind": "predicate", "variableId": oneOf(h.draw, "amount", "country", "to", "to.country"), "operator": oneOf(h.draw, "isKnown", "isUnknown")}
	case 1:
		return is("country", oneOf(h.draw, "eq", "neq"), oneOf(h.draw, drawnTexts...))
	case 2:
		return is("to.country", oneOf(h.draw, "eq", "neq"), oneOf(h.draw, drawnTexts...))
	default:
		return is("amount", oneOf(h.draw, drawnCompared...), number(oneOf(h.draw, drawnNumbers...)))
	}
}
