package judge

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign/test/campaign"
	"github.com/countersign/countersign/test/harness"
	"github.com/countersign/countersign/test/judge/evaluator"
)

var (
	sequences = campaign.SizeFlag("sequences", 130, 2000, "how many sequences are drawn and played")
	seed      = campaign.SeedFlag("seed")
)

func TestMain(m *testing.M) { harness.Main(m) }

// step is an operation that was played, and what was seen of it.
type step struct {
	operation evaluator.Operation
	seen      seen
}

// TestTheServiceDoesWhatASecondImplementationSays plays the kept sequences and drawn ones. It also shows that it would
// notice: each sentence that the evaluator goes by is negated, and then something of what was seen must differ.
func TestTheServiceDoesWhatASecondImplementationSays(t *testing.T) {
	first := seed.First(t)
	seeds := seed.Kept(t)
	for i := range sequences.N() {
		seeds = append(seeds, first+uint64(i))
	}
	played := &plays{}
	play(t, seeds, played.add)
	if !seed.Asked() && !t.Failed() {
		played.seeNegations(t)
	}
}

const (
	side    = 4    // sequences that are played beside each other
	perTime = 1000 // sequences that a server plays
)

// play plays the sequences of these seeds, and gives each that was played to then.
func play(t *testing.T, seeds []uint64, then func(evaluator.Sequence, []step)) {
	t.Helper()
	var operations atomic.Int64
	for some := range slices.Chunk(seeds, perTime) {
		t.Run("sequences", func(t *testing.T) {
			var next atomic.Int64
			var ahead sync.WaitGroup
			for _, b := range beds(t, min(side, len(some))) {
				ahead.Go(func() {
					for i := next.Add(1) - 1; int(i) < len(some) && !t.Failed(); i = next.Add(1) - 1 {
						s := evaluator.Draw(some[i])
						steps, difference := b.judge(t, s)
						operations.Add(int64(len(steps)))
						if difference != "" {
							t.Errorf("-seed %d: %s\nThe shortest sequence that was found:\n%s", s.Seed, difference, b.shrink(t, s))
						}
						if then != nil {
							then(s, steps)
						}
					}
				})
			}
			ahead.Wait()
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d sequences: %d operations, each as predicted", len(seeds), operations.Load())
}

// judge plays a sequence up to the first difference.
func (b *bed) judge(t *testing.T, s evaluator.Sequence) (steps []step, difference string) {
	t.Helper()
	steps, difference, _ = b.judged(t, s)
	return steps, difference
}

func (b *bed) judged(t *testing.T, s evaluator.Sequence) (steps []step, difference string, lines []string) {
	t.Helper()
	p, e := b.plays(t, s.World), evaluator.New(s.World, "")
	defer p.ends()
	for _, op := range s.Operations {
		saw, is := p.operation(op)
		if !is {
			continue
		}
		steps = append(steps, step{op, saw})
		if difference = differs(e.Do(op), saw); difference != "" {
			return steps, fmt.Sprintf("after %d operations %+v: %s", len(steps), op, difference), p.lines
		}
	}
	return steps, "", p.lines
}

// differs compares a prediction with what was seen. Nil predicts nothing.
func differs(want evaluator.Expected, saw seen) string {
	var out []string
	for name, v := range want {
		if got, is := saw[name]; !is || !slices.Contains(strings.Split(v, "|"), got) {
			out = append(out, fmt.Sprintf("%s is %q, predicted %q", name, got, v))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// shrink leaves out operations as long as what is left differs too, and returns its requests.
func (b *bed) shrink(t *testing.T, s evaluator.Sequence) string {
	t.Helper()
	steps, difference, lines := b.judged(t, s)
	s.Operations = s.Operations[:min(len(steps), len(s.Operations))]
	for i := len(s.Operations) - 2; i >= 0; i-- {
		shorter := s
		shorter.Operations = slices.Delete(slices.Clone(s.Operations), i, i+1)
		if _, d, l := b.judged(t, shorter); d != "" {
			s, difference, lines = shorter, d, l
			i = min(i, len(s.Operations)-1)
		}
	}
	return strings.Join(lines, "\n") + "\n# " + difference
}
