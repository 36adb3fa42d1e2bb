package simulation

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/storage/postgres"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/campaign"
)

var (
	replicaMinutes  = campaign.SizeFlag("day-replicas", 20, 60, "minutes of virtual time that a day of replicas has in memory")
	databaseMinutes = campaign.SizeFlag("day-postgres", 1, 20, "minutes of virtual time that a day of replicas has on PostgreSQL")
)

// abreast is how many replicas there are, but for the minutes after one has left.
const abreast = 3

// TestADayOfReplicasLeavesNothingBehind plays the same work on replicas that come and go: a round of requests is served by one, the next by another. They
// share a store in memory, which is not what replicas have, but leases, takeovers and caches are.
func TestADayOfReplicasLeavesNothingBehind(t *testing.T) {
	seed := daySeed.First(t)
	synctest.Test(t, func(t *testing.T) {
		d := newDay(t, seed, replicaMinutes.N())
		rows := memory.New()
		d.disk.rows = rows
		d.share(func() (store.Store, error) { return rows, nil })
		d.playAll()
	})
}

// TestADayOfReplicasOnPostgreSQL is the same on a database, of which each replica has its own connections.
func TestADayOfReplicasOnPostgreSQL(t *testing.T) {
	seed, url := daySeed.First(t), pgtest.Database(t)
	makeTables(t, url)
	synctest.Test(t, func(t *testing.T) {
		d := newDay(t, seed, databaseMinutes.N())
		rows, err := postgres.Open(background(), url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := rows.Close(); err != nil {
				t.Error(err)
			}
		}()
		d.disk.rows, d.closes = rows, true
		d.share(func() (store.Store, error) { return postgres.Open(background(), url) })
		d.playAll()
	})
}

// share makes the day one of replicas. In place of restarts and kills, one of them leaves and another one comes some minutes later.
func (d *day) share(open func() (store.Store, error)) {
	d.shared, d.openStore = true, open
}

// goes ends the replica that serves now, with calls on their way, and plans that another one comes.
func (d *day) goes(grace time.Duration) {
	if len(d.replicas) == 1 {
		d.start()
	}
	r := d.replicas[slices.IndexFunc(d.replicas, func(r *replica) bool { return r.process == d.process })]
	if grace == 0 {
		d.say("%s is killed, %d stay", r.lease.ID(), len(d.replicas)-1)
		r.session.die()
	} else {
		d.say("%s leaves, %d stay", r.lease.ID(), len(d.replicas)-1)
	}
	d.leave(r, grace)
	at := d.minute + d.rng.IntN(4)
	d.events[at] = append(d.events[at], event{"a replica comes", (*day).complete})
}

// complete starts replicas until there are all.
func (d *day) complete() {
	for len(d.replicas) < abreast {
		d.start()
	}
	synctest.Wait()
}

// replaceDead starts a replica for each that died in a commit.
func (d *day) replaceDead() {
	for _, r := range append([]*replica(nil), d.replicas...) {
		if r.session.isDead() {
			d.tally.kills++
			d.say("%s is dead", r.lease.ID())
			d.disk.mend()
			if len(d.replicas) == 1 {
				d.start()
			}
			d.leave(r, 0)
			d.complete()
		}
	}
}

// checkLeases: nobody takes a replica that lives for a dead one.
func (d *day) checkLeases() {
	for _, r := range d.replicas {
		select {
		case <-r.lease.Lost():
			if !r.session.isDead() {
				d.fail("D11: %s lives and was taken for dead", r.lease.ID())
			}
		default:
		}
	}
}

func (d *day) describe() string {
	if d.shared {
		return fmt.Sprintf("%d replicas at a time", abreast)
	}
	return "one process"
}
