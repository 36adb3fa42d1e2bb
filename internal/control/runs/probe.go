package runs

import (
	"context"
	"slices"
	"sync"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/mask"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/credowner"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/store"
)

// ProbeService sends reviewers' probes.
type ProbeService struct {
	*core.Core
	runs    *RunService
	prober  core.Prober
	probing sync.Map // runrepo.Ref of each run with a probe under way
}

// NewProbes returns the use cases.
func NewProbes(c *core.Core, runs *RunService, p core.Prober) *ProbeService {
	return &ProbeService{Core: c, runs: runs, prober: p}
}

// Probe sends the uncertain step's probe, a read, and stores its answer as evidence. It
// decides nothing, and works while the project is disabled (contract 6). Its intent is
// committed first, with the number that its key has and its digest: what has left can't be
// undone, and is kept whatever becomes of the run, the caller or the store meanwhile.
func (s *ProbeService) Probe(ctx context.Context, a core.Actor, id, stepID string) (countersign.Run, error) {
	ref := runrepo.Ref{Tenant: a.Tenant, RunID: id}
	if _, underway := s.probing.LoadOrStore(ref, true); underway {
		err := countersign.Errorf(countersign.CodeStateConflict, "a probe of run %s is under way", id)
		return countersign.Run{}, s.Refuse(ctx, a, access.ProbeRun, "run/"+id, err)
	}
	defer s.probing.Delete(ref)
	if r, done, err := s.askByProbe(ctx, a, ref, stepID); done || err != nil {
		return r, err
	}
	p, err := s.letOut(ctx, a, ref, stepID)
	if err != nil {
		return countersign.Run{}, err
	}
	ctx = context.WithoutCancel(ctx) // record what is sent, even if the client has disconnected
	out := s.prober.Call(ctx, p.call)
	p.record.Response, p.record.Output, p.record.Error = out.Response, out.Body, out.Cause
	if out.Response == nil && out.Cause == "" {
		p.record.Error = "no usable answer came"
	}
	if err := s.keepProbe(ctx, a, ref, p); err != nil {
		return countersign.Run{}, err
	}
	return s.afterProbe(ctx, a, id)
}

// probe is a probe that is ready to be sent.
type probe struct {
	step   int
	digest string
	call   request.Call
	record countersign.ProbeRecord
}

// letOut checks that a probe may be sent and commits its intent. The transaction gives it its
// number, so no two share a key, whichever processes send them.
func (s *ProbeService) letOut(ctx context.Context, a core.Actor, ref runrepo.Ref, stepID string) (p probe, err error) {
	var moved runrepo.Moved
	err = s.Update(ctx, a, access.ProbeRun, "run/"+ref.RunID, func(tx store.Tx) error {
		rec, err := reach.Run(tx, a, ref.RunID)
		if err != nil {
			return err
		}
		if err := s.MayJudgeRun(a, access.ProbeRun)(tx, rec); err != nil {
			return err
		}
		held, err := s.Repo.Load(tx, ref)
		if err != nil {
			return err
		}
		if p, err = s.buildProbe(a, held, stepID); err != nil {
			return err
		}
		if p.call.BoundTo, err = credowner.OfProject(tx, p.call.Project); err != nil {
			return err
		}
		if moved, err = s.Repo.Apply(tx, ref, held, run.Probing{Step: p.step, Probe: p.record, Digest: p.digest}, a.RunActor()); err != nil {
			return err
		}
		probes := moved.Run.Run().Steps[p.step].Probes
		p.record.N = probes[len(probes)-1].N
		p.call.IdempotencyKey = run.ProbeKey(ref.RunID, stepID, p.record.N)
		return nil
	})
	if err == nil {
		s.runs.Settled(ctx, moved)
	}
	return p, err
}

// keepProbe stores what came of a probe, also on a disk that is full. While the store can't be
// written it tries again, for some time: then the log has what the store couldn't take.
func (s *ProbeService) keepProbe(ctx context.Context, a core.Actor, ref runrepo.Ref, p probe) error {
	var moved runrepo.Moved
	err := s.KeepSent(ctx, func(tx store.Tx) (err error) {
		moved, err = s.Repo.Apply(tx, ref, nil, run.Probed{Step: p.step, Probe: p.record}, a.RunActor())
		return err
	})
	if err == nil {
		s.runs.Settled(ctx, moved)
		return nil
	}
	status, digest := 0, ""
	if r := p.record.Response; r != nil {
		status, digest = r.StatusCode, string(r.BodySHA256)
	}
	s.Log.Error("answer to a probe not stored", "tenant", ref.Tenant, "run", ref.RunID, "key", p.call.IdempotencyKey, "status", status, "bodySha256", digest, "cause", p.record.Error, "error", err)
	return countersign.Errorf(countersign.CodeUnavailable, "probe %s was sent, and what came of it could not be stored; send another", p.call.IdempotencyKey)
}

// afterProbe reads the run for the answer, as the actor may see it.
func (s *ProbeService) afterProbe(ctx context.Context, a core.Actor, id string) (r countersign.Run, err error) {
	err = s.Read(ctx, func(tx store.Tx) error {
		r, err = s.runs.WholeRun(tx, a, id)
		return err
	})
	return r, err
}

func (s *ProbeService) buildProbe(a core.Actor, h *runrepo.LoadedRun, stepID string) (probe, error) {
	steps := h.Run().Steps
	i := slices.IndexFunc(steps, func(st countersign.StepRun) bool { return st.ID == stepID })
	if i < 0 {
		return probe{}, countersign.Invalid("stepId", "run %s has no step %s", h.Ref.RunID, stepID)
	}
	step := &steps[i]
	if step.Status != countersign.StepRecoveryRequired {
		return probe{}, countersign.Errorf(countersign.CodeStateConflict, "step %s is %s; only an uncertain step is probed", stepID, step.Status)
	}
	if err := run.MayProbe(h.Run(), s.Config.Quotas.Probes); err != nil {
		return probe{}, err
	}
	project, capability := mask.TargetOf(h.Plan(), step.ProjectID, step.Capability)
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
	return probe{
		step: i, digest: request.Digest(req, project.ID, project.Revision, read.Name),
		call: request.Call{
			Tenant: a.Tenant, RunID: h.Ref.RunID, StepID: stepID, Project: project, Request: req, Input: input, Timeout: read.Timeout(),
		},
		record: countersign.ProbeRecord{By: a.ID, At: s.Config.Now(), Capability: read.Name, Request: &req},
	}, nil
}
