package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

// sim is one simulated installation and what is known of it from outside.
type sim struct {
	t    *testing.T
	seed uint64
	rng  *rand.Rand // used only by the script's goroutine

	limit int
	ttl   time.Duration

	disk      *disk
	receiver  *receiver
	process   *process
	shared    bool // other processes use the store too
	abreast   int  // so many at a time, of which process serves; 0: the one process
	replicas  []*process
	cuts      int
	highest   int64         // that clock has been
	ahead     time.Duration // how far the clock is ahead now
	comesBack int           // in how many rounds it is right again
	sequel    int           // rounds that follow on a cut
	ids       atomic.Int64
	requests  int
	clock     atomic.Int64  // how far the service's clock was set off
	epoch     time.Duration // from the start of virtual time to that of the script
	people    map[string][]person

	rowsMu    sync.Mutex
	rows      map[rowAt]any // decoded rows; a version of a row never changes
	olderRows map[rowAt]any // those that were last asked for earlier; a day drops them
	looks     map[string]lastLook

	loser *loser

	afterRound func(n int) // called with how many rounds are over

	turns, turn int // in how many checks each ended run has its turn, and which check this is

	mu     sync.Mutex
	script []string
	known  known
	seen   seen
	failed bool
}

// person is a principal of a tenant with a name for the script.
type person struct {
	access.Principal
	name string
}

var tenants = []string{"acme", "globex"}

// newSim draws the configuration.
func newSim(t *testing.T, seed uint64) *sim {
	s := &sim{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 0x5eed)), disk: &disk{rows: memory.New(), poison: poison{of: map[string]venom{}}}, people: map[string][]person{}, rows: map[rowAt]any{}, looks: map[string]lastLook{}, loser: newLoser(seed)}
	s.disk.reserve = s.rng.IntN(2) == 0
	s.limit = 1 + s.rng.IntN(4)
	s.ttl = []time.Duration{20 * time.Second, 90 * time.Second, 5 * time.Minute}[s.rng.IntN(3)]
	s.receiver = &receiver{seed: seed, now: s.now, acts: behaviours, pace: uneven, attempts: map[string]int{}}
	s.receiver.arrived = s.checkArrival
	s.known, s.seen = newKnown(), newSeen()
	for _, tenant := range tenants {
		s.people[tenant] = cast(tenant)
	}
	return s
}

// cast are the principals of a tenant: one of each role, one with both roles that must not decide together, and ones with fewer rights.
func cast(tenant string) []person {
	of := func(name string, roles ...countersign.Role) person {
		email := name + "@" + tenant + ".example"
		return person{access.Principal{ID: "user:" + email, Tenant: tenant, Roles: roles, Email: email}, name}
	}
	ann := of("ann", countersign.RoleOperator)
	limited := of("carl", countersign.RoleOperator, countersign.RoleApprover)
	limited.Projects = []string{tenant + "-one"}
	dry := of("dora", countersign.RoleOperator)
	dry.Modes = []string{countersign.ModeDryRun}
	token := person{access.Principal{ID: "token:tok-" + tenant, Tenant: tenant, Roles: []countersign.Role{countersign.RoleApprover}, Lineage: []string{ann.ID}}, "ann's token"}
	return []person{
		of("ada", countersign.RoleAdmin), ann, ann, ann, ann, ann, of("bob", countersign.RoleApprover), of("bob2", countersign.RoleApprover, countersign.RoleAdmin),
		of("eve", countersign.RoleOperator, countersign.RoleApprover, countersign.RoleAdmin), limited, dry, token, of("vic", countersign.RoleViewer),
	}
}

// act is one request of the script, drawn but not yet sent.
type act struct {
	who  person
	what string
	do   func(a control.Actor) error
	// main is the audit action of a successful change; with "" the audit records are not
	// checked.
	main string
	op   access.Operation // checked first, as the API does; "" means no check
}

// run plays the seed.
func (s *sim) run(steps int) {
	if s.abreast > 0 {
		s.complete()
	} else {
		s.boot()
	}
	defer s.endAll()
	s.furnish()
	for n := range steps {
		if s.afterRound != nil {
			s.afterRound(n)
		}
		if s.failed {
			return
		}
		s.perhapsFault()
		s.perhapsAhead()
		s.perhapsPoison()
		s.perhapsRights()
		s.perhapsCut()
		s.play(s.follow(s.draw()))
		s.pass()
		s.revive()
		s.perhapsRestart()
		synctest.Wait()
		s.check()
	}
	s.drain()
}

// endAll ends the last processes.
func (s *sim) endAll() {
	if s.abreast == 0 {
		s.process.end(0)
	}
	for _, p := range s.replicas {
		p.end(0)
	}
}

// play makes one request, or several concurrent ones.
func (s *sim) play(acts []act) {
	var wg sync.WaitGroup
	for _, a := range acts {
		s.requests++
		actor := control.Actor{Principal: a.who.Principal, RequestID: fmt.Sprintf("req-%06d", s.requests)}
		wg.Go(func() {
			err := s.authorize(a, actor)
			if err == nil {
				err = a.do(actor)
			}
			s.note(a, actor, err)
		})
	}
	wg.Wait()
	s.known.endRound()
}

