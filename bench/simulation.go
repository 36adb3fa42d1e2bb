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

// simulation is the benchmark of going along a model's way on paper, beside state
// machine libraries. All go the same way: 20 states with two guarded transitions
// each, of which the first never holds, and the second leads on and sets a variable
// that the next one asks for. What is compared is time a transition.
type simulation struct {
	reps int
	time time.Duration
	dir  string // of what was built
	took map[string][]float64
}

func measureSimulation(args []string) (err error) {
	m := simulation{took: map[string][]float64{}}
	f := flag.NewFlagSet("bench simulation", flag.ExitOnError)
	f.IntVar(&m.reps, "reps", 5, "interleaved repetitions")
	f.DurationVar(&m.time, "time", time.Second, "length of each one's turn")
	_ = f.Parse(args) // it exits
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

// build has go build a program from what is in a directory.
func (m *simulation) build(program, dir string, arguments ...string) error {
	verb, rest := arguments[:len(arguments)-1], arguments[len(arguments)-1]
	c := exec.Command("go", append(verb, "-o", filepath.Join(m.dir, program), rest)...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", program, err, out)
	}
	return nil
}

// peers are the turns of those that can be had.
func (m *simulation) peers() (turns []func() error) {
	here := filepath.Join("peers", "simulation")
	if err := m.build("peers", here, "build", "."); err != nil {
		fmt.Fprintln(os.Stderr, "NOT MEASURED: the libraries for Go:", err)
	} else {
		turns = append(turns, func() error { return m.peer(filepath.Join(m.dir, "peers"), "-time", m.time.String()) })
	}
	if err := m.install(here); err != nil {
		fmt.Fprintln(os.Stderr, "NOT MEASURED: XState:", err)
	} else {
		turns = append(turns, func() error {
			return m.peer("node", filepath.Join(m.dir, "xstate.js"), strconv.FormatInt(m.time.Milliseconds(), 10))
		})
	}
	return turns
}

// install has npm bring XState.
func (m *simulation) install(from string) error {
	for _, name := range []string{"package.json", "xstate.js"} {
		doc, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(m.dir, name), doc, 0o600)
		}
		if err != nil {
			return err
		}
	}
	c := exec.Command("npm", "install", "--no-audit", "--no-fund", "--no-package-lock")
	c.Dir = m.dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("npm: %w: %s", err, out)
	}
	return nil
}

// peer has a program say how many nanoseconds a transition takes.
func (m *simulation) peer(program string, arguments ...string) error {
	out, err := exec.Command(program, arguments...).Output()
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	var found map[string]float64
	if err := json.Unmarshal(out, &found); err != nil {
		return err
	}
	for name, ns := range found {
		m.took[name] = append(m.took[name], ns)
	}
	return nil
}

const (
	stepping = "Countersign, stepping"
	whole    = "Countersign, with its trace"
)

var perTransition = regexp.MustCompile(`(?m)^Benchmark(Step|Simulate)(?:-\d+)?\s.*?([\d.]+) ns/transition`)

// ours runs the benchmarks of internal/rules/model: stepping is nothing that the product
// offers by itself.
func (m *simulation) ours() error {
	out, err := exec.Command(filepath.Join(m.dir, "model"), "-test.run", "^$", "-test.bench", "^Benchmark(Step|Simulate)$", "-test.benchtime", m.time.String()).Output()
	if err != nil {
		return err
	}
	found := perTransition.FindAllStringSubmatch(string(out), -1)
	if len(found) != 2 {
		return errors.New("the benchmarks of internal/rules/model said nothing of transitions")
	}
	for _, x := range found {
		ns, err := strconv.ParseFloat(x[2], 64)
		if err != nil {
			return err
		}
		name := map[string]string{"Step": stepping, "Simulate": whole}[x[1]]
		m.took[name] = append(m.took[name], ns)
	}
	return nil
}

func (m *simulation) print() {
	printMachine()
	fmt.Printf("\n### Simulation\n\n%d repetitions.\n\n| | ns a transition | Million transitions a second | Its time, to that of our stepping |\n|---|--:|--:|--:|\n", m.reps)
	for _, name := range []string{stepping, whole, "looplab/fsm", "qmuntal/stateless", "XState"} {
		ns := m.took[name]
		if len(ns) == 0 {
			continue
		}
		millions := make([]float64, len(ns))
		for i, x := range ns {
			millions[i] = 1000 / x
		}
		slices.Sort(millions)
		fmt.Printf("| %s | %s | %.3g | %s |\n", name, spread("%.1f", ns), middle(millions), spread("%.1f", quotients(ns, m.took[stepping])))
	}
	fmt.Println("\nWanted: stepping at least 50 million a second, at least 10 times the fastest library for Go and 100 times XState.")
}
