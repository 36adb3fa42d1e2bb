package engine

import (
	"time"

	"github.com/countersign/countersign/internal/rules/cost"
	"github.com/countersign/countersign/internal/rules/precondition"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
)

// look makes the read of a look, whose intent is committed, and says what it found. A cancel ends it
// early. What the answer says is judged here and not in the store's turn.
func (e *Engine) look(ref runrepo.Ref, d *execution, l *run.Look) (run.Looked, error) {
	until, err := e.mayCall(e.life)
	if err != nil {
		return run.Looked{}, err
	}
	e.mu.Lock()
	d.calling = true
	e.mu.Unlock()
	looked := run.Looked{Step: l.Step, N: l.N}
	call := lookCall(ref, l, until)
	outcome := e.caller.Call(d.span.In(d.ctx), call)
	looked.Found = e.found(ref, l, outcome)
	return looked, nil
}

// Look makes the read of a reviewer's look, whose intent is committed.
func (e *Engine) Look(ref runrepo.Ref, l *run.Look) (run.Looked, error) {
	until, err := e.mayCall(e.life)
	if err != nil {
		return run.Looked{}, err
	}
	return run.Looked{Step: l.Step, N: l.N, Found: e.found(ref, l, e.caller.Call(e.life, lookCall(ref, l, until)))}, nil
}

func lookCall(ref runrepo.Ref, l *run.Look, until time.Time) request.Call {
	call := l.Call
	call.Tenant, call.SendBefore = ref.Tenant, until
	return call
}

func (e *Engine) found(ref runrepo.Ref, l *run.Look, o request.Outcome) (f precondition.Found) {
	if err := e.runs.Judge(e.life, ref.Tenant, func(m *cost.Meter) { f = precondition.Read(m, l.Precondition, l.Read, o) }); err != nil && f.Problem == "" {
		f.Holds, f.Problem = false, "what must be so takes too much to be judged"
	}
	return f
}
