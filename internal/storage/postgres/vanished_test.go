package postgres

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

var swallowSeed = flag.Uint64("swallow-seed", 0, "draws the bytes after which a store's requests are swallowed; 0: others each time")

// silence is how long a batch may lie idle in these tests. One that is too slow for it
// is run again.
const silence = time.Second

// TestAReplicaThatVanishesKeepsNobodyFromWriting: after any byte of its requests the
// network swallows the rest and says nothing, and the connections stay open. What the
// server has of a message can be its statements without its end: no timeout runs then.
func TestAReplicaThatVanishesKeepsNobodyFromWriting(t *testing.T) {
	t.Parallel()
	direct, vanishing, p := behind(t, func(s *settings) { s.idle = silence })
	waiting := mustOpenWith(t, p.database, brief())
	for range 100 { // the rows are there, the statements are prepared, the numbers keep their length
		mustUpdate(t, vanishing)
	}
	ends := messages(p.listen(func() { mustUpdate(t, vanishing) }))
	if len(ends) < 10 {
		t.Fatalf("an Update sent %d messages", len(ends))
	}
	for _, after := range drawn(t, ends) {
		t.Run(fmt.Sprintf("%d of %d bytes", after, ends[len(ends)-1]), func(t *testing.T) {
			mustUpdate(t, vanishing) // it is connected anew
			before := count(t, direct)
			f := p.arm(fault{of: requests, after: after, silent: true})
			answer := make(chan error, 1)
			go func() { answer <- vanishing.Update(context.Background(), severalRows) }()
			struck(t, f)
			begun := time.Now()
			mustIncrement(t, waiting)
			wantWithin(t, begun, "to write beside a replica that vanished")
			p.hangUp()
			mustDo(t, <-answer)
			wantCount(t, direct, before+2)
		})
	}
}

// struck waits for a fault to come true.
func struck(t *testing.T, f *fault) {
	t.Helper()
	select {
	case <-f.struck:
	case <-time.After(generous):
		t.Fatalf("the fault did not come true within %s", generous)
	}
}

// brief are the settings of who waits: the idle time is short, and so is the patience
// with a holder that nobody ends.
func brief() settings {
	s := calm()
	s.idle, s.lock = silence, time.Minute
	return s
}

// TestAReplicaThatReadsNoAnswersKeepsNobodyFromWriting: the server has more to send
// than the network keeps.
func TestAReplicaThatReadsNoAnswersKeepsNobodyFromWriting(t *testing.T) {
	t.Parallel()
	direct, vanishing, p := behind(t, func(s *settings) { s.idle = silence })
	waiting := mustOpenWith(t, p.database, brief())
	large := fmt.Sprintf("%q", strings.Repeat("x", 1<<20))
	for i := range 32 {
		mustDo(t, direct.Update(context.Background(), func(tx store.Tx) error {
			return tx.Put(store.Tenants, "acme", store.Row{ID: fmt.Sprint(i), Doc: []byte(large)}, 0)
		}))
	}
	var f *fault
	armed, answer := make(chan *fault, 1), make(chan error, 1)
	go func() {
		answer <- vanishing.Update(context.Background(), func(tx store.Tx) error {
			if f == nil {
				f = p.arm(fault{of: answers, at: "xxxx", deaf: true})
				armed <- f
			}
			if _, err := tx.List(store.Tenants, "acme", store.Query{}); err != nil {
				return err
			}
			return increment(tx)
		})
	}()
	struck(t, <-armed) // else who waits writes first, and the connections are closed before the fault
	mustIncrement(t, waiting)
	p.hangUp()
	mustDo(t, <-answer)
	wantCount(t, direct, 3)
}

// TestAHolderThatWorksIsWaitedFor: its COMMIT takes the server longer than a batch may
// lie idle. A commit that waits for a standby must not be ended.
func TestAHolderThatWorksIsWaitedFor(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	working, waiting := mustOpen(t, url), mustOpenWith(t, url, brief())
	mustIncrement(t, working)
	pgtest.Exec(t, url, fmt.Sprintf(`CREATE FUNCTION dwell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(%d); RETURN NULL; END $$;
		CREATE CONSTRAINT TRIGGER dwells AFTER UPDATE ON steps DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION dwell()`, 3*silence/time.Second))
	holds := make(chan struct{}, 2)
	answer, calls := make(chan error, 1), 0
	go func() {
		answer <- working.Update(context.Background(), func(tx store.Tx) error {
			calls++
			holds <- struct{}{}
			return increment(tx)
		})
	}()
	<-holds
	mustDo(t, waiting.Update(context.Background(), func(tx store.Tx) error { return putModel(tx, "x") }))
	if err := <-answer; err != nil || calls != 1 {
		t.Errorf("the function of the holder ran %d times: %v", calls, err)
	}
	wantCount(t, waiting, 2)
}

