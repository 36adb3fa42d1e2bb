package judge

import (
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/test/judge/evaluator"
)

// plays keeps what was seen of sequences.
type plays struct {
	mu  sync.Mutex
	all []recorded
}

type recorded struct {
	world evaluator.World
	steps []step
}

// enough is how many sequences are kept: more would add nothing to what a negation is seen by.
const enough = 2000

func (p *plays) add(s evaluator.Sequence, steps []step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.all) < enough {
		p.all = append(p.all, recorded{s.World, steps})
	}
}

// seeNegations negates each sentence that the evaluator goes by, and wants a difference from what the service did: a
// sentence without one is in no play, or means nothing.
func (p *plays) seeNegations(t *testing.T) {
	t.Helper()
	var sparse []string
	for _, sentence := range evaluator.Sentences() {
		n := 0
		for _, r := range p.all {
			if r.negated(sentence) {
				n++
			}
		}
		if n == 0 {
			t.Errorf("nothing in %d sequences tells %q from its negation", len(p.all), sentence)
		}
		sparse = append(sparse, fmt.Sprintf("%s %d", sentence, n))
	}
	t.Logf("how many of %d sequences see the negation of each: %s", len(p.all), strings.Join(sparse, ", "))
}

func (r recorded) negated(sentence string) bool {
	e := evaluator.New(r.world, sentence)
	for _, s := range r.steps {
		if differs(e.Do(s.operation), s.seen) != "" {
			return true
		}
	}
	return false
}

// search is how many seeds are searched for those that are kept.
var search = flag.Int("search", 0, "search so many seeds for few of which together each sentence's negation would be noticed, and keep them in testdata/seeds.txt")

// coverReason begins the reason of the seeds that the search keeps.
const coverReason = "tells from its negation: "

// TestKeptSequencesTellEachSentenceFromItsNegation by what is predicted of them alone. When sequences are drawn in another
// way, or there is a new sentence: go test ./test/judge -run Kept -search 20000.
func TestKeptSequencesTellEachSentenceFromItsNegation(t *testing.T) {
	if *search > 0 {
		keep(t, *search)
	}
	all := map[string]bool{}
	for _, kept := range seed.Kept(t) {
		for _, sentence := range told(kept, evaluator.Sentences()) {
			all[sentence] = true
		}
	}
	for _, sentence := range evaluator.Sentences() {
		if !all[sentence] && !seed.Asked() {
			t.Errorf("no sequence in testdata/seeds.txt tells %q from its negation", sentence)
		}
	}
}

// told names those of the sentences whose negation predicts something else of a seed's sequence.
func told(of uint64, sentences []string) (out []string) {
	s := evaluator.Draw(of)
	e := evaluator.New(s.World, "")
	var want []evaluator.Expected
	for _, op := range s.Operations {
		want = append(want, e.Do(op))
	}
	for _, sentence := range sentences {
		negated := evaluator.New(s.World, sentence)
		for i, op := range s.Operations {
			if contradict(want[i], negated.Do(op)) {
				out = append(out, sentence)
				break
			}
		}
	}
	return out
}

// contradict reports that what fits the one prediction can't fit the other.
func contradict(want, other evaluator.Expected) bool {
	for name, v := range other {
		mine, is := want[name]
		if !is {
			if strings.Contains(name, " ") { // of another run
				return true
			}
			continue
		}
		if !slices.ContainsFunc(strings.Split(v, "|"), func(one string) bool { return slices.Contains(strings.Split(mine, "|"), one) }) {
			return true
		}
	}
	return false
}

// keep writes down seeds that together tell each sentence: each that tells what those before it don't.
func keep(t *testing.T, seeds int) {
	t.Helper()
	left := evaluator.Sentences()
	var lines []string
	for n := uint64(1); n <= uint64(seeds) && len(left) > 0; n++ {
		more := told(n, left)
		if len(more) == 0 {
			continue
		}
		left = slices.DeleteFunc(left, func(sentence string) bool { return slices.Contains(more, sentence) })
		lines = append(lines, fmt.Sprintf("%d %s%s", n, coverReason, strings.Join(more, ", ")))
	}
	if len(left) > 0 {
		t.Fatalf("in %d sequences nothing tells %q from their negation", seeds, left)
	}
	const file = "testdata/seeds.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	others := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(text)), "\n"), func(line string) bool { return strings.Contains(line, coverReason) })
	if err := os.WriteFile(file, []byte(strings.Join(append(others, lines...), "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTheEvaluatorKnowsNothingOfTheProduct: it would repeat its mistakes.
func TestTheEvaluatorKnowsNothingOfTheProduct(t *testing.T) {
	files, err := filepath.Glob("evaluator/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range f.Imports {
			if strings.Contains(imported.Path.Value, ".") {
				t.Errorf("%s imports %s", file, imported.Path.Value)
			}
		}
	}
}
