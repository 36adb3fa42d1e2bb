package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// The engine asks receivers what became of uncertain steps (contract 12.6). When is said by the
// run's own record; what is kept here only tells this process where to look, so that looking costs
// nothing where nobody is asked.

const (
	// askInterval is how often the engine looks whom to ask.
	askInterval = 250 * time.Millisecond
	// askedAtOnce is how many questions a project's receiver is asked at once.
	askedAtOnce = 4
	// recoveriesAtOnce is how many runs are read at once to find those that are asked about.
	recoveriesAtOnce = 200
	// scanInterval is how often a process looks for runs that another one asked about.
	scanInterval = 30 * time.Second
)

// questions are the runs whose receivers this process asks.
type questions struct {
	mu       sync.Mutex
	due      map[runrepo.Ref]asked
	underway map[runrepo.Ref]bool
	projects map[projectRef]int // questions under way
}

type asked struct {
	at      time.Time
	project projectRef
	force   bool // whatever the record says: once at each start
}

type projectRef struct{ tenant, id string }

// notice takes up when the receiver of a run is asked, as a commit has left it.
func (q *questions) notice(h *runrepo.LoadedRun) {
	r := h.Run()
	at := run.AskAt(r)
	if r.Status != countersign.RunRecoveryRequired {
		at = time.Time{}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if at.IsZero() {
		delete(q.due, h.Ref)
		return
	}
	q.add(h, at, false)
}

// add is notice under the lock.
func (q *questions) add(h *runrepo.LoadedRun, at time.Time, force bool) {
	i := slices.IndexFunc(h.Run().Steps, func(s countersign.StepRun) bool { return s.Status == countersign.StepRecoveryRequired })
	if i < 0 {
		return
	}
	if q.due == nil {
		q.due, q.underway, q.projects = map[runrepo.Ref]asked{}, map[runrepo.Ref]bool{}, map[projectRef]int{}
	}
	q.due[h.Ref] = asked{at, projectRef{h.Ref.Tenant, h.Run().Steps[i].ProjectID}, force}
}

// take takes the runs whose receivers are to be asked now, the longest due first, and as many of a
// project as may be.
func (q *questions) take(now time.Time) (refs []runrepo.Ref) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, ref := range slices.SortedFunc(maps.Keys(q.due), func(a, b runrepo.Ref) int {
		return cmp.Or(q.due[a].at.Compare(q.due[b].at), cmp.Compare(a.RunID, b.RunID))
	}) {
		a := q.due[ref]
		if now.Before(a.at) {
			break
		}
		if !q.underway[ref] && q.projects[a.project] < askedAtOnce {
			q.underway[ref] = true
			q.projects[a.project]++
			refs = append(refs, ref)
		}
	}
	return refs
}

// forced reports, once, that a run's receiver is asked whatever its record says.
func (q *questions) forced(ref runrepo.Ref) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	a := q.due[ref]
	force := a.force
	if force {
		a.force = false
		q.due[ref] = a
	}
	return force
}

// put ends what take has begun. A question that came to nothing is tried again after a while.
func (q *questions) put(ref runrepo.Ref, of projectRef, again time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.underway, ref)
	if q.projects[of]--; q.projects[of] <= 0 {
		delete(q.projects, of)
	}
	if a, is := q.due[ref]; is && !again.IsZero() && a.at.Before(again) {
		a.at = again
		q.due[ref] = a
	}
}

func (q *questions) projectOf(ref runrepo.Ref) projectRef {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.due[ref].project
}

// askDue asks the receivers of all runs for which it is time.
func (e *Engine) askDue() {
	for _, ref := range e.questions.take(e.runs.Now()) {
		of := e.questions.projectOf(ref)
		if !e.spawned(func() {
			err := e.ask(ref)
			again := time.Time{}
			if err != nil {
				again = e.runs.Now().Add(time.Minute)
			}
			e.questions.put(ref, of, again)
		}) {
			e.questions.put(ref, of, time.Time{})
		}
	}
}

// spawned is spawn, and says whether it runs f.
func (e *Engine) spawned(f func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopping {
		return false
	}
	e.work.Go(f)
	return true
}

// ask asks a run's receiver once, and has the key withdrawn where that is the service's to do.
func (e *Engine) ask(ref runrepo.Ref) error {
	event := run.Asking{Step: -1, Due: !e.questions.forced(ref)}
	for {
		moved, err := e.applyQuestion(ref, event)
		if err != nil {
			if countersign.ErrorCode(err) == countersign.CodeStateConflict { // it was settled, or is stopped
				err = nil
			} else {
				e.notApplied(ref, "can't ask what became of a step", err)
			}
			return err
		}
		if moved.Question == nil {
			return nil
		}
		record, err := e.Question(ref, moved.Question, false)
		if err != nil || record.State != countersign.KeyUnseen || !record.Valid || event.Withdraw || !run.SettlementOf(moved.Run.Plan(), &moved.Run.Run().Steps[moved.Question.Step]).Automatic() {
			return err
		}
		event = run.Asking{Step: -1, Withdraw: true}
	}
}

