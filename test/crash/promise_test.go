package crash

import (
	"fmt"

	"github.com/countersign/countersign/test/harness"
)

// promise is a change that was answered with success: it is never lost, whatever crashes (A1), and has its audit record
// (A2).
type promise struct {
	what      string
	requestID string // "" if the change is not audited
	action    string // action of the audit record
	holds     func(p *picture) error
}

func (l *life) promise(a *harness.Answer, action, what string, holds func(p *picture) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.promises = append(l.promises, promise{what: what, requestID: a.Header.Get("X-Request-Id"), action: action, holds: holds})
}

// checkPromises checks the promises made since the last check, or all of them.
func (l *life) checkPromises(all bool) {
	from := l.kept
	if all {
		from = 0
	}
	for _, promise := range l.promises[from:] {
		if err := promise.holds(l.picture); err != nil {
			l.fault("A1: %s was acknowledged: %v", promise.what, err)
		}
		l.checkAudited(promise)
	}
	l.kept = len(l.promises)
}

func (l *life) checkAudited(p promise) {
	if p.action == "" {
		return
	}
	n := 0
	for _, r := range l.picture.log.byRequest[p.requestID] {
		if r.At("action").Text() == p.action && r.At("outcome").Text() == "done" {
			n++
		}
	}
	if n != 1 {
		l.fault("A2: %s was acknowledged and has %d records %s of request %s", p.what, n, p.action, p.requestID)
	}
}

// runIs promises that a run exists once under its key.
func runIs(id, key string) func(*picture) error {
	return func(p *picture) error {
		if got := p.runs[id].At("idempotencyKey").Text(); got != key {
			return fmt.Errorf("run %s has the key %q, not %q", id, got, key)
		}
		return nil
	}
}

func approvalIs(id, decision, reason string) func(*picture) error {
	return func(p *picture) error {
		a := p.approvals[id]
		if a.At("status").Text() != decision || a.At("decisionReason").Text() != reason {
			return fmt.Errorf("approval %s is %s", id, a)
		}
		return nil
	}
}

// cancelIs promises that a run has ended, or will once its outcome is known.
func cancelIs(id string) func(*picture) error {
	return func(p *picture) error {
		r := p.runs[id]
		if is := r.At("status").Text(); is != "CANCELLED" && (is != "RECOVERY_REQUIRED" || r.At("cancelRequested").String() != "true") {
			return fmt.Errorf("run %s is %s", id, r)
		}
		return nil
	}
}

// reconcileIs promises that a person's reconcile was recorded once.
func reconcileIs(id, resolution, evidence string) func(*picture) error {
	return func(p *picture) error {
		if n := p.log.evidence[resolution+": "+evidence]; n != 1 {
			return fmt.Errorf("the reconcile of run %s is recorded %d times", id, n)
		}
		return nil
	}
}

func (l *life) planIs(id string) func(*picture) error {
	return func(*picture) error {
		if a := l.Admin.Get("/plans/" + id); a.Status != 200 {
			return fmt.Errorf("%s", a)
		}
		return nil
	}
}

// modelIs promises at least this revision, and at this revision this name.
func (l *life) modelIs(id string, revision int, name string) func(*picture) error {
	return func(*picture) error {
		m := l.Admin.Get("/models/" + id)
		now := m.At("revision").Int()
		if m.Status != 200 || now < revision || now == revision && m.At("name").Text() != name {
			return fmt.Errorf("revision %d of model %s is %s", revision, id, m)
		}
		return nil
	}
}
