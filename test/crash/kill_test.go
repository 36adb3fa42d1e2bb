package crash

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/harness"
)

// cyclesOfALife is how often the process is killed on one store before a new store is made.
const cyclesOfALife = 20

// TestKillUnderLoad kills the service repeatedly while callers use it.
func TestKillUnderLoad(t *testing.T) {
	t.Parallel()
	total := tally{}
	for few := range slices.Chunk(append(seed.Kept(t), following(seed.First(t), cycles.N())...), cyclesOfALife) {
		if !t.Failed() {
			newLife(t, newBed(t, binary)).live(few, &total)
		}
	}
	t.Logf("%+v", total)
}

// TestKillUnderLoadOnPostgreSQL does the same with a database, which survives. After each kill the runs of the dead
// process wait until its lease expires, so several lives run concurrently.
func TestKillUnderLoadOnPostgreSQL(t *testing.T) {
	t.Parallel()
	seeds := following(seed.First(t), sharedCycles.N())
	hands := max(1, min(databases.N(), len(seeds)))
	totals := make([]tally, hands)
	t.Run("lives", func(t *testing.T) {
		for hand := range hands {
			t.Run(strconv.Itoa(hand), func(t *testing.T) {
				t.Parallel()
				for few := range slices.Chunk(ofHand(seeds, hand, hands), cyclesOfALife) {
					if !t.Failed() {
						newLife(t, newBed(t, binary, harness.Set("STORE", pgtest.Database(t)))).live(few, &totals[hand])
					}
				}
			})
		}
	})
	t.Logf("%+v", sum(totals))
}

// following are n consecutive seeds.
func following(first uint64, n int) []uint64 {
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = first + uint64(i)
	}
	return seeds
}

// ofHand is the share of one of several concurrent workers.
func ofHand(seeds []uint64, hand, hands int) (own []uint64) {
	for i := hand; i < len(seeds); i += hands {
		own = append(own, seeds[i])
	}
	return own
}

// live plays a cycle for each seed on one store, and then brings all runs to their end.
func (l *life) live(seeds []uint64, total *tally) {
	l.t.Helper()
	for _, seed := range seeds {
		l.cycle(seed)
		if len(l.faults) > 0 {
			l.t.Fatalf("cycle with -seed %d: %q", seed, l.faults)
		}
		total.cycles++
	}
	l.finish()
	if len(l.faults) > 0 {
		l.t.Fatalf("at the end of the cycles with the seeds %d: %q", seeds, l.faults)
	}
	total.add(l)
}

// tally has the counts of a campaign.
type tally struct{ cycles, runs, deliveries, again, recovered, approvals, promises, records int }

func (t *tally) add(l *life) {
	t.runs += len(l.picture.runs)
	t.approvals += len(l.picture.approvals)
	t.deliveries += len(l.shop.deliveries(l.from))
	t.promises += len(l.promises)
	t.records += len(l.picture.log.records)
	for _, list := range l.picture.log.reopened {
		t.again += len(list)
	}
	for _, r := range l.picture.log.records {
		if r.At("action").Text() == "run.recovery_required" {
			t.recovered++
		}
	}
}

func sum(list []tally) (x tally) {
	for _, y := range list {
		x.cycles, x.runs, x.deliveries, x.again = x.cycles+y.cycles, x.runs+y.runs, x.deliveries+y.deliveries, x.again+y.again
		x.recovered, x.approvals, x.promises, x.records = x.recovered+y.recovered, x.approvals+y.approvals, x.promises+y.promises, x.records+y.records
	}
	return x
}

// cycle runs the load until a random number of events has happened, kills the service then or a little later, and
// checks what is left.
func (l *life) cycle(seed uint64) {
	l.t.Helper()
	l.note("=== cycle with -seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	d := newCountdown(20+r.IntN(250), time.Duration(r.IntN(3000))*time.Microsecond)
	l.shop.behave(randomAnswers(rand.New(rand.NewPCG(seed, 2))), d.count)
	from := len(l.shop.deliveries(0))
	l.storm(r, d, func() {
		<-d.come
		time.Sleep(d.more) // so that it doesn't always die at the moment of an answer
		if !l.Alive() {
			l.fault("the service ended by itself:\n%s", l.Log())
		}
		l.Kill()
	})
	inFlight := l.shop.unanswered(from)
	l.note("killed with %d requests in flight", len(inFlight))
	l.shop.behave(alwaysGood, func() {})
	if !l.Begin() {
		l.t.Fatalf("the service ended at its start:\n%s", l.Log())
	}
	l.look(inFlight)
}

// countdown is reached when a number of events has happened.
type countdown struct {
	left atomic.Int64
	come chan struct{}
	more time.Duration
}

func newCountdown(events int, more time.Duration) *countdown {
	d := &countdown{come: make(chan struct{}), more: more}
	d.left.Store(int64(events))
	return d
}

func (c *countdown) count() {
	if c.left.Add(-1) == 0 {
		close(c.come)
	}
}

// finish brings every run to its end and checks everything once more.
func (l *life) finish() {
	l.t.Helper()
	l.note("=== the end")
	l.shop.behave(alwaysGood, func() {})
	for l.attend() {
		l.settle()
	}
	was := l.picture
	l.picture = newPicture()
	l.look(nil)
	l.checkPromises(true)
	for id, run := range l.picture.runs {
		if !ended(run.At("status").Text()) {
			l.fault("S1: run %s is %s at the end of everything: %s", id, run.At("status"), run.At("waitingFor"))
		}
		if before := was.runs[id]; ended(before.At("status").Text()) && before.String() != run.String() {
			l.fault("S1: run %s had ended and changed from %s to %s", id, before, run)
		}
	}
}

// attend makes the decisions for which runs wait; it returns false if there are none.
func (l *life) attend() bool {
	l.t.Helper()
	waited := false
	for _, s := range l.starters {
		if s.open != nil {
			waited = true
			s.send(s.open)
		}
	}
	for _, a := range l.reviewer.Get("/approvals?status=PENDING&limit=200").OK(l.t).At("items").Items() {
		waited = true
		l.reviewer.Post("/approvals/"+a.At("id").Text()+"/decision", doc{"decision": "APPROVED", "reason": "fine"}).OK(l.t)
	}
	for _, run := range l.reviewer.Get("/runs?status=RECOVERY_REQUIRED&limit=200").OK(l.t).At("items").Items() {
		if run.At("waitingFor.kind").Text() == "reconcile" {
			waited = true
			l.judge(run, "CONFIRMED_NOT_EXECUTED")
		}
	}
	return waited
}
