// Command simulation takes the path that bench/simulation.go describes with state machine
// libraries for Go. It prints as JSON how many nanoseconds a transition takes with each.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"
)

// last is the final state, and the number of transitions of the path.
const last = 19

// world has the variables that guards read and actions set.
type world struct {
	amount float64
	color  string
	step   int
}

func (w *world) skips() bool          { return w.amount > 1000 && w.color == "green" }
func (w *world) goesOn(from int) bool { return w.amount <= 1000 && w.step == from }

// walker takes the path once from the start and returns the state in which it ends.
type walker interface{ walk() (int, error) }

func main() {
	d := flag.Duration("time", time.Second, "how long each is measured")
	flag.Parse()
	found := map[string]float64{}
	for name, w := range map[string]walker{"looplab/fsm": newLooplab(), "qmuntal/stateless": newStateless()} {
		ns, err := measure(w, *d)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			os.Exit(1)
		}
		found[name] = ns
	}
	_ = json.NewEncoder(os.Stdout).Encode(found)
}

func measure(w walker, d time.Duration) (float64, error) {
	n, begin := 0, time.Now()
	for ; n == 0 || time.Since(begin) < d; n++ {
		if at, err := w.walk(); err != nil || at != last {
			return 0, fmt.Errorf("it ended in state %d: %w", at, err)
		}
	}
	return float64(time.Since(begin).Nanoseconds()) / float64(n*last), nil
}