// TestAVanishedReplicaIsEndedInTime: what the figures of the service add up to.
func TestAVanishedReplicaIsEndedInTime(t *testing.T) {
	s := defaults()
	if longest := s.idle + 2*s.checkInterval(); longest > 10*time.Second || longest > s.lock {
		t.Errorf("who waits ends a holder that says nothing after %s, and gives up after %s", longest, s.lock)
	}
}

func mustUpdate(t testing.TB, s *Store) {
	t.Helper()
	mustDo(t, s.Update(context.Background(), severalRows))
}

// severalRows reads and writes, so that its batch sends each kind of message.
func severalRows(tx store.Tx) error {
	for _, id := range []string{"a", "b", "c"} {
		row, err := tx.Get(store.Tenants, "vanishing", id)
		if err != nil {
			row = store.Row{ID: id}
		}
		row.Doc = []byte(`{"of":"several"}`)
		if err := tx.Put(store.Tenants, "vanishing", row, row.Version); err != nil {
			return err
		}
	}
	return increment(tx)
}

// messages returns where each of a client's messages ends; see "Message Formats" in
// PostgreSQL's manual.
func messages(sent []byte) (ends []int) {
	for at := 0; at+5 <= len(sent); {
		at += 1 + int(binary.BigEndian.Uint32(sent[at+1:]))
		ends = append(ends, at)
	}
	return ends
}

// drawn are places at which to swallow: all ends of messages and a byte within each;
// with -short some of them.
func drawn(t *testing.T, ends []int) (places []int) {
	t.Helper()
	seed := *swallowSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("again with -swallow-seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	begin := 0
	for _, end := range ends {
		places = append(places, begin+1+random.IntN(end-begin-1))
		places = append(places, end)
		begin = end
	}
	places = places[:len(places)-1] // behind the last there is nothing
	if testing.Short() {
		random.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
		places = places[:8]
	}
	slices.Sort(places)
	return places
}

// TestAHolderIsAsOldAsTheFirstLookAtIt: else nobody who looks often would ever end it.
func TestAHolderIsAsOldAsTheFirstLookAtIt(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	looking, holding := mustOpen(t, url), mustOpen(t, url)
	release, stop := locked(t, holding, increment)
	defer release()
	s, err := connect(context.Background(), looking.writer.db)
	mustDo(t, err)
	defer s.cut()
	w := &writer{settings: calm()}
	for w.seen.id == "" { // it is no holder until the server waits for the next statement
		mustDo(t, w.endSilent(context.Background(), s))
	}
	first := w.seen
	mustDo(t, w.endSilent(context.Background(), s))
	if w.seen != first {
		t.Errorf("a holder that was seen as %+v is seen as %+v", first, w.seen)
	}
	mustDo(t, stop())
}

// TestAHolderThatIssuesAStatementIsAnotherOne: it is as old as its last statement.
func TestAHolderThatIssuesAStatementIsAnotherOne(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	looking, holding := mustOpen(t, url), mustOpen(t, url)
	s, err := connect(context.Background(), looking.writer.db)
	mustDo(t, err)
	defer s.cut()
	w := &writer{settings: calm()}
	mustDo(t, holding.Update(context.Background(), func(tx store.Tx) error {
		var seen [2]holder
		for i := range seen {
			if _, err := tx.List(store.Tenants, "acme", store.Query{}); err != nil {
				return err
			}
			for seen[i].id == "" { // it is no holder until the server waits for the next statement
				mustDo(t, w.endSilent(context.Background(), s))
				seen[i] = w.seen
			}
		}
		if seen[0] == seen[1] {
			t.Errorf("after a statement %+v is seen as %+v", seen[0], seen[1])
		}
		return nil
	}))
}
