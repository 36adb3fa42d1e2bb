package projects

import (
	"context"
	"errors"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/names"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/platform/semaphore"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/amount"
	"github.com/countersign/countersign/internal/rules/budget"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/gate"
	"github.com/countersign/countersign/internal/rules/mask"
	"github.com/countersign/countersign/internal/rules/policy"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// WhatIfService plays other gates over runs that there were.
type WhatIfService struct {
	*core.Core
	changed ReadChange
	turns   *semaphore.Semaphore // one read of a span of runs at a time
}

// ReadChange reads a proposed change that the actor may read.
type ReadChange func(tx store.Tx, a core.Actor, id string) (*records.Change, error)

// NewWhatIfs returns the use case.
func NewWhatIfs(c *core.Core, changed ReadChange) *WhatIfService {
	return &WhatIfService{Core: c, changed: changed, turns: semaphore.New(1)}
}

// Bounds of what a what-if looks at, and has in memory.
const (
	maxLooked     = 20_000
	maxPlayedSize = 64 << 20
)

// WhatIf plays another gate of a capability over its last LIVE runs that the actor may read. It
// changes nothing.
func (s *WhatIfService) WhatIf(ctx context.Context, a core.Actor, id string, w countersign.WhatIfRequest) (out countersign.WhatIf, err error) {
	if err := core.WellFormed(a, w); err != nil {
		return out, err
	}
	if err := asked(&w); err != nil {
		return out, err
	}
	would, err := s.proposed(ctx, a, id, w)
	if err != nil {
		return out, err
	}
	if err := s.judgeable(ctx, a, would); err != nil {
		return out, err
	}
	runs, err := s.lastRuns(ctx, a, id, would, int(w.Last))
	if err != nil {
		return out, err
	}
	name := policy.Name(id, would.Name)
	proposal := policy.Proposal{
		Named:   map[string]string{name: would.ApprovalPolicy()},
		Rules:   map[string][]countersign.ApprovalRule{name: would.ApprovalRules},
		Budgets: map[string][]countersign.Budget{name: would.Budgets},
	}
	var outcomes []policy.Outcome
	err = s.Judge(ctx, a, func(m *cost.Meter) {
		m.At(would.Name)
		out.Played, outcomes = policy.Play(m, proposal, runs)
	})
	if err != nil && countersign.ErrorCode(err) != countersign.CodeInvalidRequest { // beyond it fewer are played
		return out, err
	}
	for _, o := range outcomes {
		count(&out.Today, o.Was)
		count(&out.Then, o.Then)
	}
	out.ByField = byField(would, outcomes)
	out.Loosened, err = s.loosened(ctx, a, outcomes)
	return out, err
}

func count(c *countersign.WhatIfCounts, then string) {
	switch then {
	case countersign.RuleAllow:
		c.Sent++
	case countersign.RuleAsk:
		c.Asked++
	case countersign.RuleDeny:
		c.Denied++
	}
}

// proposed is the capability with the gate that is asked about.
func (s *WhatIfService) proposed(ctx context.Context, a core.Actor, id string, w countersign.WhatIfRequest) (would countersign.Capability, err error) {
	err = s.View(ctx, a, access.WhatIf, func(tx store.Tx) error {
		head, _, err := reach.Project(tx, a, id)
		if err != nil {
			return err
		}
		p, err := reach.ProjectOf(s.Config.Allowed, tx, a.Tenant, *head)
		if err != nil {
			return err
		}
		if w.ChangeID != "" {
			would, err = s.changedGate(tx, a, &p, w)
		} else {
			would, err = givenGate(&p, w)
		}
		if err != nil {
			return err
		}
		if core.Masks(a) && mask.GateTells(&p, &would) {
			return countersign.Errorf(countersign.CodeRoleRequired, "a rule, a budget or the title of %s names an input that is hidden from a VIEWER; who plays it needs another role", would.Name)
		}
		p.Capabilities = []countersign.Capability{would}
		return knownGroups(tx, a.Tenant, &p)
	})
	return would, err
}

// judgeable refuses a gate that couldn't be registered.
func (s *WhatIfService) judgeable(ctx context.Context, a core.Actor, would countersign.Capability) error {
	var problems []countersign.Problem
	err := s.Judge(ctx, a, func(m *cost.Meter) {
		problems = slices.Concat(request.CheckCapability(m, &would), gate.Check(m, &would))
		for _, found := range budget.Check(would.Budgets, func(input string) bool { return would.InputSchema[input].IsNumber() }) {
			found.Path = "budgets" + found.Path
			problems = append(problems, found)
		}
	})
	if err != nil {
		return err
	}
	return core.Wrong(problems)
}

// sized is a run that is played, and how much memory its inputs take.
type sized struct {
	policy.Past
	size int
}

// lastRuns are the newest LIVE runs in which the capability came to the gate, with what judging
// needs of them.
func (s *WhatIfService) lastRuns(ctx context.Context, a core.Actor, id string, would countersign.Capability, last int) (out []policy.Past, err error) {
	of := core.Spans[records.Run]{
		Of: records.Runs, Op: access.WhatIf, Turns: s.turns, Most: maxLooked,
		Key:   func(r *records.Run) (string, int64) { return r.ID, r.CreatedAt.UnixMicro() },
		Where: func(tx store.Tx) ([]store.Filter, error) { return records.InScope(tx, store.Runs, a.Principal) },
	}
	found, err := core.InSpans(ctx, s.Core, a, of, last, func(tx store.Tx, r *records.Run) (one sized, is bool, err error) {
		if r.Mode != countersign.ModeLive {
			return one, false, nil
		}
		p, err := s.Repo.Plan(tx, a.Tenant, r.PlanID, r.PlanDigest)
		if err != nil || !calls(p, id, would.Name) || core.Masks(a) && tells(p, id, would) {
			return one, false, err
		}
		return readPast(tx, a.Tenant, r, p, id, would.Name)
	})
	size := 0
	for _, one := range found {
		if size += one.size; size > maxPlayedSize {
			break
		}
		out = append(out, one.Past)
	}
	return out, err
}

func calls(p *countersign.Plan, id, capability string) bool {
	return slices.ContainsFunc(p.Steps, func(s countersign.Step) bool { return s.ProjectID == id && s.Capability == capability })
}

// tells reports that the gate would judge what was hidden when the plan was made.
func tells(p *countersign.Plan, id string, would countersign.Capability) bool {
	project, was := mask.TargetOf(p, id, would.Name)
	if was == nil {
		return true
	}
	would.Sensitive, would.InputSchema = was.Sensitive, was.InputSchema
	return mask.GateTells(project, &would)
}

// readPast reads what judging needs of a run: of other steps only when they ended.
func readPast(tx store.Tx, tenant string, r *records.Run, p *countersign.Plan, id, capability string) (one sized, is bool, err error) {
	run := r.Run
	run.PlanSnapshot, run.Steps = nil, nil
	err = runrepo.EachStep(tx, runrepo.Ref{Tenant: tenant, RunID: r.ID}, 0, func(s *countersign.StepRun) {
		kept := countersign.StepRun{ID: s.ID, CompletedAt: s.CompletedAt}
		if s.ProjectID == id && s.Capability == capability && !s.RequestDigest.IsZero() {
			is = true
			kept = countersign.StepRun{
				ID: s.ID, ProjectID: s.ProjectID, Capability: s.Capability, AgentID: s.AgentID, Status: s.Status, Attempt: s.Attempt, SideEffect: s.SideEffect,
				ApprovalRequired: s.ApprovalRequired, ApprovalID: s.ApprovalID, Input: s.Input, RequestDigest: s.RequestDigest, Error: s.Error,
				StartedAt: s.StartedAt, CompletedAt: s.CompletedAt,
			}
			one.size += budget.Read(s.Input)
		}
		run.Steps = append(run.Steps, kept)
	})
	one.Past = policy.Past{Run: &run, Plan: p}
	return one, is, err
}

// byField are the outcomes by the first number that the gate names, nil without one.
func byField(would countersign.Capability, all []policy.Outcome) *countersign.WhatIfField {
	for _, field := range amount.Named(&would) {
		var numbers []countersign.Number
		at := func(o policy.Outcome) (countersign.Number, bool) {
			return amount.At(cost.New(nil, cost.InTurn, 0), field, o.Step.Input)
		}
		for _, o := range all {
			if n, ok := at(o); ok {
				numbers = append(numbers, n)
			}
		}
		parts, ok := amount.BucketsOf(numbers)
		if !ok {
			continue
		}
		out := &countersign.WhatIfField{Input: field, Buckets: make([]countersign.WhatIfBucket, parts.Count)}
		for i := range out.Buckets {
			out.Buckets[i].From, out.Buckets[i].To = parts.From(i), parts.From(i+1)
		}
		for _, o := range all {
			if n, ok := at(o); ok && parts.Of(n) >= 0 {
				count(&out.Buckets[parts.Of(n)].WhatIfCounts, o.Then)
			}
		}
		return out
	}
	return nil
}

// loosened are the rejected steps that would have gone out unasked, as the actor may see them.
func (s *WhatIfService) loosened(ctx context.Context, a core.Actor, all []policy.Outcome) (out []countersign.WhatIfLoose, err error) {
	all = slices.DeleteFunc(slices.Clone(all), func(o policy.Outcome) bool {
		return o.Then != countersign.RuleAllow || o.Was != countersign.RuleAsk || !policy.Rejected(o.Step)
	})
	out = []countersign.WhatIfLoose{}
	for span := range slices.Chunk(all, core.SpanRecords) {
		var some []countersign.WhatIfLoose
		err := s.View(ctx, a, access.WhatIf, func(tx store.Tx) error {
			some = nil
			known := names.In(tx, a.Tenant)
			for _, o := range span {
				one, err := s.loose(tx, known, a, o)
				if err != nil {
					return err
				}
				some = append(some, one)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

func (s *WhatIfService) loose(tx store.Tx, known names.ReadNames, a core.Actor, o policy.Outcome) (one countersign.WhatIfLoose, err error) {
	run := *o.Run
	run.Steps = []countersign.StepRun{*o.Step}
	if err := s.MaskFor(tx, a, &run); err != nil {
		return one, err
	}
	one = countersign.WhatIfLoose{RunID: run.ID, Inputs: run.Steps[0].Input}
	rec, _, err := records.Approvals.Get(tx, a.Tenant, o.Step.ApprovalID)
	if errors.Is(err, store.ErrNotFound) {
		return one, nil // archived meanwhile
	}
	if passed, err := s.Passes(store.Approvals, a.Tenant, o.Step.ApprovalID, err); passed || err != nil {
		return one, err
	}
	one.DecidedBy, one.Reason = rec.DecidedBy, rec.DecisionReason
	one.DecidedByName, err = known.Of(rec.DecidedBy)
	return one, err
}
