package runrepo

import (
	"context"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/storage/records"
)

// latestRuns has the newest state of some runs, for a store that only this process writes
// to. Each function that writes a run says so before it can be committed, and from then on
// nothing is known of the run until its very version is known to be committed. So what is
// known can't be older than what the store would have answered at that moment.
type latestRuns struct {
	mu   sync.Mutex // a look and what follows from it are one
	runs *cache.Cache[Ref, latestRun]
}

// latestRun is the version of a run that was written last.
type latestRun struct {
	version int64
	record  *records.Run // nil: perhaps not committed
	commit  *commit      // of this version, or of a later one; nil: nobody waits for it
	late    bool         // it is not worth waiting: the transaction failed, or takes long
}

// commit is what readers wait for.
type commit struct {
	done   chan struct{} // closed once record is set
	record *records.Run
}

func (l *latestRuns) writing(ref Ref, version int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was, _ := l.runs.Get(ref)
	l.runs.Put(ref, latestRun{version: version, commit: was.commit})
}

// committed makes a version known, unless a later one was written meanwhile, or so many
// other runs that this can't be told any more.
func (l *latestRuns) committed(h *LoadedRun) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, ok := l.runs.Get(h.Ref)
	if !ok || last.version != h.version {
		return
	}
	if last.commit != nil {
		last.commit.record = &h.record
		close(last.commit.done)
	}
	l.runs.Put(h.Ref, latestRun{version: h.version, record: &h.record})
}

// patience is how long a read waits for the commit of its run. It is longer than commits
// take, also under load; a failed one is never heard of.
const patience = 20 * time.Millisecond

// get gives the newest state, nil if it isn't known. While the run is written it waits for
// the commit: that costs less than to read from the store what is about to change, and
// whoever asks how a run goes needn't ask again.
func (l *latestRuns) get(ctx context.Context, ref Ref) *records.Run {
	record, next := l.look(ref)
	if next == nil {
		return record
	}
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-next.done:
		return next.record
	case <-ctx.Done():
	case <-t.C:
		l.giveUp(ref, next)
	}
	return nil
}

// look gives what is known, or the commit that will make it known.
func (l *latestRuns) look(ref Ref) (*records.Run, *commit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, ok := l.runs.Get(ref)
	if !ok || last.record != nil || last.late || last.version == deleted {
		return last.record, nil
	}
	if last.commit == nil {
		last.commit = &commit{done: make(chan struct{})}
		l.runs.Put(ref, last)
	}
	return nil, last.commit
}

func (l *latestRuns) giveUp(ref Ref, on *commit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last, _ := l.runs.Get(ref); last.commit == on {
		last.late = true
		l.runs.Put(ref, last)
	}
}

// Latest gives the newest state of a run with its steps if that is in memory, else nil. It
// is for a store that only this process writes to, and must not be changed. It is not to be
// called in a transaction.
func (l *Repository) Latest(ctx context.Context, ref Ref) *records.Run {
	return l.latest.get(ctx, ref)
}

// Deletes is called by whoever deletes a run, in the transaction that does.
func (l *Repository) Deletes(ref Ref) { l.latest.writing(ref, deleted) }

// deleted is the version of no run.
const deleted = -1
