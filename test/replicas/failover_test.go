package replicas

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/testing/pgtest"
)

// unnoticed is how long nobody notices that the primary is gone: longer than an operation tries to get a connection, and than a
// lease allows sending. The test sleeps for this time; a longer time does not fail it.
const unnoticed = 8 * time.Second

// TestAPromotedStandbyHasAllThatWasAcknowledged: the primary dies for good under load, and its synchronous standby is promoted. The
// replicas need no notification, since they have both addresses.
func TestAPromotedStandbyHasAllThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	primary := pgtest.Start(t)
	standby := primary.Standby(t)
	f := assemble(t, standby.Either(t, primary.Database(t)))
	var after, outage time.Duration
	var records int
	f.load(func() {
		f.more(2 * some.N())
		records = f.audited()
		killed := time.Now()
		primary.Kill(t)
		time.Sleep(unnoticed)
		standby.Promote(t)
		after = f.wellAfter()
		outage = time.Since(killed)
		f.more(2 * some.N())
	})
	if uncertain := f.settled(); uncertain > 0 {
		t.Errorf("%d runs wait for a person, though no replica has failed", uncertain)
	}
	f.mustLive()
	if now := f.audited(); now < records {
		t.Errorf("the audit log had %d records and has %d", records, now)
	}
	t.Logf("well again %s after the promotion, %s after the primary's end", after.Round(time.Millisecond), outage.Round(time.Millisecond))
	f.wellWithin(after)
}
