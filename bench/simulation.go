package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// simulation is the benchmark of a simulation of a model, compared with state machine
// libraries. All take the same path of 20 states, each but the last with two guarded
// transitions. The guard of the first one is always false. The second one leads to the next
// state and sets a variable that the guard of the following transition reads. The result is
// the time per transition.
type simulation struct {
	reps int
	time time.Duration
	dir  string               // has the built programs
	took map[string][]float64 // by name: nanoseconds per transition, one element per repetition
}

func measureSimulation(args []string) (err error) {
	m := simulation{took: map[string][]float64{}}
	f := flag.NewFlagSet("bench simulation", flag.ExitOnError)
	f.IntVar(&m.reps, "reps", 5, "interleaved repetitions")
	f.DurationVar(&m.time, "time", time.Second, "length of each one's turn")
	_ = f.Parse(args) // exits on an error
	if m.dir, err = makeTemporary(""); err != nil {
		return err
	}
	defer removeTemporary(m.dir)
	if err := m.build("model", "..", "test", "-c", "./internal/rules/model"); err != nil {
		return err
	}
	turns := append([]func() error{m.ours}, m.peers()...)
	here := watchMachine()
	for range m.reps {
		for _, turn := range turns {
			if err := turn(); err != nil {
				return err
			}
		}
	}
	m.print()
	here.print()
	return nil
}

// build runs the go command in a directory to build a program. The last argument is the
// package.
func (s *simulation) build(program, dir string, arguments ...string) error {
	verb, rest := arguments[:len(arguments)-1], arguments[len(arguments)-1]
	c := exec.Command("go", append(verb, "-o", filepath.Join(s.dir, program), rest)...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", program, err, out)
	}
	return nil
}

// peers returns the turns of the libraries that can be built or installed.
func (s *simulation) peers() (turns []func() error) {
	here := filepath.Join("peers", "simulation")
	if err := s.build("peers", here, "build", "."); err != nil {
		fmt.Fprintln(os.Stderr, "NOT MEASURED: the libraries for Go:", err)
	} else {
		turns = append(turns, func() error { return s.peer(filepath.Join(s.dir, "peers"), "-time", s.time.String()) })
	}
	if err := s.install(here); err != nil {
		fmt.Fprintln(os.Stderr, "NOT MEASURED: XState:", err)
	} else {
		turns = append(turns, func() error {
			return s.peer("node", filepath.Join(s.dir, "xstate.js"), strconv.FormatInt(s.time.Milliseconds(), 10))
		})
	}
	return turns
}

// install installs XState with npm.
func (s *simulation) install(from string) error {
	for _, name := range []string{"package.json", "xstate.js"} {
		doc, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(s.dir, name), doc, 0o600)
		}
		if err != nil {
			return err
		}
	}
	c := exec.Command("npm", "install", "--no-audit", "--no-fund", "--no-package-lock")
	c.Dir = s.dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("npm: %w: %s", err, out)
	}
	return nil
}

// peer runs a program that measures how many nanoseconds a transition takes.
func (s *simulation) peer(program string, arguments ...string) error {
	out, err := exec.Command(program, arguments...).Output()
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	var found map[string]float64
	if err := json.Unmarshal(out, &found); err != nil {
		return err
	}
	for name, ns := range found {
		s.took[name] = append(s.took[name], ns)
	}
	return nil
}

const (
	stepping = "Countersign, stepping"
	whole    = "Countersign, with its trace"
)

var perTransition = regexp.MustCompile(`(?m)^Benchmark(Step|Simulate)(?:-\d+)?\s.*?([\d.]+) ns/transition`)

// ours runs the benchmarks of internal/rules/model: the product has no operation that only
// steps through a model without a trace.
func (s *simulation) ours() error {
	out, err := exec.Command(filepath.Join(s.dir, "model"), "-test.run", "^$", "-test.bench", "^Benchmark(Step|Simulate)$", "-test.benchtime", s.time.String()).Output()
	if err != nil {
		return err
	}
	found := perTransition.FindAllStringSubmatch(string(out), -1)
	if len(found) != 2 {
		return errors.New("the benchmarks of internal/rules/model printed no time per transition")
	}
	for _, x := range found {
		ns, err := strconv.ParseFloat(x[2], 64)
		if err != nil {
			return err
		}
		name := map[string]string{"Step": stepping, "Simulate": whole}[x[1]]
		s.took[name] = append(s.took[name], ns)
	}
	return nil
}

func (s *simulation) print() {
	printMachine()
	fmt.Printf("\n### Simulation\n\n%d repetitions.\n\n| | ns a transition | Million transitions a second | Its time, to that of our stepping |\n|---|--:|--:|--:|\n", s.reps)
	for _, name := range []string{stepping, whole, "looplab/fsm", "qmuntal/stateless", "XState"} {
		ns := s.took[name]
		if len(ns) == 0 {
			continue
		}
		millions := make([]float64, len(ns))
		for i, x := range ns {
			millions[i] = 1000 / x
		}
		slices.Sort(millions)
		fmt.Printf("| %s | %s | %.3g | %s |\n", name, spread("%.1f", ns), median(millions), spread("%.1f", quotients(ns, s.took[stepping])))
	}
	fmt.Println("\nWanted: stepping at least 50 million a second, at least 10 times the fastest library for Go and 100 times XState.")
}
