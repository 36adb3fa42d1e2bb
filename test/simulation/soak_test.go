package simulation

import (
	"flag"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

var soak = flag.Duration("soak", 0, "virtual time of steady work (default 2h, with -short 30m)")

// shift is the time between two checks.
const shift = 15 * time.Minute

func shifts() int {
	switch {
	case *soak > 0:
		return int(max(2*shift, *soak) / shift)
	case testing.Short():
		return 2
	default:
		return 8
	}
}

// TestSoakLeavesNothingBehind plays hours of steady work on a healthy disk: a run of each kind and heartbeats every minute. At the end of
// each shift everything has ended, and there are as many goroutines as after the first shift.
func TestSoakLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSim(t, 7)
		s.disk.reserve, s.limit, s.ttl = true, 4, 5*time.Minute
		s.boot()
		defer func() { s.process.end(0) }()
		s.furnish()
		first := 0
		for done := range shifts() {
			for minute := range int(shift / time.Minute) {
				s.soakMinute(done*int(shift/time.Minute) + minute)
			}
			time.Sleep(3 * time.Minute) // until all timeouts have passed
			synctest.Wait()
			for s.helpAlong() {
				time.Sleep(61 * time.Second)
				synctest.Wait()
			}
			now := runtime.NumGoroutine()
			if first == 0 {
				first = now
			}
			if now > first {
				t.Fatalf("after %d shifts there are %d goroutines; after the first there were %d", done+1, now, first)
			}
			s.script = nil
		}
		s.check()
		s.checkNothingIsStuck()
		t.Logf("%s of virtual time, %d requests, %d commits, %d deliveries, %d goroutines", time.Duration(shifts())*shift, s.requests, s.disk.commits, len(s.receiver.deliveries()), first)
	})
}

// soakMinute is the work of each minute: heartbeats, a rehearsal, an approved LIVE run and a team's run, all concurrent.
func (s *sim) soakMinute(n int) {
	const tenant = "acme"
	operator := s.people[tenant][1]
	p := s.look(tenant)
	var wg sync.WaitGroup
	ask := func(f func(a control.Actor) error) {
		s.requests++
		actor := control.Actor{Principal: operator.Principal, RequestID: fmt.Sprintf("req-%06d", s.requests)}
		wg.Go(func() {
			if err := f(actor); countersign.ErrorCode(err) == countersign.CodeInternal {
				s.fail("C3: %v", err)
			}
		})
	}
	for _, h := range p.agents {
		b := countersign.Heartbeat{InstanceID: "i", Sequence: int64(n), State: countersign.InstanceIdle, Timestamp: s.now().Format(time.RFC3339)}
		ask(func(a control.Actor) error {
			_, err := s.process.control.Heartbeat(background(), a, h.ID, b)
			return err
		})
	}
	for _, mode := range []string{countersign.ModeDryRun, countersign.ModeLive} {
		w := countersign.PlanWrite{Name: "soak", ModelID: "refund", ModelRevision: 1, Mode: mode, Steps: []countersign.Step{
			{ID: "a", Name: "a", ProjectID: tenant + "-one", Capability: "list"},
			{ID: "b", Name: "b", ProjectID: tenant + "-one", Capability: "list", DependsOn: []string{"a"}},
		}}
		ask(func(a control.Actor) error {
			made, err := s.process.control.CreatePlan(background(), a, w)
			if err == nil {
				_, err = s.process.control.StartRun(background(), a, countersign.RunStart{PlanID: made.ID}, fmt.Sprintf("soak-%d-%s", n, mode))
			}
			return err
		})
	}
	for _, team := range p.teams {
		ask(func(a control.Actor) error {
			_, err := s.process.control.StartTeamRun(background(), a, team.ID, countersign.TeamRunStart{ExpectedRevision: team.Revision, Mode: countersign.ModeLive}, fmt.Sprintf("soak-team-%d", n))
			return err
		})
	}
	wg.Wait()
	time.Sleep(time.Minute)
	synctest.Wait()
	if n%10 == 0 {
		s.helpAlong()
	}
}
