package core

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
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// refusalLog records refusals.
type refusalLog struct {
	Config        *Config
	core          *Core
	refusalCounts refusalCounts // repeated refusals
}

// The first refusal of a principal, operation and code is recorded at once. Repeats within
// a minute are counted in memory and written as one record when the minute ends, so that a
// thousand refusals don't fill the log. A process that is killed loses at most that count.
// Each replica counts its own.

const (
	repeatWindow     = time.Minute
	maxRefusalCounts = 10_000 // kinds of refusal that are counted at once; beyond them, each refusal is recorded
)

// refusal identifies refusals that are counted together.
type refusal struct {
	tenant, actor, action, outcome string
	identity                       countersign.Identity   // of an agent that signs in at an identity provider
	behalf                         countersign.OnBehalfOf // and for whom
}

// refusalCount counts the repeats of a refusal during one minute.
type refusalCount struct {
	count int64                   // of the repeats
	last  countersign.AuditRecord // the latest of them

	recorded chan struct{} // closed once the first refusal is recorded, or has failed to be
	failed   bool          // the first refusal is not recorded; no repeat was counted
	timer    *time.Timer
}

// refusalCounts holds the counts of the minutes under way.
type refusalCounts struct {
	mu     sync.Mutex
	open   map[refusal]*refusalCount
	closed bool
}

// count counts a refusal in its minute, or begins a minute. If first is true, the caller
// must record the refusal and, unless in is nil, call settle. over runs when the minute ends.
func (r *refusalCounts) count(k refusal, rec countersign.AuditRecord, over func()) (in *refusalCount, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now, is := r.open[k]; is {
		now.merge(1, rec)
		return now, false
	}
	if r.closed || len(r.open) >= maxRefusalCounts {
		return nil, true
	}
	in = &refusalCount{recorded: make(chan struct{})}
	r.begin(k, in, over)
	return in, true
}

// begin begins a minute. The caller holds mu.
func (r *refusalCounts) begin(k refusal, now *refusalCount, over func()) {
	if r.open == nil {
		r.open = map[refusal]*refusalCount{}
	}
	r.open[k], now.timer = now, time.AfterFunc(repeatWindow, over)
}

// settle reports how the recording of a minute's first refusal ended: recorded by this
// process; recorded by another one, so this refusal is a repeat; or failed, which ends
// the minute.
func (r *refusalCounts) settle(k refusal, in *refusalCount, rec countersign.AuditRecord, err error) {
	if in == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case errors.Is(err, errRecordedElsewhere):
		in.merge(1, rec)
	case err != nil:
		in.failed = true
		in.timer.Stop()
		if r.open[k] == in {
			delete(r.open, k)
		}
	}
	close(in.recorded)
}

// merge adds a number of refusals, of which last is the latest. A subject that they don't
// all share is left out.
func (r *refusalCount) merge(count int64, last countersign.AuditRecord) {
	if r.count > 0 && r.last.Subject != last.Subject {
		kind, _, _ := strings.Cut(last.Subject, "/")
		last.Subject = kind + "/*" // no id has an asterisk
	}
	r.count, r.last = r.count+count, last
}

// end ends a minute.
func (r *refusalCounts) end(k refusal) (ended refusalCount) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now, is := r.open[k]; is {
		now.timer.Stop()
		ended = *now
		delete(r.open, k)
	}
	return ended
}

// close ends every minute and lets no new one begin.
func (r *refusalCounts) close() []refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return slices.Collect(maps.Keys(r.open))
}

