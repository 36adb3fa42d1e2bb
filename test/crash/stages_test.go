package crash

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/test/harness"
)

// stage is a phase of a service's life in which it can crash: a store to begin with, and what is done before the stop.
type stage struct {
	name     string
	from     func(s *scene) left // nil: begin without a store
	program  func(t *testing.T) string
	settings []harness.Setting
	acts     func(l *life) []func() bool
	status   int           // not 0: the service ends by itself with this exit status
	settled  func(l *life) // waits, after the restart, before the state is checked
	everyday bool          // try all points that it passes; else only those that no earlier stage passes
}

// ground is an engine of the store on which the stages are played.
type ground struct {
	points string // the file of the points
	others string // prefix of the places of the other engine
	only   string // only deaths whose name contains this
	some   int    // how many points are drawn with -repeats 0
	hands  int    // concurrent cases, since a case mostly waits
	stages []stage
	bed    func(t *testing.T) *bed
}

// inDirectory is the embedded store.
func inDirectory() ground {
	return ground{
		points: "testdata/points.txt", others: "postgres.", only: *point, some: 6, hands: hands.N(),
		stages: append(stages(), stagesOfFiles...),
		bed:    func(t *testing.T) *bed { return newBed(t, tagged(t)) },
	}
}

// onDatabase is the shared store, on which a case waits for a lease.
func onDatabase() ground {
	return ground{
		points: "testdata/points-postgres.txt", others: "sqlite.", only: *sharedPoint, some: 1, hands: databases.N(),
		stages: stages(),
		bed: func(t *testing.T) *bed {
			return newBed(t, tagged(t), harness.Set("STORE", pgtest.Database(t)))
		},
	}
}

func stages() []stage {
	return []stage{
		{name: "a new store", acts: idle, everyday: true},
		{name: "a day", from: ready, acts: (*life).day, everyday: true},
		{name: "after a crash", from: crashed, acts: (*life).recovery, everyday: true},
		{name: "an approval expires", from: ready, settings: []harness.Setting{harness.Set("APPROVAL_TTL", "200ms")}, acts: (*life).expire, settled: (*life).expired},
	}
}

// stagesOfFiles are the stages about the files of the embedded store.
var stagesOfFiles = append([]stage{{name: "the log is long", from: ready, acts: (*life).fill}}, stagesOfThisSystem...)

func idle(*life) []func() bool { return nil }

// scene is what the cases of one test share: a stopped service, and, made for the first stage that needs it, one that
// was killed with everything in flight.
type scene struct {
	stopped left
	killed  func() left
}

// left is the store of a service, its deliveries, and those of them without an answer.
type left struct {
	*bed
	sent, inFlight []*delivery
}

func newScene(t *testing.T, g ground) *scene {
	t.Helper()
	s := &scene{stopped: left{bed: g.bed(t)}}
	s.stopped.Stop()
	s.stopped.forgetReserve()
	s.killed = sync.OnceValue(func() left {
		killed := s.stopped.copy(t).breakOff()
		killed.forgetReserve()
		return killed
	})
	return s
}

func ready(s *scene) left   { return s.stopped }
func crashed(s *scene) left { return s.killed() }

// forgetReserve deletes the eight megabytes that reserve disk space, so that they are neither copied nor checked; the
// next start allocates them again.
func (b *bed) forgetReserve() {
	if b.Shared() {
		return
	}
	if err := os.Remove(filepath.Join(b.Store, "countersign.reserve")); err != nil {
		b.t.Error(err)
	}
}

// copy is the same service on a copy of its store, with the same shop.
func (b *bed) copy(t *testing.T) *bed {
	t.Helper()
	if !b.Shared() {
		return b.with(t, b.Copy(t))
	}
	database := copied(t, b.Settings()["SVC_PLATFORM_STORE"]) // the database must outlive the server
	s := b.Anew(t)
	s.Move(database)
	return b.with(t, s)
}

// copied is a copy of an unused database.
func copied(t *testing.T, from string) string {
	t.Helper()
	to := pgtest.Database(t)
	admin, name := asAdmin(t, to)
	_, template := asAdmin(t, from)
	pgtest.Exec(t, admin, "DROP DATABASE "+name)
	pgtest.Exec(t, admin, "CREATE DATABASE "+name+" TEMPLATE "+template)
	return to
}

