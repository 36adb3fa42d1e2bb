package control

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
)

// The first refusal of a principal, operation and code is recorded at once. Repeats within
// a minute are counted in memory and written as one record when the minute ends, so that a
// thousand refusals don't fill the log. A process that is killed loses at most that count.
// Each replica counts its own.

const (
	foldedFor = time.Minute
	mostFolds = 10_000 // kinds of refusal that are counted at once; beyond them, each refusal is recorded
)

// refusal identifies refusals that are counted together.
type refusal struct {
	tenant, actor, action, outcome string
}

// fold counts the repeats of a refusal during one minute.
type fold struct {
	count int64                   // of the repeats
	last  countersign.AuditRecord // the latest of them

	known  chan struct{} // closed once the first refusal is recorded, or has failed to be
	failed bool          // the first refusal is not recorded; no repeat was counted
	timer  *time.Timer
}

// folds holds the counts of the minutes under way.
type folds struct {
	mu     sync.Mutex
	open   map[refusal]*fold
	closed bool
}

// join counts a refusal in its minute, or begins one. If first, the caller must record the
// refusal and, unless in is nil, call settle. over is called when the minute ends.
func (f *folds) join(k refusal, rec countersign.AuditRecord, over func()) (in *fold, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now, is := f.open[k]; is {
		now.add(rec)
		return now, false
	}
	if f.closed || len(f.open) >= mostFolds {
		return nil, true
	}
	in = &fold{known: make(chan struct{})}
	f.begin(k, in, over)
	return in, true
}

// begin begins a minute; mu is held.
func (f *folds) begin(k refusal, now *fold, over func()) {
	if f.open == nil {
		f.open = map[refusal]*fold{}
	}
	f.open[k], now.timer = now, time.AfterFunc(foldedFor, over)
}

// settle reports how the recording of a minute's first refusal ended: recorded by this
// process; recorded by another one, so this refusal is a repeat; or failed, which ends
// the minute.
func (f *folds) settle(k refusal, in *fold, rec countersign.AuditRecord, err error) {
	if in == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case errors.Is(err, errTold):
		in.add(rec)
	case err != nil:
		in.failed = true
		in.timer.Stop()
		if f.open[k] == in {
			delete(f.open, k)
		}
	}
	close(in.known)
}

// add counts a refusal.
func (n *fold) add(rec countersign.AuditRecord) { n.join(1, rec) }

// join adds a number of refusals, of which last is the latest. A subject that they don't
// all share is left out.
func (n *fold) join(count int64, last countersign.AuditRecord) {
	if n.count > 0 && n.last.Subject != last.Subject {
		kind, _, _ := strings.Cut(last.Subject, "/")
		last.Subject = kind + "/*" // no id has an asterisk
	}
	n.count, n.last = n.count+count, last
}

// end ends a minute.
func (f *folds) end(k refusal) (ended fold) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now, is := f.open[k]; is {
		now.timer.Stop()
		ended = *now
		delete(f.open, k)
	}
	return ended
}

// all ends every minute and lets no new one begin.
func (f *folds) all() []refusal {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return slices.Collect(maps.Keys(f.open))
}

// recordRefusal writes a refusal to the audit log, or counts it. It counts a repeat only
// after the first refusal of the minute is recorded, so every refusal that is answered is
// recorded or counted.
func (s *Service) recordRefusal(ctx context.Context, op access.Operation, tenant string, rec countersign.AuditRecord) error {
	k := refusal{tenant, rec.Actor, rec.Action, rec.Outcome}
	for {
		in, first := s.folds.join(k, rec, func() { s.unfold(k) })
		if first {
			return s.recordFirst(ctx, op, k, in, rec)
		}
		select {
		case <-in.known:
			if !in.failed {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *Service) recordFirst(ctx context.Context, op access.Operation, k refusal, in *fold, rec countersign.AuditRecord) error {
	err := s.store.Update(ctx, func(tx store.Tx) error {
		if told, err := s.toldElsewhere(tx, k, rec.At); err != nil {
			return err
		} else if told && in != nil {
			return errTold
		}
		return appendAudit(tx, k.tenant, rec)
	})
	crashpoint.At("control.refused", op)
	s.folds.settle(k, in, rec, err)
	if errors.Is(err, errTold) {
		return nil
	}
	return err
}

// errTold rolls back the transaction of a refusal that another process has recorded.
var errTold = errors.New("control: recorded by another process")

// toldElsewhere reports that another process has recorded such a refusal within the minute.
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
	rec := ended.told(s.cfg.Now())
	err := s.store.Update(context.Background(), func(tx store.Tx) error { return appendAudit(tx, k.tenant, rec) })
	if err != nil {
		s.log.Warn("refusals not recorded", "tenant", k.tenant, "actor", k.actor, "action", k.action, "count", ended.count, "error", err)
		s.keep(k, ended)
	}
}

// told is the record of what was counted.
func (n *fold) told(at time.Time) countersign.AuditRecord {
	rec := n.last
	rec.At, rec.Count = at, n.count
	return rec
}

// keep counts refusals that could not be recorded for another minute.
func (s *Service) keep(k refusal, of fold) {
	s.folds.mu.Lock()
	defer s.folds.mu.Unlock()
	if now, is := s.folds.open[k]; is {
		if now.count > 0 {
			of.join(now.count, now.last)
		}
		now.count, now.last = of.count, of.last
		return
	}
	if !s.folds.closed {
		s.folds.begin(k, &of, func() { s.unfold(k) }) // known is closed already
	}
}

const (
	// foldsEnd bounds how long a stopping service tries to record its counts, also if the
	// store is unavailable: a supervisor waits only some seconds longer than the grace.
	foldsEnd = 5 * time.Second
	// foldsAtOnce is how many records then share a transaction.
	foldsAtOnce = 500
)

// recordFolds records all counts when the service stops, tenant by tenant, until foldsEnd.
func (s *Service) recordFolds() {
	ctx, cancel := context.WithTimeout(context.Background(), foldsEnd)
	defer cancel()
	told := map[string][]countersign.AuditRecord{}
	for _, k := range s.folds.all() {
		if ended := s.folds.end(k); ended.count > 0 {
			told[k.tenant] = append(told[k.tenant], ended.told(s.cfg.Now()))
		}
	}
	for tenant, records := range told {
		for span := range slices.Chunk(records, foldsAtOnce) {
			err := s.store.Update(ctx, func(tx store.Tx) error { return audit.Append(tx, tenant, span) })
			if err != nil {
				s.log.Warn("refusals not recorded", "tenant", tenant, "records", len(span), "count", refusalsIn(span), "error", err)
			}
		}
	}
}

func refusalsIn(records []countersign.AuditRecord) (n int64) {
	for _, r := range records {
		n += r.Count
	}
	return n
}
