package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/test/campaign"
	"github.com/countersign/countersign/test/harness"
)

// A point is named "stage: place.kind". The points are found by playing each stage once without a crash, and compared
// with a file.

// death is the crash of one case: at the nth pass of a point in a stage.
type death struct {
	stage stage
	point string
	nth   int
}

func (d death) String() string { return fmt.Sprintf("%s: %s:%d", d.stage.name, d.point, d.nth) }

var tagged = func() func(t *testing.T) string {
	var once sync.Once
	var path string
	var err error
	return func(t *testing.T) string {
		t.Helper()
		once.Do(func() { path, err = campaign.Program(builds, "countersign-crashpoints", "-tags", "crashpoints") })
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
}()

// TestCrashPoints kills the service at each point, and checks what is left.
func TestCrashPoints(t *testing.T) {
	t.Parallel()
	inDirectory().play(t)
}

// TestCrashPointsOnPostgreSQL does the same with a database, which survives.
func TestCrashPointsOnPostgreSQL(t *testing.T) {
	t.Parallel()
	onDatabase().play(t)
}

func (g ground) play(t *testing.T) {
	r, s := rand.New(rand.NewPCG(seed.First(t), 3)), newScene(t, g)
	deaths := g.keptDeaths(t)
	if repeats.N() == 0 {
		deaths = append(deaths, g.someDeaths(t, s, r)...)
	} else {
		deaths = append(deaths, g.allDeaths(t, s, r)...)
	}
	for hand := range min(g.hands, len(deaths)) {
		t.Run(fmt.Sprintf("hand %d", hand), func(t *testing.T) {
			t.Parallel()
			s := s
			if hand > 0 { // each worker needs its own scene, since a shop can serve one case at a time
				s = newScene(t, g)
			}
			for i := hand; i < len(deaths); i += g.hands {
				t.Run(deaths[i].String(), func(t *testing.T) { s.die(t, deaths[i]) })
			}
		})
	}
	t.Logf("%d deaths", len(deaths))
}

// passages plays the stages and counts how often each passes each point.
func (s *scene) passages(t *testing.T, stages []stage) map[string]map[string]int {
	t.Helper()
	passed := map[string]map[string]int{}
	for _, st := range stages {
		passed[st.name] = s.trace(t, st)
	}
	return passed
}

// trace plays a stage without a crash.
func (s *scene) trace(t *testing.T, st stage) map[string]int {
	t.Helper()
	l, _ := s.enter(t, st)
	path := l.Beside("trace")
	if !l.launch(st, harness.Env("COUNTERSIGN_CRASH_TRACE", path)) {
		t.Fatalf("%s: the service ended at its start:\n%s", st.name, l.Log())
	}
	l.play(st.acts(l))
	if st.status == 0 {
		l.Terminate()
	}
	if status := l.Wait(); status != st.status || len(l.faults) > 0 {
		t.Fatalf("%s: the service exited with %d: %q\n%s", st.name, status, l.faults, l.Log())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, name := range strings.Fields(string(text)) {
		counts[name]++
	}
	return counts
}

// enter makes the life with which a stage begins.
func (s *scene) enter(t *testing.T, st stage) (*life, left) {
	t.Helper()
	if st.from == nil {
		return newLife(t, s.stopped.anew(t)), left{}
	}
	from := st.from(s)
	l := newLife(t, from.copy(t))
	l.before = from.sent
	return l, from
}

// launch starts a stage's program; it returns false if the program ended at its start.
func (l *life) launch(st stage, more harness.Setting) bool {
	l.t.Helper()
	if st.status != 0 { // what makes it end may be what fails a request, and is logged
		l.MayLogErrors(true)
	}
	if st.program != nil {
		l.Use(st.program(l.t))
	}
	return l.Begin(append(slices.Clone(st.settings), harness.Env(wrapped, tagged(l.t)), more)...)
}

// die plays a stage up to the crash, restarts without crash points, checks the state, and brings everything to its end.
func (s *scene) die(t *testing.T, d death) {
	t.Helper()
	l, from := s.enter(t, d.stage)
	if l.launch(d.stage, harness.Env("COUNTERSIGN_CRASH_AT", fmt.Sprintf("%s:%d", d.point, d.nth))) {
		l.play(d.stage.acts(l))
		if l.Alive() && d.stage.status == 0 {
			l.Terminate()
		}
	}
	if !l.Killed() && isTimed(d.point) && d.nth > 1 { // it was passed less often than when the passes were counted
		d.nth /= 2
		s.die(t, d)
		return
	}
	if !l.Killed() {
		t.Fatalf("the point was never reached; the service ended by itself:\n%s", l.Log())
	}
	inFlight := slices.Concat(from.inFlight, l.shop.unanswered(l.from))
	l.shop.behave(alwaysGood, func() {})
	l.Use(tagged(t))
	if !l.Begin(func(settings map[string]string) { delete(settings, "COUNTERSIGN_CRASH_AT") }) {
		t.Fatalf("the service ended at its start:\n%s", l.Log())
	}
	if d.stage.settled != nil {
		d.stage.settled(l)
	}
	l.look(inFlight)
	l.finish()
	if len(l.faults) > 0 {
		t.Errorf("%q", l.faults)
	}
	l.Kill() // a graceful stop is tested by its own case
	l.forgetReserve()
}
