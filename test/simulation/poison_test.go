package simulation

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Runs whose turns fail because of themselves, and not of the store: whatever a turn of theirs stores of one kind ends with an error, each
// time. No run stops the others, so such a run is set aside, and says truly what of it was sent.

// poison is what makes turns fail, by run.
type poison struct {
	mu sync.Mutex
	of map[string]venom
}

// venom is the kind of a run's turn that fails.
type venom string

const (
	noIntent  venom = "begins a step"         // nothing is ever sent
	noOutcome venom = "keeps what it came to" // what was sent has no outcome
)

var errPoison = errors.New("simulation: this turn can't be committed")

// fails reports whether a run's step can't be stored so.
func (p *poison) fails(row store.Row) bool {
	run, _ := row.Keys[0].(string)
	p.mu.Lock()
	is := p.of[run]
	p.mu.Unlock()
	if bytes.Contains(row.Doc, []byte(`"reconciliation":{`)) { // a person's turn
		return false
	}
	running := bytes.Contains(row.Doc, []byte(`"status":"RUNNING"`))
	switch is {
	case noIntent:
		return running
	case noOutcome:
		return !running && (bytes.Contains(row.Doc, []byte(`"status":"COMPLETED"`)) || bytes.Contains(row.Doc, []byte(`"response":{`)))
	}
	return false
}

func (s *sim) poisoned(run string) bool {
	s.disk.poison.mu.Lock()
	defer s.disk.poison.mu.Unlock()
	return s.disk.poison.of[run] != ""
}

// poisoned is a transaction in which poisoned runs can't be stored.
type poisoned struct {
	store.Tx
	*poison
}

// Put implements store.Tx.
func (p poisoned) Put(table *store.Table, tenant string, row store.Row, expected int64) error {
	if table == store.Steps && !strings.Contains(row.ID, "/probe/") && p.fails(row) {
		return errPoison
	}
	return p.Tx.Put(table, tenant, row, expected)
}

// perhapsPoison makes the turns of a run fail that has not ended.
func (s *sim) perhapsPoison() {
	if !s.chance(15) {
		return
	}
	p := s.look(tenants[s.rng.IntN(len(tenants))])
	r, ok := s.unfinished(&p, countersign.RunReady, countersign.RunRunning, countersign.RunWaitingApproval, countersign.RunRecoveryRequired)
	if !ok || r.Mode != countersign.ModeLive {
		return
	}
	kind := pick(s, noIntent, noOutcome)
	s.say("the turn of run %s that %s will fail", r.ID, kind)
	s.disk.poison.mu.Lock()
	defer s.disk.poison.mu.Unlock()
	s.disk.poison.of[r.ID] = kind
}

// checkSetAside: what was set aside has nothing that was sent without saying so, and went out under no intent of its own.
func (s *sim) checkSetAside(tenant string, r *records.Run, st *countersign.StepRun) {
	if st.Error == nil || st.Error.Code != countersign.CodeSetAside {
		return
	}
	l := s.seen.logs[tenant]
	if st.Status != countersign.StepFailed || len(l.intents[st.IdempotencyKey]) > l.reopened[st.IdempotencyKey] && st.SideEffect {
		s.fail("D11: step %s of %s was set aside as %s, and has %d intents", st.ID, r.ID, st.Status, len(l.intents[st.IdempotencyKey]))
	}
	arrived := slices.ContainsFunc(s.receiver.deliveries(), func(d *delivery) bool { return !d.probe && d.call.IdempotencyKey == st.IdempotencyKey })
	if says := strings.Contains(st.Error.Message, "nothing of it was sent"); says && arrived {
		s.fail("D11: step %s of %s says %q, and it arrived", st.ID, r.ID, st.Error.Message)
	}
}
