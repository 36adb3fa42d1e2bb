// Package settlementmodel is a model of both sides of a settlement (the service, and a receiver with
// the kit), of preconditions and of witnesses, which is explored whole: any of them killed, cut off,
// slow, restored, at every step. See README.md.
package settlementmodel

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

var (
	whole = flag.Bool("whole", false, "explore every experiment: minutes, at most 2 GB")
	walks = flag.Int("walks", 2000, "how many paths are drawn through larger worlds")
	steps = flag.Bool("steps", false, "log the shortest step list of each broken property")
	write = flag.Bool("update", false, "with -whole: write testdata/expected.txt anew")
)

const expectedFile = "testdata/expected.txt"

// most bounds the states of one experiment.
const most = 12_000_000

type experiment struct {
	group, name string
	run         func() result
}

func (e experiment) id() string { return e.group + ": " + e.name }

func settle(cfg config, limit int) func() result {
	return func() result {
		return explore(cfg.name, state{}, limit, cfg.next, cfg.bad, cfg.open)
	}
}

// quick are the experiments of each run: two calls, by the rules that are built.
func (e experiment) quick() bool {
	return strings.HasPrefix(e.group, "E two calls") && (strings.HasPrefix(e.name, "same-tx") || strings.HasPrefix(e.name, "outside")) && strings.HasSuffix(e.name, ", proposed") ||
		strings.HasPrefix(e.group, "F ")
}

// TestTheModelBreaksWhereItIsExpectedTo explores each experiment whole, and compares what breaks in
// it. Nothing breaks by the rules that are built (those named proposed); the others show what a rule
// is for.
func TestTheModelBreaksWhereItIsExpectedTo(t *testing.T) {
	expected := readExpected(t)
	var now bytes.Buffer
	for _, e := range append(settlements(most), others(most)...) {
		if !*whole && !e.quick() {
			continue
		}
		t.Run(e.id(), func(t *testing.T) {
			got := e.run()
			got.tell(t, *steps)
			now.WriteString(e.id() + "\t" + got.broken() + "\n")
			if was, known := expected[e.id()]; !*write && (!known || was != got.broken()) {
				t.Errorf("what breaks is %q; expected is %q", got.broken(), was)
			}
		})
	}
	if *whole && *write {
		if err := os.WriteFile(expectedFile, now.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readExpected reads the name of each experiment, and what breaks in it.
func readExpected(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(expectedFile)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, line := range strings.Split(string(text), "\n") {
		if id, broken, is := strings.Cut(line, "\t"); is {
			out[id] = broken
		}
	}
	return out
}

// TestNothingBreaksOnDrawnPaths draws paths through worlds that are too large to be explored: two
// calls, and all that may go wrong, several times.
func TestNothingBreaksOnDrawnPaths(t *testing.T) {
	for _, k := range []storeKind{sameTx, outside, adapter} {
		for _, m := range []settleMode{propose, automatic} {
			cfg := config{
				calls: 2, store: k, mode: m, person: truthful, crashes: 3, rcvCrashes: 3, replicas: 2, cancel: true, lateCall: true, bindKey: true,
				restores: 1, declared: true, dups: 2, rules: proposed(),
			}
			t.Run(k.String()+" "+m.String(), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(k), uint64(m)))
				for range *walks {
					path, broken := walk(state{}, 400, r.IntN, cfg.next, cfg.bad)
					if len(broken) > 0 {
						t.Fatalf("broken: %q\n%s", broken, strings.Join(path, "\n"))
					}
				}
			})
		}
	}
}

// TestADrawnPathFindsWhatIsWrong: where a rule is left out, drawing finds it, too.
func TestADrawnPathFindsWhatIsWrong(t *testing.T) {
	cfg := config{calls: 1, store: sameTx, mode: automatic, person: nobody, rcvCrashes: 1, replicas: 1, lateCall: true, bindKey: true, rules: proposed(), lookThenWrite: true}
	r := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		if _, broken := walk(state{}, 400, r.IntN, cfg.next, cfg.bad); len(broken) > 0 {
			return
		}
	}
	t.Error("a kit that looks, and then writes its mark, breaks nothing")
}
