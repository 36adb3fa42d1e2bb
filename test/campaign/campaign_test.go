package campaign

import (
	"slices"
	"strings"
	"testing"
)

func TestASizeIsTheTiersUntilTheFlagSaysOtherwise(t *testing.T) {
	s := &Size{short: 3, full: 100}
	want := 100
	if testing.Short() {
		want = 3
	}
	if got := s.N(); got != want {
		t.Errorf("without the flag: %d, want %d", got, want)
	}
	for _, text := range []string{"7", "0"} {
		if err := s.Set(text); err != nil || s.String() != text || s.N() != int(text[0]-'0') {
			t.Errorf("with %s: %d, %v", text, s.N(), err)
		}
	}
	for _, text := range []string{"-1", "many"} {
		if s.Set(text) == nil {
			t.Errorf("%q is taken for a size", text)
		}
	}
}

func TestADrawnSeedIsOneAndTheAskedOneIsTaken(t *testing.T) {
	drawn, asked := &Seed{name: "seed"}, &Seed{name: "seed", given: 4711}
	if first := drawn.First(t); first == 0 || first != drawn.First(t) {
		t.Errorf("first %d, then %d", first, drawn.First(t))
	}
	if first := asked.First(t); first != 4711 {
		t.Errorf("asked for 4711, got %d", first)
	}
	if kept := asked.Kept(t); kept != nil {
		t.Errorf("beside the one asked for, there are %v", kept)
	}
}

func TestKeptSeedsHaveAReason(t *testing.T) {
	got, err := readSeeds(strings.NewReader("# what failed\n\n17 D1: sent twice\n 4  S3\n"))
	if want := []uint64{17, 4}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, bad := range []string{"17", "x why", "0 why", "17why"} {
		if got, err := readSeeds(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}
