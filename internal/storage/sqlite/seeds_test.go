package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// keptSeeds are those of testdata/seeds.txt for a flag; of is the rest of the line.
func keptSeeds(t *testing.T, name, of string) (seeds []uint64) {
	t.Helper()
	text, err := os.ReadFile("testdata/seeds.txt")
	mustDo(t, err)
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if fields[0] != name || strings.Join(fields[2:], " ") != of {
			continue
		}
		var seed uint64
		if _, err := fmt.Sscan(fields[1], &seed); err != nil {
			t.Fatalf("testdata/seeds.txt: %q: %v", line, err)
		}
		seeds = append(seeds, seed)
	}
	return seeds
}

// drawnSeed is the one of a flag or, where that is 0, another one each time.
func drawnSeed(given uint64) uint64 {
	if given == 0 {
		return 1 + rand.Uint64N(1e9)
	}
	return given
}
