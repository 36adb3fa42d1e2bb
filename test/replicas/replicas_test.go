// Package replicas runs several processes of the real binary on one PostgreSQL database: some are killed, some are suspended for longer
// than their lease, some are replaced by a newer release, the database fails over, and a receiver counts.
//
//	go test ./test/replicas -run DieOrStandStill -rounds 10
//
// Nothing here depends on a clock: each action waits for an acknowledgement, for an expired lease, or for the end of a process.
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

// trouble repeatedly kills one replica and suspends another until its lease expires. The third one keeps running and takes over from the
// suspended one. The replicas have these parts in turn.
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

// wake resumes a suspended replica after its lease has expired: it notices and ends. The others may notice the expiry later, if the
// replica held the database's lock when it was suspended: until then they can't check.
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
	f.patience = 5 * time.Second // clients give up on a suspended replica and repeat the request elsewhere
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
