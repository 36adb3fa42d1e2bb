// Package replicas has several processes of the real binary on one PostgreSQL:
// some are killed, some stand still for longer than their lease, some are replaced
// by a newer release, the database fails over, and a receiver counts.
//
//	go test ./test/replicas -run DieOrStandStill -for 3m
package replicas

import (
	"flag"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/store/postgres/pgtest"
)

var lasting = flag.Duration("for", 20*time.Second, "how long replicas are killed and frozen, or PostgreSQL restarted, under load")

// The rhythm of the trouble. What is measured, not what is waited for.
const (
	killing = 5 * time.Second  // between two kills
	frozen  = 13 * time.Second // longer than a lease
	cycle   = 3 * killing
)

// trouble kills a replica at every 5 seconds, beside another one that stands still
// for longer than its lease, again and again. A third one lives through both: it is
// who takes the frozen one for dead. Each has each part in turn.
func (f *fleet) trouble() {
	kills, freezes := 0, 0
	tick := time.NewTicker(killing)
	defer tick.Stop()
	for began := time.Now(); (freezes == 0 || time.Since(began)+cycle <= *lasting) && !f.t.Failed(); freezes++ {
		still, victim := freezes%count, (freezes+1)%count
		f.fillUp()
		f.at(still).Freeze()
		var waking sync.WaitGroup
		waking.Go(func() {
			time.Sleep(frozen)
			f.wake(still)
		})
		tick.Reset(killing)
		for range cycle / killing {
			f.at(victim).Kill()
			f.fill(victim, "")
			kills++
			<-tick.C
		}
		waking.Wait()
	}
	if fenced := int(f.fenced.Load()); freezes >= 4 && 2*fenced < freezes {
		f.t.Errorf("of %d replicas that stood still %d were taken for dead", freezes, fenced)
	}
	f.t.Logf("%d kills; %d times frozen for %s and %d times taken for dead", kills, freezes, frozen, f.fenced.Load())
}

// wake lets a replica go on that stood still. If it was taken for dead it notices,
// and ends. The others come to that later if it held the database's lock when it was
// frozen: for as long they can't look.
func (f *fleet) wake(place int) {
	s, fenced := f.at(place), !f.isMember(place)
	s.Thaw()
	if !fenced {
		f.t.Log("a replica was not taken for dead, and goes on")
		return
	}
	f.fenced.Add(1)
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until) && !s.Ended(); {
	}
	if !s.Ended() {
		f.t.Error("a replica that was taken for dead goes on")
		return
	}
	f.fill(place, "")
}

func TestNothingIsSentTwiceOrLostWhenReplicasDieOrStandStill(t *testing.T) {
	f := assemble(t, pgtest.Database(t))
	f.patience = 2 * time.Second // nobody waits for a replica that stands still
	f.load(f.trouble)
	if uncertain := f.settled(); uncertain == len(f.runs) {
		t.Error("nothing was carried out")
	}
}

// TestARestartOfPostgreSQLLosesNothing that was acknowledged, ends no replica, and
// is over some seconds after the database is back.
func TestARestartOfPostgreSQLLosesNothing(t *testing.T) {
	database := pgtest.Start(t)
	f := assemble(t, database.Database(t))
	var longest time.Duration
	f.load(func() {
		began := time.Now()
		for n := 0; time.Since(began) < *lasting && !t.Failed(); n++ {
			if n%2 == 0 {
				database.Stop(t)
			} else {
				database.Kill(t)
			}
			database.Start(t)
			longest = max(longest, f.wellAfter())
		}
	})
	f.settled()
	f.mustLive()
	t.Logf("well again after %s at most", longest.Round(time.Millisecond))
	if longest > 10*time.Second {
		t.Errorf("well again after %s", longest)
	}
}