// recordRefusal writes a refusal to the audit log, or counts it. It counts a repeat only
// after the first refusal of the minute is recorded, so every refusal that is answered is
// recorded or counted.
func (r *refusalLog) recordRefusal(ctx context.Context, op access.Operation, tenant string, rec countersign.AuditRecord) error {
	k := refusal{tenant: tenant, actor: rec.Actor, action: rec.Action, outcome: rec.Outcome}
	if rec.Identity != nil {
		k.identity = *rec.Identity
	}
	if rec.OnBehalfOf != nil {
		k.behalf = *rec.OnBehalfOf
	}
	for {
		in, first := r.refusalCounts.count(k, rec, func() { r.endMinute(k) })
		if first {
			return r.recordFirst(ctx, op, k, in, rec)
		}
		select {
		case <-in.recorded:
			if !in.failed {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (r *refusalLog) recordFirst(ctx context.Context, op access.Operation, k refusal, in *refusalCount, rec countersign.AuditRecord) error {
	err := r.core.Store.Update(ctx, func(tx store.Tx) error {
		if recorded, err := r.recordedElsewhere(tx, k); err != nil {
			return err
		} else if recorded && in != nil {
			return errRecordedElsewhere
		}
		return r.appendRefusals(tx, k.tenant, rec)
	})
	crashpoint.At("control.refused", op)
	r.refusalCounts.settle(k, in, rec, err)
	if errors.Is(err, errRecordedElsewhere) {
		return nil
	}
	return err
}

// appendRefusals records refusals as of now: those of a transaction that has waited for its turn
// are not earlier than the records before them.
func (r *refusalLog) appendRefusals(tx store.Tx, tenant string, records ...countersign.AuditRecord) error {
	now := r.Config.Now()
	for i := range records {
		records[i].At = now
	}
	return audit.Append(tx, tenant, records)
}

// errRecordedElsewhere rolls back the transaction of a refusal that another process has recorded.
var errRecordedElsewhere = errors.New("control: recorded by another process")

// recordedElsewhere reports that another process has recorded such a refusal within the minute.
func (r *refusalLog) recordedElsewhere(tx store.Tx, k refusal) (bool, error) {
	if !r.Config.Shared {
		return false, nil
	}
	page, err := audit.List(tx, k.tenant, audit.Filter{Actor: k.actor, Action: k.action, Since: r.Config.Now().Add(-repeatWindow)}, countersign.MaxPageLimit, 0)
	return slices.ContainsFunc(page.Items, func(rec countersign.AuditRecord) bool { return rec.Outcome == k.outcome && k.isBy(rec) }), err
}

// isBy reports a record of the same identity, on behalf of the same person.
func (r refusal) isBy(rec countersign.AuditRecord) bool {
	identity, behalf := rec.Identity, rec.OnBehalfOf
	return (identity == nil) == (r.identity == countersign.Identity{}) && (identity == nil || *identity == r.identity) &&
		(behalf == nil) == (r.behalf == countersign.OnBehalfOf{}) && (behalf == nil || *behalf == r.behalf)
}

// endMinute ends a minute and records what was counted in it.
func (r *refusalLog) endMinute(k refusal) {
	r.refusalCounts.mu.Lock()
	closed := r.refusalCounts.closed
	if !closed {
		r.core.Background.Add(1) // before Close waits
	}
	r.refusalCounts.mu.Unlock()
	if !closed {
		defer r.core.Background.Done()
		r.recordRepeats(k)
	}
}

func (r *refusalLog) recordRepeats(k refusal) {
	ended := r.refusalCounts.end(k)
	if ended.count == 0 {
		return
	}
	err := r.core.Store.Update(context.Background(), func(tx store.Tx) error { return r.appendRefusals(tx, k.tenant, ended.record()) })
	if err != nil {
		r.core.Log.Warn("refusals not recorded", "tenant", k.tenant, "actor", k.actor, "action", k.action, "count", ended.count, "error", err)
		r.keepCounting(k, ended)
	}
}

// record is the record of what was counted.
func (r *refusalCount) record() countersign.AuditRecord {
	rec := r.last
	rec.Count = r.count
	return rec
}

// keepCounting keeps a count that could not be recorded for another minute.
func (r *refusalLog) keepCounting(k refusal, of refusalCount) {
	r.refusalCounts.mu.Lock()
	defer r.refusalCounts.mu.Unlock()
	if now, is := r.refusalCounts.open[k]; is {
		if now.count > 0 {
			of.merge(now.count, now.last)
		}
		now.count, now.last = of.count, of.last
		return
	}
	if !r.refusalCounts.closed {
		r.refusalCounts.begin(k, &of, func() { r.endMinute(k) }) // recorded is closed already
	}
}

const (
	// closeTimeout bounds how long a stopping service tries to record its counts, even if the
	// store is unavailable: a supervisor waits only a few seconds beyond the grace period.
	closeTimeout = 5 * time.Second
	// refusalsPerCommit is how many records share a transaction while the service stops.
	refusalsPerCommit = 500
)

// recordAllRepeats records all counts when the service stops, tenant by tenant, within
// closeTimeout.
func (r *refusalLog) recordAllRepeats() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	repeats := map[string][]countersign.AuditRecord{}
	for _, k := range r.refusalCounts.close() {
		if ended := r.refusalCounts.end(k); ended.count > 0 {
			repeats[k.tenant] = append(repeats[k.tenant], ended.record())
		}
	}
	for tenant, records := range repeats {
		for span := range slices.Chunk(records, refusalsPerCommit) {
			if err := r.core.Store.Update(ctx, func(tx store.Tx) error { return r.appendRefusals(tx, tenant, span...) }); err != nil {
				r.core.Log.Warn("refusals not recorded", "tenant", tenant, "records", len(span), "count", refusalsIn(span), "error", err)
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

// Refuse records a refused request of a known principal, if refusals of the operation are
// recorded. Repeats are counted in one record. It returns the error to answer with:
// `unavailable` instead of the refusal if the record can't be written.
func (s *Core) Refuse(ctx context.Context, a Actor, op access.Operation, subject string, err error) error {
	code := countersign.ErrorCode(err)
	told := a.Making != nil || code == countersign.CodeChangeProposed // to whoever decides what is made; by the record of the proposal
	if !access.IsWrite(op) || !code.Audited() || told {
		return err
	}
	rec := s.Record(a, op, s.recordedAs(ctx, a.Tenant, subject))
	rec.Outcome = countersign.AuditRefused + ": " + string(code)
	if unwritten := s.recordRefusal(ctx, op, a.Tenant, rec); unwritten != nil {
		return Public(unwritten)
	}
	return err
}

// recordedAs is the subject of a refusal: that of a decision is its run, as it is when it is
// made. An approval that isn't there is named itself.
func (s *Core) recordedAs(ctx context.Context, tenant, subject string) string {
	id, is := strings.CutPrefix(subject, "approval/")
	if !is {
		return subject
	}
	err := s.Read(ctx, func(tx store.Tx) error {
		rec, _, err := records.Approvals.Get(tx, tenant, id)
		if err == nil {
			subject = "run/" + rec.RunID
		}
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		s.Log.WarnContext(ctx, "a refused decision is recorded with its approval, for its run can't be read", "approval", id, "error", err)
	}
	return subject
}