// asAdmin is the address of the server's administrative database, and the name of this one.
func asAdmin(t *testing.T, database string) (admin, name string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	name = strings.TrimPrefix(u.Path, "/")
	u.Path = "/postgres"
	return u.String(), name
}

// anew is the same service with a new store, in which only the bootstrap token exists.
func (b *bed) anew(t *testing.T) *bed {
	t.Helper()
	var database string
	if b.Shared() {
		database = pgtest.Database(t)
	}
	s := b.Anew(t)
	if b.Shared() {
		s.Move(database)
	}
	c := b.with(t, s)
	c.operator, c.reviewer = c.Admin, c.Admin
	return c
}

func (b *bed) with(t *testing.T, s *harness.Server) *bed {
	c := *b
	c.t, c.Server = t, s
	c.operator, c.reviewer = b.operator.On(s), b.reviewer.On(s)
	return &c
}

// breakOff kills the service with a read, an approved read and a side effect in flight, and with runs in every kind of
// waiting.
func (b *bed) breakOff() left {
	b.t.Helper()
	b.Restart()
	l := newLife(b.t, b)
	l.shop.behave(once("/effect", answering(500, `{}`)), func() {})
	l.reaches(l.beginPlan(l.plans[2]), "RECOVERY_REQUIRED")
	l.reaches(l.beginPlan(l.plans[1]), "WAITING_APPROVAL")
	approved := l.beginPlan(l.guarded())
	gate := make(chan struct{})
	defer close(gate)
	l.shop.behave(holding(gate), func() {})
	l.decides(approved, "APPROVED")
	for _, plan := range []string{l.plans[0], l.plans[2]} {
		l.beginPlan(plan)
	}
	harness.Until(b.t, "three requests to be in flight", func() bool { return len(l.shop.unanswered(l.from)) == 3 })
	l.Kill()
	l.shop.behave(alwaysGood, func() {})
	return left{bed: b, sent: l.shop.deliveries(l.from), inFlight: l.shop.unanswered(l.from)}
}

func (l *life) guarded() string {
	return l.plan("LIVE", []any{step("guarded", "guarded", nil)})
}

// recovery lets the service go on with what it found, without any request.
func (l *life) recovery() []func() bool {
	return []func() bool{func() (there bool) {
		harness.Until(l.t, "all runs to stand still", func() bool {
			m := l.ask(l.Admin, "GET", "/metrics", nil)
			there = m != nil
			return !there || still(m.JSON)
		})
		return there
	}}
}

// expire waits until approvals have expired.
func (l *life) expire() []func() bool {
	return []func() bool{func() bool {
		_, ok := l.reaches(l.beginPlan(l.plans[1]), "FAILED")
		return ok
	}}
}

func (l *life) expired() {
	harness.Until(l.t, "no approval to be open", func() bool {
		return l.Admin.Get("/metrics").OK(l.t).At("countersign_approvals.PENDING").Int() == 0
	})
}

// fill writes until the write-ahead log is checkpointed.
func (l *life) fill() []func() bool {
	const megabytes = 20
	filler := make([]byte, 1000<<10)
	for i := range filler {
		filler[i] = 'x'
	}
	acts := make([]func() bool, megabytes)
	for i := range acts {
		body := doc{"document": harness.With(harness.Model("big"), "description", string(filler)), "expectedRevision": i}
		acts[i] = func() bool {
			return l.change("models.write", nothing, l.operator, "PUT", "/models/big", body) != nil
		}
	}
	return acts
}

// failedWrite writes until a write fails, which is not acknowledged and ends the service.
func (l *life) failedWrite() []func() bool {
	const most = 1000
	return []func() bool{func() bool {
		for n := range most {
			id := fmt.Sprintf("kept-%d", n)
			a := l.ask(l.operator, "PUT", "/models/"+id, doc{"document": harness.Model(id)})
			switch {
			case a == nil:
				return false
			case a.Status == 503:
				return true
			case a.Status != 200:
				l.fault("a write whose sync failed was answered %s", a)
				return true
			}
			l.promise(a, "models.write", "PUT /models/"+id, l.there("/models/"+id, id))
		}
		l.fault("none of %d writes failed", most)
		return true
	}}
}
