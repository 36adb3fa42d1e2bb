package crash

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// allDeaths dies once at each point, and in each further round at a random pass of it. Concurrent changes may share a
// commit, so the last passes may not occur again.
func (g ground) allDeaths(t *testing.T, s *scene, r *rand.Rand) (deaths []death) {
	t.Helper()
	passed := s.passages(t, g.stages)
	g.compareAll(t, passed)
	before := map[string]bool{}
	for _, st := range g.stages {
		st.forget(passed[st.name], before)
	}
	for round := range repeats.N() {
		for _, st := range g.stages {
			for _, name := range slices.Sorted(maps.Keys(passed[st.name])) {
				n := passed[st.name][name]
				d := death{st, name, st.middle(n)}
				if round > 0 {
					d.nth = 1 + r.IntN(1+n*3/4)
				}
				if strings.Contains(d.String(), g.only) {
					deaths = append(deaths, d)
				}
			}
		}
	}
	return deaths
}

// forget removes the points that an earlier stage has passed, unless this stage tries all of its points.
func (s stage) forget(passed map[string]int, before map[string]bool) {
	maps.DeleteFunc(passed, func(name string, _ int) bool { return !s.everyday && before[name] })
	for name := range passed {
		before[name] = true
	}
}

// middle is the pass at which the process dies, of n passes: one in the middle of the day, not at its beginning.
func (s stage) middle(n int) int {
	if s.from == nil {
		return 1
	}
	return 1 + n/2
}

// isTimed reports a point that a day passes as often as rows have waited for long enough: on
// a fast machine less often than on a slow one.
func isTimed(point string) bool {
	return strings.HasPrefix(point, "sqlite.flush") || strings.HasPrefix(point, "sqlite.checkpoint")
}

// someDeaths draws points of different places. It traces only their stages, and compares them with the file.
func (g ground) someDeaths(t *testing.T, s *scene, r *rand.Rand) (deaths []death) {
	t.Helper()
	written := g.written(t)
	g.everyPlaceIsPassed(t, written)
	drawn := g.drawPoints(written, r)
	var stages []stage
	for _, st := range g.stages {
		if len(drawn[st.name]) > 0 {
			stages = append(stages, st)
		}
	}
	passed := s.passages(t, stages)
	for _, st := range stages {
		g.compareStage(t, st, written[st.name], passed[st.name])
		for _, name := range drawn[st.name] {
			deaths = append(deaths, death{st, name, st.middle(passed[st.name][name])})
		}
	}
	t.Logf("of %d points in their stages these are drawn: %q", size(written), deaths)
	return deaths
}

// drawPoints draws as many points as the flag says, by stage, no two of one place.
func (g ground) drawPoints(written map[string][]string, r *rand.Rand) map[string][]string {
	var all []death
	for _, st := range g.stages {
		for _, name := range written[st.name] {
			if d := (death{stage: st, point: name}); strings.Contains(d.String(), g.only) {
				all = append(all, d)
			}
		}
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	drawn, places, left := map[string][]string{}, map[string]bool{}, g.some
	for _, d := range all {
		if place := placeOf(d.point); left > 0 && !places[place] {
			places[place] = true
			drawn[d.stage.name] = append(drawn[d.stage.name], d.point)
			left--
		}
	}
	return drawn
}

// placeOf is the place of a point in the source: the part before its kind.
func placeOf(point string) string {
	parts := strings.SplitN(point, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

func size(written map[string][]string) (n int) {
	for _, names := range written {
		n += len(names)
	}
	return n
}

// keptDeaths are deaths that found something before: testdata/deaths.txt has one on each line, as the tests are named,
// and the reason after " # ". Places of the other engine are left to that.
func (g ground) keptDeaths(t *testing.T) (deaths []death) {
	t.Helper()
	if seed.Asked() {
		return nil
	}
	text, err := os.ReadFile("testdata/deaths.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, why, _ := strings.Cut(strings.TrimSpace(line), " # ")
		if name == "" || strings.HasPrefix(name, "#") || strings.Contains(name, ": "+g.others) {
			continue
		}
		d, err := g.deathNamed(name)
		if err != nil || why == "" {
			t.Fatalf("testdata/deaths.txt: %q is not a death and why it is kept: %v", line, err)
		}
		deaths = append(deaths, d)
	}
	return deaths
}

// deathNamed parses the String of a death.
func (g ground) deathNamed(text string) (d death, err error) {
	stage, point, _ := strings.Cut(text, ": ")
	at := strings.LastIndex(point, ":")
	if at < 0 {
		return d, fmt.Errorf("%q has no number of a passage", text)
	}
	if _, err := fmt.Sscan(point[at+1:], &d.nth); err != nil {
		return d, err
	}
	d.point = point[:at]
	for _, st := range g.stages {
		if st.name == stage {
			d.stage = st
			return d, nil
		}
	}
	return d, fmt.Errorf("there is no stage %q", stage)
}

func TestADeathIsReadAsItIsWritten(t *testing.T) {
	g := inDirectory()
	for _, st := range g.stages {
		want := death{st, "control.committed.runs.start", 3}
		if got, err := g.deathNamed(want.String()); err != nil || got.String() != want.String() {
			t.Errorf("%q is read as %q, %v", want, got, err)
		}
	}
	for _, bad := range []string{"a day: sqlite.commit", "a night: sqlite.commit:1", "a day: sqlite.commit:often", ""} {
		if got, err := g.deathNamed(bad); err == nil {
			t.Errorf("%q is read as %q", bad, got)
		}
	}
}
