package runrepo_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/plan"
	"github.com/countersign/countersign/internal/rules/policy"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// TestWhatIfWithBudgetsIsWhatThenHappens, over 1,000 histories (150 in -short): runs are started at any
// times, wait for approvals side by side and are decided later, under one set of rules and
// budgets. What policy says of another set is what happens when the same is played under it.
func TestWhatIfWithBudgetsIsWhatThenHappens(t *testing.T) {
	histories := uint64(1000)
	if testing.Short() {
		histories = 150
	}
	for seed := range histories {
		draw := rand.New(rand.NewPCG(seed, 24))
		calls := drawCalls(draw)
		was, would := drawTerms(draw, calls.pairs), drawTerms(draw, calls.pairs)
		if calls.pairs { // what came after a step that was denied is not known
			was.ApprovalRules, was.Budgets = nil, nil
		}
		before := calls.play(t, was, nil)
		after := calls.play(t, would, before)
		counts := policy.NewCounts(policy.Proposal{
			Named: map[string]string{"shop/pay": would.Approval}, Rules: map[string][]countersign.ApprovalRule{"shop/pay": would.ApprovalRules},
			Budgets: map[string][]countersign.Budget{"shop/pay": would.Budgets},
		})
		for i := range before {
			counts.Add(before[len(before)-1-i].Run(), before[len(before)-1-i].Plan())
		}
		if diff := cmp.Diff(happened(before, after), said(counts.Report())); diff != "" {
			t.Fatalf("seed %d: -happened +said\n%s\nwas %+v\nwould %+v", seed, diff, was, would)
		}
	}
}

// outcome is what both sides say.
type outcome struct {
	Steps, Asked, WouldAsk, WouldDeny, More, Fewer int
	Denied, Undenied                               []string
}

func said(r policy.Report) outcome {
	q := r.Capabilities[0]
	return outcome{r.Steps, r.Asked, r.WouldAsk, r.WouldDeny, q.More, q.Fewer, q.Denied, q.Undenied}
}

