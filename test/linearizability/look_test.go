package linearizability

import (
	"fmt"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/storage/store"
)

// ends passes on what the engine publishes, and records the tick at which each run ended.
type ends struct {
	hub  *updates.Hub
	mu   sync.Mutex
	tick map[string]int64
}

// Publish implements engine.Publisher.
func (e *ends) Publish(tenant string, r *countersign.Run) {
	if r.Status.IsTerminal() {
		e.note(r.ID)
	}
	e.hub.Publish(tenant, r)
}

func (e *ends) note(runID string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tick == nil {
		e.tick = map[string]int64{}
	}
	if e.tick[runID] == 0 {
		e.tick[runID] = tick()
	}
}

// of is the tick at which the engine published the end of a run, 0 before.
func (e *ends) of(runID string) int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.tick[runID]
}

// await waits until a run is as wanted.
func (f *fixture) await(runID string, wanted func(*countersign.Run) bool) (countersign.Run, error) {
	w := f.hub.Watch(tenant, runID)
	defer w.Close()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		r, err := f.control.Run(background(), ann, runID)
		if err != nil || wanted(&r) {
			return r, err
		}
		select {
		case <-w.C:
		case <-late.C:
			return r, fmt.Errorf("run %s stays %s", runID, picture(&r))
		}
	}
}

// mustReach waits until a run has one of the statuses.
func (f *fixture) mustReach(runID string, statuses ...countersign.RunStatus) countersign.Run {
	f.t.Helper()
	r, err := f.await(runID, func(r *countersign.Run) bool { return is(r, statuses...) })
	f.must(err)
	return r
}

func is(r *countersign.Run, statuses ...countersign.RunStatus) bool {
	for _, s := range statuses {
		if r.Status == s {
			return true
		}
	}
	return false
}

func ended(r *countersign.Run) bool { return r.Status.IsTerminal() }

func picture(r *countersign.Run) string {
	text := string(r.Status)
	for i := range r.Steps {
		text += fmt.Sprintf(" %s:%s/%d", r.Steps[i].ID, r.Steps[i].Status, r.Steps[i].Attempt)
	}
	return text + " " + r.Error
}

// log returns the audit records about a subject, the oldest first.
func (f *fixture) log(subject string) (list []countersign.AuditRecord) {
	f.t.Helper()
	f.must(f.store.View(background(), func(tx store.Tx) error {
		page, err := audit.List(tx, tenant, audit.Filter{Subject: subject}, 0, 0)
		list = list[:0]
		for i := range page.Items {
			list = append(list, page.Items[len(page.Items)-1-i])
		}
		return err
	}))
	return list
}

// seq is the sequence number of the last record of an action about a subject and step, -1 if there is none. The log has
// the order of commits.
func (f *fixture) seq(subject, action, step string) (at int64) {
	f.t.Helper()
	at = -1
	for _, r := range f.log(subject) {
		if r.Action == action && r.Step == step && r.Outcome == countersign.AuditDone {
			at = r.Seq
		}
	}
	return at
}
