package simulation

import (
	"fmt"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// known is what the service has answered, which must stay true.
type known struct {
	answers map[string]answer        // by request id; not yet compared with the audit log
	firsts  map[repeatable]time.Time // when the latest recorded refusal of each kind was made
	runs    map[string]string        // run id by tenant and key
	content map[string]string        // content of a key's start, by tenant and key
	beats   map[string]int64         // highest sequence accepted in an earlier round, by tenant, agent, instance
	round   map[string]int64         // the same in the present round, whose requests are concurrent
}

// answer is the answer to a request.
type answer struct {
	tenant string
	code   countersign.Code
	main   string
	what   string

	// The refusal that it repeats, and when.
	repeats repeatable
	at      time.Time
}

// repeatable is what a refusal has in common with those that are counted with it. A process that has a store for itself counts
// separately.
type repeatable struct {
	process               *process
	tenant, actor, action string
	code                  countersign.Code
}

// repeatable is what a refusal by the present process has in common with its repetitions. Replicas count together: what one has recorded,
// also a count, the others don't record anew within a minute, and actions are not told apart here.
func (s *sim) repeatable(tenant, actor, action string, code countersign.Code) repeatable {
	if s.shared {
		return repeatable{nil, tenant, actor, "", code}
	}
	return repeatable{s.process, tenant, actor, action, code}
}

// counts notes a record of refusals: replicas count on from it, also from one whose replica died before it answered.
func (s *sim) counts(tenant string, rec countersign.AuditRecord) {
	code, refused := strings.CutPrefix(rec.Outcome, countersign.AuditRefused+": ")
	if !refused || !s.shared {
		return
	}
	k := s.repeatable(tenant, rec.Actor, "", countersign.Code(code))
	if at := rec.At.Add(-s.epoch); at.After(s.known.firsts[k]) {
		s.known.firsts[k] = at
	}
}

func newKnown() known {
	return known{answers: map[string]answer{}, firsts: map[repeatable]time.Time{}, runs: map[string]string{}, content: map[string]string{}, beats: map[string]int64{}, round: map[string]int64{}}
}

// started checks the answer of a start: each key has one run and one content.
func (s *sim) started(tenant, key, content string, out control.Started, err error) {
	if err != nil {
		return
	}
	s.say("   run %s (replayed: %t)", out.Run.ID, out.Replayed)
	id := tenant + "/" + key
	s.mu.Lock()
	had, of := s.known.runs[id], s.known.content[id]
	s.known.runs[id], s.known.content[id] = out.Run.ID, content
	s.mu.Unlock()
	if had != "" && had != out.Run.ID {
		s.fail("S3: key %s gave run %s and then %s", key, had, out.Run.ID)
	}
	if of != "" && of != content {
		s.fail("S3: key %s was accepted for %q and for %q", key, of, content)
	}
}

// heard checks the acknowledgement of a heartbeat.
func (s *sim) heard(tenant, agent string, b countersign.Heartbeat, ack countersign.HeartbeatAck) {
	id := fmt.Sprintf("%s/%s/%s", tenant, agent, b.InstanceID)
	if ack.Liveness == countersign.LivenessUnknown {
		s.fail("S5: %s is UNKNOWN right after a heartbeat", id)
	}
	if ack.Duplicate {
		return
	}
	s.mu.Lock()
	last, before := s.known.beats[id]
	now, twice := s.known.round[id]
	s.known.round[id] = max(now, b.Sequence)
	s.mu.Unlock()
	if before && b.Sequence <= last || twice && now == b.Sequence {
		s.fail("S5: sequence %d of %s was accepted after %d", b.Sequence, id, max(last, now))
	}
}

// runsOf are the acknowledged runs of a tenant.
func (k *known) runsOf(tenant string) (ids []string) {
	for key, id := range k.runs {
		if strings.HasPrefix(key, tenant+"/") {
			ids = append(ids, id)
		}
	}
	return ids
}

// endRound ends a round of concurrent requests: what it accepted comes before all later requests.
func (k *known) endRound() {
	for id, n := range k.round {
		k.beats[id] = max(k.beats[id], n)
	}
	clear(k.round)
}

// checkPage checks that a page and its total come from one snapshot.
func (s *sim) checkPage(what string, l control.List, items, total int, next *int) {
	want := max(0, min(l.Limit, total-l.Offset))
	more := l.Offset+items < total && items > 0
	if items != want || (next != nil) != more || next != nil && *next != l.Offset+items {
		s.fail("S6: a page of %s has %d items at %d of %d, next %v", what, items, l.Offset, total, next)
	}
}
