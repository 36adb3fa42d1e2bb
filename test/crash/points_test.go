package crash

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/test/harness"
)

// leastPoints is what the assurance page asks for.
const leastPoints = 40

// A point is named "stage: place.kind". Which there are is found by playing each
// stage once with nothing to die at, and compared with what is written down.

// death is where a case dies: at the nth passage of a point in a stage.
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
		once.Do(func() { path, err = harness.BuildAs(builds, "countersign-crashpoints", "-tags", "crashpoints") })
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
}()

// TestCrashPoints lets the service die at each point, and looks at what it left.
func TestCrashPoints(t *testing.T) { inDirectory().play(t) }

// TestCrashPointsOnPostgreSQL does so where the database survives.
func TestCrashPointsOnPostgreSQL(t *testing.T) {
	t.Parallel()
	onDatabase().play(t)
}

func (g ground) play(t *testing.T) {
	passed := g.passages(t)
	g.compareWithFile(t, passed)
	deaths := g.drawDeaths(t, passed)
	for hand := range g.hands {
		t.Run(fmt.Sprintf("hand %d", hand), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, g)
			for i := hand; i < len(deaths); i += g.hands {
				t.Run(deaths[i].String(), func(t *testing.T) { s.die(t, deaths[i]) })
			}
		})
	}
	t.Logf("%d deaths", len(deaths))
}

// passages plays the stages and counts how often each passes each point.
func (g ground) passages(t *testing.T) map[string]map[string]int {
	t.Helper()
	s := newScene(t, g)
	passed, before := map[string]map[string]int{}, map[string]bool{}
	for _, st := range g.stages {
		counts := s.trace(t, st)
		maps.DeleteFunc(counts, func(name string, _ int) bool { return !st.everyday && before[name] })
		for name := range counts {
			before[name] = true
		}
		passed[st.name] = counts
	}
	return passed
}

// trace plays a stage with nothing to die at.
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

// enter makes the life that a stage begins with.
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

// launch starts a stage's program; false when it ended at its start.
func (l *life) launch(st stage, more harness.Setting) bool {
	l.t.Helper()
	if st.program != nil {
		l.Use(st.program(l.t))
	}
	return l.Begin(append(slices.Clone(st.settings), harness.Env(wrapped, tagged(l.t)), more)...)
}

// die plays a stage up to the death, restarts with nothing to die at, looks, and
// brings everything to its end.
func (s *scene) die(t *testing.T, d death) {
	t.Helper()
	l, from := s.enter(t, d.stage)
	if l.launch(d.stage, harness.Env("COUNTERSIGN_CRASH_AT", fmt.Sprintf("%s:%d", d.point, d.nth))) {
		l.play(d.stage.acts(l))
		if l.Alive() && d.stage.status == 0 {
			l.Terminate()
		}
	}
	if !l.Killed() {
		t.Fatalf("the point was never reached; the service ended by itself:\n%s", l.Log())
	}
	inFlight := slices.Concat(from.inFlight, l.shop.unanswered(l.from))
	l.shop.behave(calm, func() {})
	l.Use(tagged(t))
	l.Restart(func(settings map[string]string) { delete(settings, "COUNTERSIGN_CRASH_AT") })
	if d.stage.settled != nil {
		d.stage.settled(l)
	}
	l.look(inFlight)
	l.finish()
	if len(l.faults) > 0 {
		t.Errorf("%q", l.faults)
	}
	l.Kill() // an orderly end has a case of its own
	l.forgetReserve()
}

// drawDeaths dies once at each point, and in each further round at a drawn
// passage of it. What runs at once may share a commit, so the latest passages are
// not sure to come again.
func (g ground) drawDeaths(t *testing.T, passed map[string]map[string]int) (deaths []death) {
	t.Helper()
	first := firstSeed()
	t.Logf("-seed %d", first)
	r := rand.New(rand.NewPCG(first, 3))
	for round := range *repeats {
		for _, st := range g.stages {
			for _, name := range slices.Sorted(maps.Keys(passed[st.name])) {
				n := passed[st.name][name]
				d := death{st, name, 1 + n/2} // in the middle of the day, not at its dawn
				switch {
				case round > 0:
					d.nth = 1 + r.IntN(1+n*3/4)
				case st.from == nil:
					d.nth = 1
				}
				if strings.Contains(d.String(), g.only) {
					deaths = append(deaths, d)
				}
			}
		}
	}
	return deaths
}

// compareWithFile keeps a point from vanishing unnoticed.
func (g ground) compareWithFile(t *testing.T, passed map[string]map[string]int) {
	t.Helper()
	var lines []string
	names := map[string]bool{}
	for stage, counts := range passed {
		for name := range counts {
			lines = append(lines, stage+": "+name)
			names[name] = true
		}
	}
	slices.Sort(lines)
	if *update {
		if err := os.WriteFile(g.points, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(g.points)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(string(text)), "\n"), lines); diff != "" {
		t.Errorf("the points passed are not those of %s; -update writes it (-want +got):\n%s", g.points, diff)
	}
	if len(names) < leastPoints {
		t.Errorf("there are %d points; at least %d are asked for", len(names), leastPoints)
	}
	g.everyPlaceIsPassed(t, names)
	t.Logf("%d points; %d with the stages in which they are tried", len(names), len(lines))
}

var call = regexp.MustCompile(`crashpoint\.At\("([^"]+)"`)

// onlyShared are places outside the engines that only replicas pass; the file of the
// points on PostgreSQL has them.
var onlyShared = map[string]bool{"engine.adopted": true}

func (g ground) notHere(place string) bool { return g.others == "postgres." && onlyShared[place] }

// everyPlaceIsPassed looks for calls in the sources that no stage comes to.
func (g ground) everyPlaceIsPassed(t *testing.T, names map[string]bool) {
	t.Helper()
	err := filepath.WalkDir("../../internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range call.FindAllSubmatch(text, -1) {
			place := string(found[1])
			if !strings.HasPrefix(place, g.others) && !g.notHere(place) && !names[place] && !slices.ContainsFunc(slices.Collect(maps.Keys(names)), func(n string) bool { return strings.HasPrefix(n, place+".") }) {
				t.Errorf("%s: no stage passes %s", path, place)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
