package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"time"
)

// api is the benchmark of the API under load. A few clients send as many requests of one
// kind as they can, first without other load and then while runs are in progress.
type api struct {
	workload
	clients, beaters, viewers, runs, reps int
	fill, phase                           time.Duration
	*testbed
	known []string // ids of finished runs
	fleet *fleet
}

func measureAPI(args []string) (err error) {
	var m api
	f := flag.NewFlagSet("bench api", flag.ExitOnError)
	m.flags(f)
	f.IntVar(&m.clients, "clients", 4, "clients of each kind, each with one request at a time")
	f.IntVar(&m.beaters, "instances", 100, "instances of agents, each with one heartbeat at a time")
	f.IntVar(&m.viewers, "viewers", 8, "viewers of each run that is followed")
	f.IntVar(&m.runs, "runs", 4, "runs at once, where runs go on")
	f.IntVar(&m.reps, "reps", 5, "repetitions")
	f.DurationVar(&m.fill, "fill", 5*time.Second, "how long runs are made first, to be read")
	f.DurationVar(&m.phase, "phase", 3*time.Second, "length of each kind's turn")
	_ = f.Parse(args) // exits on an error
	m.conc = 64
	if m.testbed, err = m.start(false); err != nil {
		return err
	}
	defer m.clear()
	if err := m.prepare(); err != nil {
		return err
	}
	return m.measure()
}

// prepare stores the runs, agents and model that the requests refer to.
func (a *api) prepare() (err error) {
	if _, err = a.p.drive(a.clients, a.fill); err != nil {
		return err
	}
	if a.known, err = a.p.finished(); err != nil {
		return err
	}
	if _, err = a.p.must("PUT", "/models/chain", object{"document": chainModel()}); err != nil {
		return err
	}
	a.fleet, err = a.p.enlist(1, a.beaters, a.beaters)
	return err
}

func (a *api) measure() error {
	kinds, here := a.kinds(), watchMachine()
	for rep := range a.reps {
		for _, k := range kinds {
			if err := errors.Join(k.alone.play(k, a.phase), a.besideRuns(k)); err != nil {
				return err
			}
		}
		fmt.Fprintf(os.Stderr, "repetition %d of %d\n", rep+1, a.reps)
	}
	a.print(kinds)
	here.print()
	return a.p.stop()
}

// besideRuns measures a kind of request while runs are in progress.
func (a *api) besideRuns(k *kind) error {
	stop := make(chan struct{})
	errs := make([]error, a.runs)
	var wg sync.WaitGroup
	for i := range a.runs {
		wg.Go(func() {
			for errs[i] == nil && !isClosed(stop) {
				_, errs[i] = a.p.runOnce()
			}
		})
	}
	err := k.beside.play(k, a.phase)
	close(stop)
	wg.Wait()
	return errors.Join(append(errs, err)...)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (a *api) print(kinds []*kind) {
	printMachine()
	fmt.Printf("\n### The API under load\n\n%d repetitions, each kind alone and then beside %d runs at once; %d runs of %d steps in the store at first.\n\n", a.reps, a.runs, len(a.known), a.steps)
	fmt.Println("| | Clients | Alone, a second | p50 | p99 | Beside runs, a second | p50 | p99 |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|--:|")
	for _, k := range kinds {
		fmt.Printf("| %s | %d | %s | %s |\n", k.name, cmp.Or(k.shown, k.clients), k.alone, k.beside)
	}
}