// authorize makes the check that the API makes before it reads a request.
func (s *sim) authorize(a act, actor control.Actor) error {
	if a.op == "" {
		return nil
	}
	return s.process.control.Authorize(background(), actor, a.op, "simulated")
}

// note logs the result of a request, and checks the answer itself.
func (s *sim) note(a act, actor control.Actor, err error) {
	code := countersign.ErrorCode(err)
	s.say("%s %s: %s -> %s", actor.RequestID, a.who.name+"/"+a.who.Tenant, a.what, result(err))
	if code == countersign.CodeInternal && !errors.Is(err, store.ErrInDoubt) {
		s.fail("C3: %s was answered with an internal error: %v", a.what, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.answers[actor.RequestID] = answer{
		tenant: a.who.Tenant, code: code, main: a.main, what: a.what,
		repeats: s.repeatable(a.who.Tenant, actor.ID, cmp.Or(string(a.op), a.main), code), at: time.Now(),
	}
}

func result(err error) string {
	if err == nil {
		return "ok"
	}
	return err.Error()
}

// pass advances the clock and waits until nothing moves.
func (s *sim) pass() {
	var d time.Duration
	switch n := s.rng.IntN(100); {
	case n < 35:
	case n < 86:
		d = time.Duration(s.rng.IntN(3000)) * time.Millisecond
	case n < 97:
		d = time.Duration(s.rng.IntN(20)) * time.Second
	default:
		d = s.ttl + time.Duration(s.rng.IntN(10))*time.Second
	}
	if d > 0 {
		time.Sleep(d)
		s.say("%s pass", d)
	}
	synctest.Wait()
}

// perhapsFault sometimes plans a fault of the next commits, or sets the clock.
func (s *sim) perhapsFault() {
	switch n := s.rng.IntN(100); {
	case n < 11:
		f := []fault{diskFull, dieBefore, dieAfter, dieAfter, syncLost, syncKept, readError}[s.rng.IntN(7)]
		in := s.rng.IntN(8)
		s.disk.plan(f, in)
		s.say("planned: %s, in %d commits", f, in)
	case n < 40:
		s.disk.mend()
	case n < 43 && s.abreast == 0:
		jump := time.Duration(s.rng.IntN(7200)-3600) * time.Second
		s.setClock(jump)
		s.say("the clock is set by %s", jump)
	}
}

// perhapsRestart sometimes ends the process, gracefully or by a kill.
func (s *sim) perhapsRestart() {
	n := s.rng.IntN(100)
	if n >= 6 {
		return
	}
	if s.abreast > 0 {
		s.say("%s leaves, by a kill: %t", s.process.held.ID(), n >= 3)
		s.leave(s.process, map[bool]time.Duration{true: grace}[n < 3])
		s.disk.mend()
		s.complete()
		synctest.Wait()
		return
	}
	if n < 3 {
		s.say("stopped gracefully and started again")
		s.process.end(grace)
	} else {
		s.say("killed and started again")
		s.process.end(0)
	}
	s.disk.mend()
	s.boot()
	synctest.Wait()
}

// drain repairs all faults and lets every run end, making the decisions for which runs wait.
func (s *sim) drain() {
	s.say("everything is mended; the rest is played out")
	s.disk.mend()
	s.joinAgain()
	s.revive()
	s.clock.Store(s.highest) // no user is younger than what they decide
	for _, tenant := range tenants {
		s.hire(tenant)
	}
	for range 60 {
		if s.failed || !s.helpAlong() {
			break
		}
		time.Sleep(61 * time.Second)
		synctest.Wait()
		s.revive()
	}
	s.check()
	s.checkNothingIsStuck()
}

func (s *sim) say(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, fmt.Sprintf("%3d  %s  ", len(s.script), s.now().Format("Jan 2 15:04:05.000"))+fmt.Sprintf(format, args...))
}

// fail reports a violation once, with the script that led to it.
func (s *sim) fail(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.failed {
		s.failed = true
		s.t.Errorf("seed %d: %s\n%s", s.seed, fmt.Sprintf(format, args...), strings.Join(s.script, "\n"))
	}
}

// somebody draws a person of a tenant; sometimes of the other tenant, who must be refused everything.
func (s *sim) somebody(tenant string, roles ...countersign.Role) person {
	people := s.people[tenant]
	for range 20 {
		p := people[s.rng.IntN(len(people))]
		if len(roles) == 0 || s.rng.IntN(12) == 0 || hasRole(p, roles) {
			return p
		}
	}
	return people[0]
}

func hasRole(p person, roles []countersign.Role) bool {
	for _, r := range roles {
		for _, has := range p.Roles {
			if r == has {
				return true
			}
		}
	}
	return false
}

func background() context.Context { return context.Background() }

var shards = max(1, runtime.GOMAXPROCS(0))
