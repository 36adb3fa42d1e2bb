package replicas

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/campaign"
	"github.com/countersign/countersign/test/harness"
)

// callers is how many callers start runs concurrently.
var callers = campaign.SizeFlag("callers", 2, 8, "how many start runs at once")

// load starts runs and reads them from several callers while beside runs.
func (f *fleet) load(beside func()) {
	ctx, end := context.WithCancel(f.t.Context())
	var all sync.WaitGroup
	repeat := func(what func(context.Context), pause time.Duration) {
		all.Go(func() {
			for ctx.Err() == nil && !f.t.Failed() {
				what(ctx)
				f.rest(pause)
			}
		})
	}
	pause := time.Duration(0)
	if testing.Short() {
		pause = time.Second // less load, with as many faults
	}
	for range callers.N() {
		repeat(f.start, pause)
	}
	repeat(f.create, 20*time.Millisecond+pause)
	repeat(f.look, 100*time.Millisecond+pause)
	repeat(f.countActive, 50*time.Millisecond+pause/4)
	all.Go(func() {
		defer end()
		beside()
	})
	all.Wait()
}

// rest is a pause; it ends early when a caller waits for the load.
func (f *fleet) rest(pause time.Duration) {
	const look = 20 * time.Millisecond
	for ; pause > look && f.wanted.Load() == 0; pause -= look {
		<-time.After(look)
	}
	<-time.After(min(pause, look))
}

// start starts a run under one key, at one replica after the other, until one acknowledges it.
func (f *fleet) start(ctx context.Context) {
	key := client.Key(fmt.Sprintf("key-%d", f.starts.Add(1)))
	unanswered := false
	for ctx.Err() == nil {
		r, err := f.client().StartRun(f.t.Context(), countersign.RunStart{PlanID: f.plan}, key)
		ending := f.noted(err)
		if err == nil {
			f.acknowledged(r, unanswered)
			return
		}
		unanswered = unanswered || ending == lost
	}
}

func (f *fleet) acknowledged(r *client.Started, unanswered bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runs[r.ID] = true
	if unanswered && r.Replayed {
		f.tally[unheard]++
	}
}

// create creates a model, at one replica after the other, until one acknowledges it. Without an idempotency key, the answer that the
// model exists must have a reason.
func (f *fleet) create(ctx context.Context) {
	id := fmt.Sprintf("model-%d", f.starts.Add(1))
	document := f.model(id)
	unanswered := false
	for ctx.Err() == nil {
		_, err := f.client().SaveModel(f.t.Context(), id, countersign.ModelWrite{Document: document})
		done := unanswered && errors.Is(err, client.ErrRevisionConflict)
		if done {
			err = nil
		}
		ending := f.noted(err)
		if err == nil {
			f.created(id, done)
			return
		}
		unanswered = unanswered || ending == lost || ending == string(countersign.CodeInternal)
	}
}

func (f *fleet) model(id string) (m countersign.AgentModel) {
	text, err := json.Marshal(harness.Model(id))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		f.t.Error(err)
	}
	return m
}

func (f *fleet) created(id string, before bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.models = append(f.models, id)
	if before {
		f.tally[unheard]++
	}
}

// The results of a request; a refusal's result is its code.
const (
	answered = "answered"
	refused  = "refused connections"
	lost     = "lost connections"
	unheard  = "carried out though the answer was lost"
)

