// Package replicas has several processes of the real binary on one PostgreSQL:
// some are killed, some stand still for longer than their lease, some are replaced
// by a newer release, the database fails over, and a receiver counts.
//
//	go test ./test/replicas -run DieOrStandStill -rounds 10
//
// Nothing here goes by a clock: what comes next waits for what was acknowledged, for
// a lease that was taken away, or for a process that has ended.
package replicas

import (
	"flag"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/campaign"
)

var (
	rounds = campaign.SizeFlag("rounds", 1, 2, "how often a replica is frozen while others are killed, and PostgreSQL stopped and killed")
	kills  = campaign.SizeFlag("kills", 1, 3, "how many replicas are killed beside a frozen one")
	within = flag.Duration("within", 0, "how soon all replicas must be well again; 0 only tells")
)

// trouble kills replicas beside another one that stands still until it is taken for
// dead, again and again. A third one lives through both: it is who takes the frozen
// one for dead. Each has each part in turn.
func (f *fleet) trouble() {
	killed := 0
	for round := 0; round < rounds.N() && !f.t.Failed(); round++ {
		still, victim := round%count, (round+1)%count
		f.fillUp()
		f.at(still).Freeze()
		for range kills.N() {
			f.at(victim).Kill()
			f.fill(victim, "")
			f.more(some.N())
			killed++
		}
		f.wake(still)
	}
	f.t.Logf("%d kills; %d times frozen and taken for dead", killed, rounds.N())
}

// wake lets a replica go on that stood still, once it was taken for dead: it notices,
// and ends. The others come to that some time after its lease, if it held the
// database's lock when it was frozen: for as long they can't look.
func (f *fleet) wake(place int) {
	f.await("a frozen replica to be taken for dead", func() bool { return !f.isMember(place) })
	s := f.at(place)
	s.Thaw()
	f.await("a replica that was taken for dead to end", s.Ended)
	if !f.t.Failed() {
		f.fill(place, "")
	}
}

func TestNothingIsSentTwiceOrLostWhenReplicasDieOrStandStill(t *testing.T) {
	t.Parallel()
	f := assemble(t, pgtest.Database(t))
	f.patience = 5 * time.Second // nobody waits for a replica that stands still; what was not answered is asked again
	f.load(f.trouble)
	if uncertain := f.settled(); uncertain == len(f.runs) {
		t.Error("nothing was carried out")
	}
}

// TestARestartOfPostgreSQLLosesNothing that was acknowledged, and ends no replica.
func TestARestartOfPostgreSQLLosesNothing(t *testing.T) {
	t.Parallel()
	database := pgtest.Start(t)
	f := assemble(t, database.Database(t))
	var longest time.Duration
	f.load(func() {
		for n := 0; n < 2*rounds.N() && !t.Failed(); n++ {
			f.more(some.N())
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
	f.wellWithin(longest)
}
