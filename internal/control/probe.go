package control

import (
	"context"
	"fmt"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/credowner"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
)

// Probe sends the uncertain step's probe, a read, and stores its answer as evidence. It
// decides nothing, and works while the project is disabled (contract 6).
func (s *Service) Probe(ctx context.Context, a Actor, id, stepID string) (countersign.Run, error) {
	ref := runrepo.Ref{Tenant: a.Tenant, RunID: id}
	if _, err := s.prepareProbe(ctx, a, ref, stepID); err != nil {
		return countersign.Run{}, s.Refuse(ctx, a, access.ProbeRun, "run/"+id, err)
	}
	if _, underway := s.probing.LoadOrStore(ref, true); underway {
		err := countersign.Errorf(countersign.CodeStateConflict, "a probe of run %s is under way", id)
		return countersign.Run{}, s.Refuse(ctx, a, access.ProbeRun, "run/"+id, err)
	}
	defer s.probing.Delete(ref)
	p, err := s.prepareProbe(ctx, a, ref, stepID) // again: an earlier probe may have ended meanwhile
	if err != nil {
		return countersign.Run{}, s.Refuse(ctx, a, access.ProbeRun, "run/"+id, err)
	}
	ctx = context.WithoutCancel(ctx) // record what is sent, even if the client has disconnected
	out := s.prober.Call(ctx, p.call)
	p.record.Response, p.record.Output, p.record.Error = out.Response, out.Body, out.Cause
	event := run.Probed{Step: p.step, Probe: p.record}
	return s.applyTo(ctx, a, access.ProbeRun, id, s.mayJudgeRun(a, access.ProbeRun), event)
}

// probe is a probe that is ready to be sent.
type probe struct {
	step   int
	call   request.Call
	record countersign.ProbeRecord
}

func (s *Service) prepareProbe(ctx context.Context, a Actor, ref runrepo.Ref, stepID string) (p probe, err error) {
	err = s.view(ctx, a, access.ProbeRun, func(tx store.Tx) error {
		rec, err := reachRun(tx, a, ref.RunID)
		if err != nil {
			return err
		}
		if err := s.mayJudgeRun(a, access.ProbeRun)(tx, rec); err != nil {
			return err
		}
		held, err := s.runs.Load(tx, ref)
		if err != nil {
			return err
		}
		if p, err = s.buildProbe(a, held, stepID); err != nil {
			return err
		}
		p.call.BoundTo, err = credowner.OfProject(tx, p.call.Project)
		return err
	})
	return p, err
}

func (s *Service) buildProbe(a Actor, h *runrepo.LoadedRun, stepID string) (probe, error) {
	steps := h.Run().Steps
	i := slices.IndexFunc(steps, func(st countersign.StepRun) bool { return st.ID == stepID })
	if i < 0 {
		return probe{}, countersign.Errorf(countersign.CodeInvalidRequest, "stepId: run %s has no step %s", h.Ref.RunID, stepID)
	}
	step := &steps[i]
	if step.Status != countersign.StepRecoveryRequired {
		return probe{}, countersign.Errorf(countersign.CodeStateConflict, "step %s is %s; only an uncertain step is probed", stepID, step.Status)
	}
	if err := run.MayProbe(h.Run(), s.cfg.Quotas.Probes); err != nil {
		return probe{}, err
	}
	project, capability := targetOf(h.Plan(), step.ProjectID, step.Capability)
	if capability == nil || capability.Probe == "" || project.Capability(capability.Probe) == nil {
		return probe{}, countersign.Errorf(countersign.CodeStateConflict, "capability %s has no probe; check the receiver another way", step.Capability)
	}
	read := project.Capability(capability.Probe)
	input, m := request.ForProbe(read, step.Input), cost.New(nil, cost.InTurn, 0)
	req, err := request.Build(m, project, read, input)
	if m.Over() {
		err = m.Err()
	}
	if err != nil {
		return probe{}, countersign.Errorf(countersign.CodeStateConflict, "the probe can't be made from the step's inputs: %v", err)
	}
	n := len(step.Probes) + 1
	return probe{
		step: i,
		call: request.Call{
			Tenant: a.Tenant, RunID: h.Ref.RunID, StepID: stepID, IdempotencyKey: fmt.Sprintf("%s.%s.probe-%d", h.Ref.RunID, stepID, n),
			Project: project, Request: req, Input: input, Timeout: read.Timeout(),
		},
		record: countersign.ProbeRecord{N: n, By: a.ID, At: s.cfg.Now(), Capability: read.Name, Request: &req},
	}, nil
}
