package main

import (
	"errors"
	"flag"
	"fmt"
	"time"
)

// heartbeats is the benchmark of how much heartbeats slow down concurrent runs and make the
// store grow.
type heartbeats struct {
	workload
	agents, instances, senders, rate int
	reps                             int
	phase, alone                     time.Duration

	*testbed
	fleet *fleet
	verdict
}

func measureHeartbeats(args []string) (err error) {
	var h heartbeats
	f := flag.NewFlagSet("bench heartbeats", flag.ExitOnError)
	h.flags(f)
	f.IntVar(&h.conc, "runs", 4, "runs at once")
	f.IntVar(&h.agents, "agents", 100, "agents")
	f.IntVar(&h.instances, "instances", 100, "instances of each agent")
	f.IntVar(&h.rate, "rate", 400, "heartbeats a second")
	f.IntVar(&h.senders, "senders", 200, "heartbeats that may wait for their answers at once")
	f.IntVar(&h.reps, "reps", 5, "repetitions, each with a phase of runs alone and one of runs beside heartbeats")
	f.DurationVar(&h.phase, "phase", 24*time.Second, "length of each of these phases")
	f.DurationVar(&h.alone, "alone", 2*time.Minute, "length of the last phase, heartbeats alone")
	_ = f.Parse(args) // exits on an error
	if h.agents < 1 || h.instances < 1 || h.rate < 1 || h.senders < 1 {
		return errors.New("agents, instances, rate and senders must be at least 1")
	}
	if h.testbed, err = h.start(false); err != nil {
		return err
	}
	defer h.clear()
	return h.measure()
}

func (h *heartbeats) measure() error {
	fmt.Printf("%d runs at once, %d steps a run; %d heartbeats a second of %d instances, %d repetitions of %s\n",
		h.conc, h.steps, h.rate, h.agents*h.instances, h.reps, h.phase)
	printHead()
	if err := h.warmUp(); err != nil {
		return err
	}
	for i := range h.reps {
		if err := h.repeat(i%2 == 1); err != nil {
			return err
		}
	}
	if err := h.growth(); err != nil {
		return err
	}
	return h.conclude()
}

// warmUp sends one heartbeat of each instance, so that the store has all of them.
func (h *heartbeats) warmUp() (err error) {
	if h.fleet, err = h.p.enlist(h.agents, h.instances, h.senders); err != nil {
		return err
	}
	x, err := h.observe("every instance", func(x *phase) error {
		x.tally = h.fleet.volley(h.p, len(h.fleet.instances), 0)
		return nil
	})
	if err != nil {
		return err
	}
	x.late = 0 // all of them were due at the same time
	h.addCounts(x)
	x.print("")
	if h.instancesOnly, err = h.p.rest(); err != nil {
		return err
	}
	if err := h.p.start(); err != nil {
		return err
	}
	h.fleet.shuffle()
	_, err = h.p.drive(h.conc, 2*time.Second)
	return err
}

// repeat compares runs alone with runs beside heartbeats. In every second repetition the
// phase with heartbeats comes first, so that slow changes, such as the growth of the store by
// the runs, affect both phases equally.
func (h *heartbeats) repeat(beatsFirst bool) error {
	first, second := h.runs, h.runsAndBeats
	if beatsFirst {
		first, second = second, first
	}
	a, err := first()
	if err != nil {
		return err
	}
	a.print("")
	b, err := second()
	if err != nil {
		return err
	}
	alone, beside := a, b
	if beatsFirst {
		alone, beside = b, a
	}
	h.addCounts(beside)
	ratio := beside.stepsPerSecond / alone.stepsPerSecond
	h.ratios = append(h.ratios, ratio)
	b.print(fmt.Sprintf("ratio %.2f", ratio))
	return nil
}

func (h *heartbeats) runs() (phase, error) {
	return h.observe("runs", func(x *phase) error {
		res, err := h.p.drive(h.conc, h.phase)
		x.stepsPerSecond = res.stepsPerSecond()
		return err
	})
}

func (h *heartbeats) runsAndBeats() (phase, error) {
	return h.observe("runs, heartbeats", func(x *phase) error {
		beaten := make(chan tally)
		go func() { beaten <- h.beat(h.phase) }()
		res, err := h.p.drive(h.conc, h.phase)
		x.stepsPerSecond, x.tally = res.stepsPerSecond(), <-beaten
		return err
	})
}

// beat sends heartbeats at the given rate for d.
func (h *heartbeats) beat(d time.Duration) tally {
	return h.fleet.volley(h.p, int(d.Seconds()*float64(h.rate)), time.Second/time.Duration(h.rate))
}
