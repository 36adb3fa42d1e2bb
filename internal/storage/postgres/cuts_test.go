package postgres

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

var cutFrom = flag.Int("cut-from", -1, "with -short, the first of the offsets at which a connection is cut; -1: another one each time")

// sparser is how many times further apart the cuts of -short are.
const sparser = 8

// cutEach tries offset after offset, step bytes apart, until one lies behind the end;
// with -short fewer, from a drawn one on, and before them those that failed once.
func cutEach(t *testing.T, d direction, step int, try func(offset int) (struck bool)) {
	t.Helper()
	from := 0
	if testing.Short() {
		for _, offset := range keptCuts(t, d) {
			try(offset)
		}
		step *= sparser
		if from = *cutFrom; from < 0 {
			from = rand.IntN(step)
		}
		t.Logf("every %d bytes; again with -cut-from %d", step, from)
	}
	for offset := from; try(offset); offset += step {
	}
}

func keptCuts(t *testing.T, d direction) (offsets []int) {
	t.Helper()
	text, err := os.ReadFile("testdata/cuts.txt")
	mustDo(t, err)
	for line := range strings.Lines(string(text)) {
		var of string
		var offset int
		if strings.HasPrefix(line, "#") {
			continue
		}
		if _, err := fmt.Sscan(line, &of, &offset); err != nil {
			t.Fatalf("testdata/cuts.txt: %q: %v", line, err)
		}
		if of == d.String() {
			offsets = append(offsets, offset)
		}
	}
	return offsets
}
