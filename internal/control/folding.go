package control

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/access"
	"github.com/countersign/countersign/internal/audit"
	"github.com/countersign/countersign/internal/crashpoint"
	"github.com/countersign/countersign/internal/store"
)

// The first refusal of a principal and operation with a code is recorded at once. Those
// that repeat it within a minute are counted in memory, and are one more record when the
// minute is over: whoever is refused a thousand times fills no log. A process that is
// killed loses at most that count. Replicas count apart.

const (
	foldedFor = time.Minute
	mostFolds = 10_000 // minutes that are counted at once; beyond them, each refusal is recorded
)

// refusal is what is folded.
type refusal struct {
	tenant, actor, action, outcome string
}

// fold is the minute of a refusal.
type fold struct {
	count int64                   // of the repeats
	last  countersign.AuditRecord // the latest of them
}

// folds are the minutes under way.
type folds struct {
	mu     sync.Mutex
	open   map[refusal]*fold
	timers map[refusal]*time.Timer
	closed bool
}

// repeats reports a refusal that was counted instead of recorded. One that begins a
// minute isn't; over is called when that ends.
func (f *folds) repeats(k refusal, rec countersign.AuditRecord, over func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now, is := f.open[k]; is {
		now.add(rec)
		return true
	}
	if !f.closed && len(f.open) < mostFolds {
		f.begin(k, &fold{}, over)
	}
	return false
}

// begin begins a minute; mu is held.
func (f *folds) begin(k refusal, now *fold, over func()) {
	if f.open == nil {
		f.open, f.timers = map[refusal]*fold{}, map[refusal]*time.Timer{}
	}
	f.open[k], f.timers[k] = now, time.AfterFunc(foldedFor, over)
}

// add counts a refusal. What not all of them were about is left open.
func (n *fold) add(rec countersign.AuditRecord) {
	if n.count > 0 && n.last.Subject != rec.Subject {
		kind, _, _ := strings.Cut(rec.Subject, "/")
		rec.Subject = kind + "/*" // no id has an asterisk
	}
	n.count, n.last = n.count+1, rec
}

// counted counts a refusal that is recorded already, by another process.
func (f *folds) counted(k refusal, rec countersign.AuditRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now, is := f.open[k]; is {
		now.add(rec)
	}
}

// end ends a minute.
func (f *folds) end(k refusal) (ended fold) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now, is := f.open[k]; is {
		f.timers[k].Stop()
		ended = *now
		delete(f.open, k)
		delete(f.timers, k)
	}
	return ended
}

// all ends every minute, and begins none any more.
func (f *folds) all() (keys []refusal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for k := range f.open {
		keys = append(keys, k)
	}
	return keys
}

// recordRefusal writes a refusal to the audit log, or counts it.
func (s *Service) recordRefusal(ctx context.Context, op access.Operation, tenant string, rec countersign.AuditRecord) error {
	k := refusal{tenant, rec.Actor, rec.Action, rec.Outcome}
	if s.folds.repeats(k, rec, func() { s.unfold(k) }) {
		return nil
	}
	err := s.store.Update(ctx, func(tx store.Tx) error {
		if told, err := s.toldElsewhere(tx, k, rec.At); err != nil || told {
			return errors.Join(err, errTold)
		}
		return appendAudit(tx, tenant, rec)
	})
	crashpoint.At("control.refused", op)
	switch {
	case errors.Is(err, errTold):
		s.folds.counted(k, rec)
		return nil
	case err != nil:
		s.keep(k, s.folds.end(k)) // the next one is the first, unless others were counted meanwhile
	}
	return err
}

// errTold ends the transaction of a refusal that another process has recorded.
var errTold = errors.New("control: recorded by another process")

// toldElsewhere reports that another process on the store has recorded the like within
// the minute.
func (s *Service) toldElsewhere(tx store.Tx, k refusal, now time.Time) (bool, error) {
	if !s.cfg.Shared {
		return false, nil
	}
	page, err := audit.List(tx, k.tenant, audit.Filter{Actor: k.actor, Action: k.action, Since: now.Add(-foldedFor)}, countersign.MaxPageLimit, 0)
	for _, rec := range page.Items {
		if rec.Outcome == k.outcome {
			return true, err
		}
	}
	return false, err
}

// unfold ends a minute and records what was counted in it.
func (s *Service) unfold(k refusal) {
	s.folds.mu.Lock()
	closed := s.folds.closed
	if !closed {
		s.chores.Add(1) // before Close waits
	}
	s.folds.mu.Unlock()
	if !closed {
		defer s.chores.Done()
		s.recordFold(k)
	}
}

func (s *Service) recordFold(k refusal) {
	ended := s.folds.end(k)
	if ended.count == 0 {
		return
	}
	rec := ended.last
	rec.At, rec.Count = s.cfg.Now(), ended.count
	err := s.store.Update(context.Background(), func(tx store.Tx) error { return appendAudit(tx, k.tenant, rec) })
	if err != nil {
		s.log.Warn("refusals not recorded", "tenant", k.tenant, "actor", k.actor, "action", k.action, "count", ended.count, "error", err)
		s.keep(k, ended)
	}
}

// keep takes back what was counted and could not be recorded, for another minute.
func (s *Service) keep(k refusal, of fold) {
	if of.count == 0 {
		return
	}
	s.folds.mu.Lock()
	defer s.folds.mu.Unlock()
	if now, is := s.folds.open[k]; is {
		now.count += of.count
		if now.last.Actor == "" {
			now.last = of.last
		}
		return
	}
	if !s.folds.closed {
		s.folds.begin(k, &of, func() { s.unfold(k) })
	}
}

// recordFolds records what was counted when the service ends.
func (s *Service) recordFolds() {
	for _, k := range s.folds.all() {
		s.recordFold(k)
	}
}