// noted counts the result of a request, and fails the test for one that no fault explains.
func (f *fleet) noted(err error) (ending string) {
	var connection *client.ConnectionError
	var refusal *client.Error
	switch {
	case err == nil:
		ending = answered
	case errors.Is(err, syscall.ECONNREFUSED):
		ending = refused
	case errors.As(err, &connection):
		ending = lost
	case errors.As(err, &refusal):
		ending = string(refusal.Code)
	default:
		f.t.Error(err)
	}
	if refusal != nil && !errors.Is(err, client.ErrCapacity) && !errors.Is(err, client.ErrUnavailable) && !errors.Is(err, client.ErrInternal) {
		f.t.Error(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tally[ending]++
	return ending
}

// mustNot fails the test if requests had these results.
func (f *fleet) mustNot(endings ...string) {
	f.t.Helper()
	for _, ending := range endings {
		if n := f.tally[ending]; n > 0 {
			f.t.Errorf("%s: %d", ending, n)
		}
	}
}

// state is a seen state of a run. Revisions only increase.
type state struct {
	revision int64
	status   countersign.RunStatus
}

// look records the states of the latest runs, which must not be lost.
func (f *fleet) look(context.Context) {
	page, err := f.client().Runs(f.t.Context(), client.RunFilter{Paging: client.Paging{Limit: 200}})
	if f.noted(err); err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range page.Items {
		if f.states[r.ID].revision < r.Revision {
			f.states[r.ID] = state{revision: r.Revision, status: r.Status}
		}
	}
}

// countActive reads from the database how many runs hold a slot.
func (f *fleet) countActive(context.Context) {
	text, err := pgtest.Ask(f.database, "SELECT COUNT(*)::text FROM runs WHERE status IN ('READY', 'RUNNING')")
	if err != nil {
		return // the database is down
	}
	n, err := strconv.Atoi(text)
	if err != nil || n > limit.N() {
		f.t.Errorf("%q runs are active, the limit is %d", text, limit.N())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.active = max(f.active, n)
}

// more waits for so many further acknowledgements.
func (f *fleet) more(n int) {
	known := func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.runs)
	}
	f.wanted.Add(1)
	defer f.wanted.Add(-1)
	want := known() + n
	f.await("further runs to be acknowledged", func() bool { return known() >= want })
}

// fillUp starts runs that don't end until the limit refuses one.
func (f *fleet) fillUp() {
	refusals := func() int {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.tally["capacity"]
	}
	gate := make(chan struct{})
	defer close(gate)
	f.receiver.On("GET", "/patient", harness.After(gate, harness.Answering(200, `{"ok":true}`)))
	f.wanted.Add(1)
	defer f.wanted.Add(-1)
	before := refusals()
	f.await("a run to be refused for capacity", func() bool { return refusals() > before })
}

// settled waits until no run is active, and counts the runs that wait for a person. It checks that everything acknowledged or seen is
// still there.
func (f *fleet) settled() (uncertain int) {
	f.t.Helper()
	for id := range f.runs {
		now := f.still(id)
		if now.status == countersign.RunRecoveryRequired {
			uncertain++
		} else if now.status != countersign.RunCompleted {
			f.t.Errorf("run %s is %s", id, now.status)
		}
		if seen := f.states[id]; now.revision < seen.revision || seen.status.IsTerminal() && seen.status != now.status {
			f.t.Errorf("run %s was %v and is %v", id, seen, now)
		}
	}
	for _, id := range f.models {
		f.at(0).As(f.token).Get("/models/" + id).OK(f.t)
	}
	f.report(uncertain)
	return uncertain
}

// still waits until a run has ended or waits for a person.
func (f *fleet) still(id string) (now state) {
	f.t.Helper()
	harness.Until(f.t, "run "+id+" to end or to wait for a person", func() bool {
		r, err := f.client().Run(f.t.Context(), id)
		if err != nil {
			f.noted(err)
			return false
		}
		now = state{revision: r.Revision, status: r.Status}
		return client.Still(r)
	})
	return now
}

func (f *fleet) report(uncertain int) {
	f.t.Helper()
	f.t.Logf("%d models and %d runs acknowledged, %d uncertain, at most %d active; %d notes received; %d audit records verified; requests: %v",
		len(f.models), len(f.runs), uncertain, f.active, len(f.receiver.Seen("POST", "/notes")), f.audited(), f.tally)
}
