package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/countersign/countersign"
)

// tally counts the events in all seeds: a simulation in which nothing happens proves nothing.
type tally struct {
	mu     sync.Mutex
	seeds  int
	counts map[string]int
}

func (t *tally) add(s *sim) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seeds++
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	t.counts["requests"] += s.requests
	t.counts["cut off"] += s.cuts
	t.counts["poisoned"] += len(s.disk.poison.of)
	t.counts["commits"] += s.disk.commits
	t.counts["functions run twice"] += s.loser.times
	t.counts["deliveries"] += len(s.receiver.deliveries())
	for _, tenant := range tenants {
		p := s.look(tenant)
		t.counts["approvals"] += len(p.approvals)
		t.counts["agents"] += len(p.agents)
		t.counts["teams"] += len(p.teams)
		for _, r := range p.runs {
			t.counts["runs "+string(r.Status)]++
			for _, st := range r.Steps {
				t.step(&st)
			}
			switch {
			case r.TeamID != "":
				t.counts["team runs"]++
			case r.AgentID != "":
				t.counts["agent runs"]++
			}
		}
	}
}

func (t *tally) step(st *countersign.StepRun) {
	t.counts["steps "+string(st.Status)]++
	if st.Error != nil && st.Error.Code == countersign.CodeSetAside {
		t.counts["steps set aside"]++
	}
	if st.Late != nil {
		t.counts["late answers"]++
	}
	t.counts["probes"] += len(st.Probes)
	if st.Attempt > 1 {
		t.counts["steps sent again"]++
	}
}

func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%d seeds:", t.seeds)
	for _, name := range slices.Sorted(maps.Keys(t.counts)) {
		fmt.Fprintf(&b, " %s %d,", name, t.counts[name])
	}
	return b.String()
}