// applyQuestion commits the intent to ask.
func (e *Engine) applyQuestion(ref runrepo.Ref, event run.Event) (moved runrepo.Moved, err error) {
	defer e.runs.Moving(ref)()
	err = e.turn(context.Background(), func(tx store.Tx) error {
		if e.lease != nil {
			if err := e.lease.Check(tx); err != nil {
				return err
			}
		}
		moved, err = e.runs.Apply(tx, ref, nil, event, runrepo.System)
		return err
	})
	if err != nil {
		return runrepo.Moved{}, err
	}
	e.announce(moved, nil)
	e.questions.notice(moved.Run)
	return moved, nil
}

// Question puts a question, whose intent is committed, to a receiver, and commits what it says.
// withdraw: a person asked to have the key withdrawn.
func (e *Engine) Question(ref runrepo.Ref, q *run.Question, withdraw bool) (countersign.SettlementRecord, error) {
	until, err := e.mayCall(e.life)
	if err != nil {
		return countersign.SettlementRecord{}, err
	}
	call := q.Call
	call.Tenant, call.SendBefore = ref.Tenant, until
	crashpoint.At("engine.asking", call.Request.Method)
	outcome := e.caller.Call(e.life, call)
	crashpoint.At("engine.asked", call.Request.Method)
	record := run.Statement(outcome, q.Key, q.Sent)
	record.N, record.Withdrawing, record.Target = q.N, call.Request.Method == "POST", run.TargetOf(q)
	moved, err := e.applyAsked(ref, run.Asked{Step: q.Step, Record: record, Withdraw: withdraw})
	if err != nil {
		e.notApplied(ref, "can't keep what the receiver says became of a step", err)
		return record, err
	}
	e.Drive(moved.Run)
	return record, nil
}

// applyAsked commits an answer. While the store can't be written it is tried again for a while;
// one that is lost is asked for again.
func (e *Engine) applyAsked(ref runrepo.Ref, event run.Event) (moved runrepo.Moved, err error) {
	for wait := minRetry; ; wait = min(2*wait, maxRetry) {
		if moved, err = e.applyQuestion(ref, event); !errors.Is(err, store.ErrUnavailable) || !e.pause(wait, event) {
			return moved, err
		}
	}
}

// askOnce asks about every uncertain step once, also where it is no longer asked about by itself:
// a service that was down for a day would else never ask.
func (e *Engine) askOnce() { e.eachRecovery(true) }

// askOthers takes up the runs that other processes asked about, and don't any more.
func (e *Engine) askOthers() { e.eachRecovery(false) }

// eachRecovery looks at the runs that wait for a person, some at a time.
func (e *Engine) eachRecovery(force bool) {
	after := ""
	for !e.isHalted() {
		var list []records.Unfinished
		err := e.store.View(e.life, func(tx store.Tx) (err error) {
			list, err = records.ListUnfinished(tx, store.Query{
				Where: []store.Filter{store.Equal("state", records.Recovery), {Column: "id", Op: store.AtLeast, Values: []any{after}}},
				Order: []store.Order{{Column: "id"}}, Limit: recoveriesAtOnce,
			})
			return err
		})
		if err != nil {
			e.log.Error("can't look for steps whose receivers can be asked", "error", err)
			return
		}
		for _, u := range list {
			if force || !u.AskAt.IsZero() {
				e.takeUp(runrepo.Ref{Tenant: u.TenantID, RunID: u.RunID}, force)
			}
		}
		if len(list) < recoveriesAtOnce {
			return
		}
		last := list[len(list)-1]
		after = records.UnfinishedID(last.TenantID, last.RunID) + "\x00"
	}
}

// takeUp has a run's receiver asked by this process.
func (e *Engine) takeUp(ref runrepo.Ref, force bool) {
	err := e.store.View(e.life, func(tx store.Tx) error {
		h, err := e.runs.Load(tx, ref)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(h.Run().Steps, func(s countersign.StepRun) bool { return s.Status == countersign.StepRecoveryRequired }); i < 0 || run.SettlementOf(h.Plan(), &h.Run().Steps[i]) == nil {
			return nil
		}
		at := run.AskAt(h.Run())
		if force {
			at = e.runs.Now()
			if f := h.Run().WaitingFor; f != nil && f.NotBefore.After(at) {
				at = f.NotBefore
			}
		}
		if at.IsZero() {
			return nil
		}
		e.questions.mu.Lock()
		defer e.questions.mu.Unlock()
		e.questions.add(h, at, force)
		return nil
	})
	if err != nil && !e.isHalted() {
		e.notApplied(ref, "can't look whether its receiver can be asked", err)
	}
}
