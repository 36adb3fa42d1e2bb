package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"
)

// replicas is the benchmark of several replicas on one PostgreSQL, in turns with DBOS on the
// same server.
type replicas struct {
	workload
	reps, most int
	phase      time.Duration
	*testbed
	cluster []*product
	rows    []*row // by number of replicas; then DBOS, if it is measured
}

func measureReplicas(args []string) error {
	var m replicas
	f := flag.NewFlagSet("bench replicas", flag.ExitOnError)
	m.flags(f)
	f.IntVar(&m.conc, "runs", 64, "runs at once")
	f.IntVar(&m.reps, "reps", 5, "interleaved repetitions")
	f.IntVar(&m.most, "replicas", 3, "replicas, from 1 to so many")
	f.DurationVar(&m.phase, "phase", 8*time.Second, "length of each turn")
	_ = f.Parse(args) // exits on an error
	if m.most < 1 || m.reps < 1 {
		return errors.New("replicas and reps must be at least 1")
	}
	var err error
	if m.testbed, err = m.newTestbed(); err != nil {
		return err
	}
	defer m.clear()
	defer m.clearCluster()
	if err := m.prepare(); err != nil {
		return err
	}
	here := watchMachine()
	if err := m.play(); err != nil {
		return err
	}
	m.print()
	here.print()
	return nil
}

// prepare starts PostgreSQL and DBOS. A first replica stores the project, the token and the
// plan that all replicas use.
func (m *replicas) prepare() (err error) {
	found := findPeer(m.testbed.dir)
	if m.server, err = startPostgres(m.testbed.dir, false); err != nil {
		return err
	}
	url, err := m.server.database("countersign")
	if err != nil {
		return err
	}
	for range m.most {
		p := newProduct(m.binary, m.testbed.dir, m.r, m.conc)
		p.shared = url
		m.cluster = append(m.cluster, p)
	}
	first := m.cluster[0]
	if err := errors.Join(first.start(), first.prepare(), first.stop()); err != nil {
		return err
	}
	for _, p := range m.cluster {
		p.token, p.plan = first.token, first.plan
	}
	if found.absent == nil {
		m.dbos, err = startDBOS(found.binary, m.server, m.r)
	}
	return err
}

func (m *replicas) clearCluster() {
	for _, p := range m.cluster {
		p.clear()
	}
}

// play measures one replica, then two, and so on, and DBOS. In every second repetition the
// order is reversed.
func (m *replicas) play() error {
	for n := range m.most {
		m.rows = append(m.rows, &row{name: fmt.Sprintf("Countersign, replicas: %d", n+1)})
	}
	order := make([]int, m.most, m.most+1)
	for i := range order {
		order[i] = i
	}
	if m.dbos != nil {
		m.rows = append(m.rows, &row{name: m.dbos.name()})
		order = append(order, m.most)
	}
	for range m.reps {
		for _, i := range order {
			if err := m.turn(i); err != nil {
				return fmt.Errorf("%s: %w", m.rows[i].name, err)
			}
		}
		slices.Reverse(order)
	}
	return nil
}

func (m *replicas) turn(i int) error {
	var c contender = m.dbos
	if i < m.most {
		running := &running{m.cluster[:i+1], m.server}
		defer running.clear()
		if err := running.start(); err != nil {
			return err
		}
		c = running
	}
	if _, err := c.drive(m.conc, m.phase/4); err != nil { // warm up
		return err
	}
	res, err := observe(c, m.conc, m.phase)
	if err != nil {
		return err
	}
	m.rows[i].add(res)
	fmt.Fprintf(os.Stderr, "%-26s %6.0f steps/s\n", m.rows[i].name, res.stepsPerSecond())
	if i < m.most {
		return c.(*running).stop()
	}
	return nil
}

func (m *replicas) print() {
	printMachine(postgresVersion())
	fmt.Printf("\n### Replicas, %d runs at once\n\n%d repetitions, %d steps a run, all on one PostgreSQL that syncs.\n\n", m.conc, m.reps, m.steps)
	printRows(m.rows)
	if m.dbos == nil {
		return
	}
	fmt.Println("\n| Steps/s, to DBOS | Median (least to most) | Wanted |\n|---|--:|--:|")
	for _, r := range m.rows[:m.most] {
		fmt.Printf("| %s | %s | at least 2 |\n", r.name, spread("%.2f", quotients(r.rate, m.rows[m.most].rate)))
	}
}

// running has the replicas that share the runs of one turn. No other replica runs during that
// turn: it would query the database too.
type running struct {
	replicas []*product
	server   *postgres
}

func (c *running) start() error {
	for _, p := range c.replicas {
		if err := p.start(); err != nil {
			return err
		}
	}
	return nil
}

func (c *running) stop() (err error) {
	for _, p := range c.replicas {
		err = errors.Join(err, end(p.process, syscall.SIGTERM))
	}
	return err
}

func (c *running) name() string { return fmt.Sprintf("Countersign, replicas: %d", len(c.replicas)) }

// drive distributes the workers over the replicas, as a load balancer does.
func (c *running) drive(conc int, d time.Duration) (result, error) {
	return closedLoop(c.replicas[0].r, conc, d, func(worker int) (time.Duration, error) {
		return c.replicas[worker%len(c.replicas)].runOnce()
	})
}

func (c *running) roots() []int {
	pids := []int{c.server.process.Process.Pid}
	for _, p := range c.replicas {
		pids = append(pids, p.process.Process.Pid)
	}
	return pids
}

func (c *running) storedBytes() (int64, error) { return c.server.storedBytes() }

func (c *running) syncs() (int, error) { return tracedSyncs(c.server.trace) }

func (c *running) clear() {
	for _, p := range c.replicas {
		p.clear()
	}
}
