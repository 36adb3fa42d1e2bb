package campaign

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Seed is the flag with the first seed of a campaign. Without it the seed is random, so that every run tests
// other cases.
type Seed struct {
	name  string
	given uint64
	once  sync.Once
	drawn uint64
}

// SeedFlag declares a seed flag.
func SeedFlag(name string) *Seed {
	s := &Seed{name: name}
	flag.Uint64Var(&s.given, name, 0, "the first seed; 0: drawn anew, and printed")
	return s
}

// Asked reports whether the flag was given.
func (s *Seed) Asked() bool { return s.given != 0 }

// largest bounds random seeds, so that a person can read them out.
const largest = 1_000_000_000

// First is the first seed; it is logged with the flag that repeats it.
func (s *Seed) First(t testing.TB) uint64 {
	t.Helper()
	first := s.given
	if first == 0 {
		s.once.Do(func() { s.drawn = 1 + rand.Uint64N(largest) })
		first = s.drawn
	}
	t.Logf("repeat it with -%s %d", s.name, first)
	return first
}

// Kept are the seeds that failed before, from testdata/seeds.txt: one a line, followed by the reason. They are
// always tried, except if a seed is given.
func (s *Seed) Kept(t testing.TB) []uint64 {
	t.Helper()
	if s.Asked() {
		return nil
	}
	f, err := os.Open("testdata/seeds.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	seeds, err := readSeeds(f)
	if err != nil {
		t.Fatalf("%s: %v", f.Name(), err)
	}
	return seeds
}

func readSeeds(from io.Reader) (seeds []uint64, err error) {
	lines := bufio.NewScanner(from)
	for n := 1; lines.Scan(); n++ {
		word, why, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		if word == "" || strings.HasPrefix(word, "#") {
			continue
		}
		seed, err := strconv.ParseUint(word, 10, 64)
		if err != nil || seed == 0 || strings.TrimSpace(why) == "" {
			return nil, fmt.Errorf("line %d: %q is not a seed and why it is kept", n, lines.Text())
		}
		seeds = append(seeds, seed)
	}
	return seeds, lines.Err()
}
