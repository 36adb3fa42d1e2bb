package crash

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// leastPoints is the number on the assurance page.
const leastPoints = 40

// written is the list of points of each stage in the file.
func (g ground) written(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(g.points)
	if err != nil {
		t.Fatal(err)
	}
	byStage := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		stage, name, _ := strings.Cut(strings.TrimSpace(line), ": ")
		byStage[stage] = append(byStage[stage], name)
	}
	return byStage
}

// compareAll makes sure that no point disappears unnoticed.
func (g ground) compareAll(t *testing.T, passed map[string]map[string]int) {
	t.Helper()
	if *update {
		g.write(t, passed)
	}
	written := g.written(t)
	before, names := map[string]bool{}, map[string]bool{}
	for _, st := range g.stages {
		counts := maps.Clone(passed[st.name])
		st.forget(counts, before)
		if diff := cmp.Diff(written[st.name], slices.Sorted(maps.Keys(counts))); diff != "" {
			t.Errorf("%s: the points passed are not those of %s; -update writes it (-want +got):\n%s", st.name, g.points, diff)
		}
		for name := range counts {
			names[name] = true
		}
	}
	if len(names) < leastPoints {
		t.Errorf("there are %d points; at least %d are asked for", len(names), leastPoints)
	}
	g.everyPlaceIsPassed(t, written)
	t.Logf("%d points; %d with the stages in which they are tried", len(names), size(written))
}

func (g ground) write(t *testing.T, passed map[string]map[string]int) {
	t.Helper()
	var lines []string
	before := map[string]bool{}
	for _, st := range g.stages {
		counts := maps.Clone(passed[st.name])
		st.forget(counts, before)
		for name := range counts {
			lines = append(lines, st.name+": "+name)
		}
	}
	slices.Sort(lines)
	if err := os.WriteFile(g.points, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// compareStage does so for one stage. The file lists a point only for the first stage that passes it.
func (g ground) compareStage(t *testing.T, st stage, written []string, counts map[string]int) {
	t.Helper()
	passed := slices.Sorted(maps.Keys(counts))
	if !st.everyday {
		passed = slices.DeleteFunc(passed, func(name string) bool { return !slices.Contains(written, name) })
	}
	if diff := cmp.Diff(written, passed); diff != "" {
		t.Errorf("%s: the points passed are not those of %s; -repeats 1 -update writes it (-want +got):\n%s", st.name, g.points, diff)
	}
}

var call = regexp.MustCompile(`crashpoint\.At\("([^"]+)"`)

// onlyShared are places outside the engines that only replicas pass; they are in the file for PostgreSQL.
var onlyShared = map[string]bool{"engine.adopted": true}

func (g ground) notHere(place string) bool { return g.others == "postgres." && onlyShared[place] }

// everyPlaceIsPassed finds crash points in the sources that no stage passes, nor a test of their own.
func (g ground) everyPlaceIsPassed(t *testing.T, written map[string][]string) {
	t.Helper()
	places := map[string]bool{}
	for _, names := range written {
		for _, name := range names {
			places[placeOf(name)] = true
		}
	}
	for _, c := range askedDeaths {
		places[placeOf(c.point)] = true
	}
	for _, c := range redactedDeaths {
		places[placeOf(c.point)] = true
	}
	err := filepath.WalkDir("../../internal", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range call.FindAllSubmatch(text, -1) {
			if place := string(found[1]); !strings.HasPrefix(place, g.others) && !g.notHere(place) && !places[place] {
				t.Errorf("%s: no stage passes %s", path, place)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestBothEnginesPassTheSamePoints but those of their own files and of what only one of them
// does: a point that one list got and the other did not is found without playing either.
func TestBothEnginesPassTheSamePoints(t *testing.T) {
	onlyOne := map[string]bool{"engine.committed.Restarted": true, "engine.adopted": true} // how a start takes its runs over
	shared := func(g ground) map[string][]string {
		byStage := g.written(t)
		for stage, names := range byStage {
			byStage[stage] = slices.DeleteFunc(names, func(name string) bool {
				return onlyOne[name] || strings.HasPrefix(name, "sqlite.") || strings.HasPrefix(name, "postgres.")
			})
		}
		return byStage
	}
	directory, database := shared(inDirectory()), shared(onDatabase())
	for stage, names := range database {
		if diff := cmp.Diff(directory[stage], names); diff != "" {
			t.Errorf("%s (-directory +database):\n%s", stage, diff)
		}
	}
}