func happened(before, after []*runrepo.LoadedRun) (o outcome) {
	for i := len(before) - 1; i >= 0; i-- { // the latest run is read first
		for j := range before[i].Run().Steps {
			was, now := &before[i].Run().Steps[j], &after[i].Run().Steps[j]
			asked, asks, wasDenied, denied := was.ApprovalID != "", now.ApprovalID != "", isDenied(was), isDenied(now)
			o.Steps++
			o.Asked += one(asked)
			o.WouldAsk += one(asks && !denied)
			o.WouldDeny += one(denied)
			switch {
			case denied && was.Attempt > 0:
				o.Denied = append(o.Denied, before[i].Run().ID)
			case denied || now.RequestDigest == "":
			case wasDenied:
				o.Undenied = append(o.Undenied, before[i].Run().ID)
			default:
				o.More += one(asks && !asked)
				o.Fewer += one(asked && !asks)
			}
		}
	}
	return o
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

func isDenied(s *countersign.StepRun) bool {
	return s.Error != nil && (s.Error.Code == countersign.CodeDeniedByBudget || s.Error.Code == countersign.CodeDeniedByRule)
}

// calls are runs of one step, or of two of which none asks.
type calls struct {
	pairs bool
	each  []call
}

type call struct {
	at       time.Time
	input    map[string]countersign.Value
	decision countersign.ApprovalStatus
	after    time.Duration // from the request to the decision
}

func drawCalls(draw *rand.Rand) (c calls) {
	c.pairs = draw.IntN(4) == 0
	at := dawn
	for range 4 + draw.IntN(12) {
		at = at.Add(time.Duration(draw.Int64N(int64(3 * time.Hour))))
		one := call{at: at, input: map[string]countersign.Value{"amount": countersign.RawValue(pick(draw, "0.1", "7", "1e2", "-4", "0"))}, decision: pick(draw, countersign.ApprovalApproved, countersign.ApprovalApproved, countersign.ApprovalRejected)}
		if !c.pairs && draw.IntN(8) == 0 {
			one.input = map[string]countersign.Value{}
		}
		one.after = time.Duration(draw.Int64N(int64(20 * time.Hour)))
		c.each = append(c.each, one)
	}
	return c
}

func pick[T any](draw *rand.Rand, of ...T) T { return of[draw.IntN(len(of))] }

// drawTerms draws what the capability asks for and denies.
func drawTerms(draw *rand.Rand, pairs bool) countersign.Capability {
	c := countersign.Capability{Approval: pick(draw, countersign.ApprovalNone, countersign.ApprovalNone, countersign.ApprovalAlways)}
	then := []string{countersign.BudgetAsk, countersign.BudgetDeny}
	if pairs {
		c.Approval, then = countersign.ApprovalNone, then[1:]
	}
	for range draw.IntN(3) {
		b := countersign.Budget{Count: 1 + draw.Int64N(5), Window: pick(draw, "1h", "7h", "24h"), Then: pick(draw, then...), Reason: "r"}
		if draw.IntN(2) == 0 {
			b.Count, b.Sum, b.Most = 0, "amount", countersign.RawValue(pick(draw, "0.3", "14", "150"))
		}
		c.Budgets = append(c.Budgets, b)
	}
	for range draw.IntN(2) {
		c.ApprovalRules = append(c.ApprovalRules, countersign.ApprovalRule{
			When: countersign.Condition{Predicate: &countersign.Predicate{Kind: "predicate", VariableID: "amount", Operator: countersign.OpGreater, Value: countersign.Scalar{Value: countersign.RawValue(pick(draw, "0", "50"))}}},
			Then: pick(draw, then...), Reason: "r",
		})
	}
	return c
}

// play plays the calls under some terms. What was asked for before is decided alike, and
// what wasn't is approved at once.
func (c calls) play(t *testing.T, terms countersign.Capability, before []*runrepo.LoadedRun) (out []*runrepo.LoadedRun) {
	t.Helper()
	h := open(t)
	h.repository = runrepo.New(runrepo.Config{MaxActive: 1000, ApprovalTTL: ttl, NewID: h.newID, OriginAllowed: func(string) bool { return true }, Now: func() time.Time { return h.now }})
	refs := make([]runrepo.Ref, len(c.each))
	type act struct {
		at time.Time
		do func()
	}
	var acts []act
	var follow func(i int)
	follow = func(i int) {
		switch r := h.load(refs[i]).Run(); r.Status {
		case countersign.RunRunning:
			acts = append(acts, act{h.now.Add(time.Minute), func() { h.must(refs[i], h.answer(refs[i], fine())); follow(i) }})
		case countersign.RunWaitingApproval:
			decision, at := c.each[i].decision, h.now.Add(c.each[i].after)
			if before != nil && before[i].Run().Steps[0].ApprovalID == "" {
				decision, at = countersign.ApprovalApproved, h.now
			}
			acts = append(acts, act{at, func() {
				if h.must(refs[i], decide(decision)); decision == countersign.ApprovalApproved {
					h.must(refs[i], run.Resumed{})
				}
				follow(i)
			}})
		}
	}
	for i, call := range c.each {
		acts = append(acts, act{call.at, func() {
			id := fmt.Sprint("plan-", 10+i)
			h.plans["acme"] = h.registerPay(id, terms, call.input, c.pairs)
			var err error
			if refs[i], err = h.startOf("acme", id); err != nil {
				t.Fatal(err)
			}
			h.must(refs[i], run.Resumed{})
			follow(i)
		}})
	}
	for len(acts) > 0 {
		slices.SortStableFunc(acts, func(a, b act) int { return a.at.Compare(b.at) })
		next := acts[0]
		acts, h.now = acts[1:], next.at
		next.do()
	}
	for i := range refs {
		out = append(out, h.load(refs[i]))
		out[i].Run().ID = fmt.Sprint("run-", i)
	}
	return out
}

// registerPay stores a plan of one or two calls of pay on these terms.
func (h *fixture) registerPay(id string, terms countersign.Capability, input map[string]countersign.Value, pair bool) *countersign.Plan {
	h.t.Helper()
	project := shop()
	pay := project.Capability("pay")
	pay.InputSchema = map[string]countersign.InputField{"amount": {Type: "number"}}
	pay.Approval, pay.ApprovalRules, pay.Budgets = terms.Approval, terms.ApprovalRules, terms.Budgets
	steps := []countersign.Step{step("a", "pay")}
	if pair {
		steps = append(steps, step("b", "pay", "a"))
	}
	for i := range steps {
		steps[i].Input = input
	}
	src := plan.Sources{Model: &countersign.Model{ID: "refunds", Revision: 1}, Projects: map[string]plan.Source{"shop": {Project: project, InScope: true}}}
	p := plan.New(countersign.PlanWrite{ID: id, Name: "Plan", ModelID: "refunds", ModelRevision: 1, Steps: steps, Mode: countersign.ModeLive}, src, nil, plan.Creation{By: "user:ada@example.com", Now: h.now})
	h.update(func(tx store.Tx) error {
		id := records.RevisionID("shop", 1)
		_, version, err := records.ProjectRevisions.Get(tx, "acme", id)
		if err != nil {
			return err
		}
		if _, err := records.ProjectRevisions.Put(tx, "acme", id, project, version); err != nil {
			return err
		}
		_, err = records.Plans.Put(tx, "acme", p.ID, &records.Plan{Plan: p}, 0)
		return err
	})
	return &p
}
