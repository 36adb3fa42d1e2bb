package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// comparison is the benchmark of steps per second: the product, the limit of this machine and
// DBOS, in turns.
type comparison struct {
	workload
	reps   int
	phase  time.Duration
	peer   peer
	before string // binary of an earlier build of the product; "": none
}

func measureSteps(args []string) error {
	var c comparison
	f := flag.NewFlagSet("bench", flag.ExitOnError)
	c.flags(f)
	at := f.String("runs", "4,32", "runs at once, one comparison each")
	f.StringVar(&c.before, "before", "", "an earlier build of the product, measured beside this one")
	f.IntVar(&c.reps, "reps", 5, "interleaved repetitions")
	f.DurationVar(&c.phase, "phase", 8*time.Second, "length of each contender's turn; the ideals have a quarter of it")
	_ = f.Parse(args) // exits on an error
	dir, err := makeTemporary(c.dir)
	if err != nil {
		return err
	}
	defer removeTemporary(dir)
	c.peer = findPeer(dir)
	printMachine(postgresVersion())
	here := watchMachine()
	for _, text := range strings.Split(*at, ",") {
		if c.conc, err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("-runs: %w", err)
		}
		s, err := c.measure()
		if err != nil {
			return err
		}
		s.print()
	}
	here.print()
	return nil
}

// measure measures all contenders in turns, and then counts their syncs in separate turns.
func (c *comparison) measure() (*findings, error) {
	s := &findings{conc: c.conc, steps: c.steps, absent: c.peer.absent}
	if err := c.compare(s); err != nil {
		return nil, err
	}
	return s, c.countSyncs(s)
}

func (c *comparison) compare(s *findings) error {
	b, err := c.startAll(false)
	if err != nil {
		return err
	}
	defer b.clear()
	contenders := b.contenders()
	for _, x := range contenders {
		s.rows = append(s.rows, &row{name: x.name()})
	}
	s.has = has{dbos: b.dbos != nil, before: b.earlier != nil}
	return c.play(b, contenders, s)
}

// startAll makes a testbed and starts all contenders.
func (c *comparison) startAll(traced bool) (*testbed, error) {
	b, err := c.start(traced)
	if err != nil {
		return nil, err
	}
	if c.before != "" && !traced {
		if err := b.addEarlier(c.before, c.conc); err != nil {
			b.clear()
			return nil, err
		}
	}
	if c.peer.absent == nil {
		if err := b.addDBOS(c.peer.binary, traced); err != nil {
			b.clear()
			return nil, err
		}
	}
	return b, nil
}

// contenders returns the contenders in the order of their turns. The product is between those
// that it is compared with.
func (t *testbed) contenders() []contender {
	all := []contender{&ideal{dir: t.dir, r: t.r, perStep: 1}, t.p}
	if t.dbos != nil {
		all = append(all, t.dbos)
	}
	if t.earlier != nil {
		all = append(all, t.earlier)
	}
	return append(all, &ideal{dir: t.dir, r: t.r, perStep: 2})
}

// play does the repetitions. In every second one the order of the turns is reversed, so that
// slow changes affect all contenders equally.
func (c *comparison) play(b *testbed, contenders []contender, s *findings) error {
	before, err := allStoredBytes(contenders)
	if err != nil {
		return err
	}
	steps := make([]int64, len(contenders))
	for i, x := range contenders { // warm up
		res, err := x.drive(c.conc, c.phase/4)
		if err != nil {
			return fmt.Errorf("%s: %w", x.name(), err)
		}
		steps[i] = res.steps
	}
	for rep := range c.reps {
		sync, err := fdatasync(b.dir, 500*time.Millisecond)
		if err != nil {
			return err
		}
		s.sync = append(s.sync, sync)
		if err := c.turns(contenders, s, steps, rep%2 == 1); err != nil {
			return err
		}
	}
	after, err := allStoredBytes(contenders)
	for i := range contenders {
		s.rows[i].bytesPerStep = float64(after[i]-before[i]) / float64(steps[i])
	}
	return err
}

func allStoredBytes(contenders []contender) ([]int64, error) {
	all := make([]int64, len(contenders))
	for i, x := range contenders {
		var err error
		if all[i], err = x.storedBytes(); err != nil {
			return all, err
		}
	}
	return all, nil
}

func (c *comparison) turns(contenders []contender, s *findings, steps []int64, reversed bool) error {
	order := make([]int, len(contenders))
	for i := range order {
		order[i] = i
	}
	if reversed {
		slices.Reverse(order)
	}
	for _, i := range order {
		length := c.phase
		if _, bare := contenders[i].(*ideal); bare {
			length /= 4
		}
		res, err := observe(contenders[i], c.conc, length)
		if err != nil {
			return fmt.Errorf("%s: %w", contenders[i].name(), err)
		}
		steps[i] += res.steps
		s.rows[i].add(res)
		fmt.Fprintf(os.Stderr, "%2d at once, %-26s %6.0f steps/s\n", c.conc, contenders[i].name(), res.stepsPerSecond())
	}
	return nil
}
