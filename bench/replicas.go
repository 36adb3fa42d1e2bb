package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// replicas is the benchmark of several replicas on one PostgreSQL, in turns with DBOS on the
// same server.
type replicas struct {
	workload
	reps, most int
	phase      time.Duration
	before     string // binary of an earlier build of the product; "": none
	changes    int    // a second, of what each step reads
	latency    time.Duration
	peers      bool    // DBOS is measured too
	share      float64 // processors for each replica; 0: all
	*testbed
	clusters []*cluster // this build's, then the earlier one's
	turns    []*replicasTurn
}

// cluster is the replicas of one build on a database of their own.
type cluster struct {
	title    string
	replicas []*product
}

// replicasTurn is what has its turn in each repetition: so many replicas of a cluster, or DBOS.
type replicasTurn struct {
	row
	replicas []*product // nil: DBOS
	database []float64  // processor milliseconds that PostgreSQL took for a step
}

func measureReplicas(args []string) error {
	var m replicas
	f := flag.NewFlagSet("bench replicas", flag.ExitOnError)
	m.flags(f)
	f.IntVar(&m.conc, "runs", 64, "runs at once")
	f.IntVar(&m.reps, "reps", 5, "interleaved repetitions")
	f.IntVar(&m.most, "replicas", 3, "replicas, from 1 to so many")
	f.StringVar(&m.before, "before", "", "an earlier build of the product, measured beside this one")
	f.DurationVar(&m.phase, "phase", 8*time.Second, "length of each turn")
	f.IntVar(&m.changes, "changes", 0, "health checks a second of the project that each step reads")
	f.BoolVar(&m.peers, "dbos", true, "measure DBOS too")
	f.Float64Var(&m.share, "share", 0, "how much of a processor each replica may use, by a control group: 0.2. DBOS isn't measured then; default: no limit")
	latency := f.String("latency", "0", "added to each round trip to PostgreSQL, one comparison each: 0,2ms,10ms")
	_ = f.Parse(args) // exits on an error
	if m.most < 1 || m.reps < 1 {
		return errors.New("replicas and reps must be at least 1")
	}
	for one := range strings.SplitSeq(*latency, ",") {
		var err error
		if m.latency, err = time.ParseDuration(one); err != nil {
			return err
		}
		if err := m.compare(); err != nil {
			return err
		}
	}
	return nil
}

// compare measures all turns at one latency.
func (m *replicas) compare() (err error) {
	m.clusters, m.turns = nil, nil
	if m.before != "" {
		if err := isBuilt(m.before); err != nil {
			return err
		}
	}
	if m.testbed, err = m.newTestbed(); err != nil {
		return err
	}
	defer m.clear()
	defer m.clearClusters()
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

// prepare starts PostgreSQL, DBOS and the clusters.
func (m *replicas) prepare() (err error) {
	found := peer{absent: errors.New("it was not asked for")}
	if m.peers && m.share == 0 {
		found = findPeer(m.testbed.dir)
	}
	if m.server, err = startPostgres(m.testbed.dir, false); err != nil {
		return err
	}
	if m.latency > 0 {
		if err := m.server.moveAway(m.latency); err != nil {
			return err
		}
	}
	if err := m.addCluster("Countersign", m.binary, "countersign"); err != nil {
		return err
	}
	if m.before != "" {
		if err := m.addCluster("Countersign before", m.before, "before"); err != nil {
			return err
		}
	}
	if found.absent == nil {
		if m.dbos, err = startDBOS(found.binary, m.server, m.r); err != nil {
			return err
		}
		m.turns = append(m.turns, &replicasTurn{row: row{name: m.dbos.name()}})
	}
	return nil
}

// addCluster makes a database. A first replica stores the project, the token and the plan that
// all replicas use.
func (m *replicas) addCluster(title, binary, database string) error {
	url, err := m.server.database(database)
	if err != nil {
		return err
	}
	c := &cluster{title: title}
	m.clusters = append(m.clusters, c)
	for i := range m.most {
		p := newProduct(binary, m.testbed.dir, m.r, m.conc)
		p.shared = url
		if m.share > 0 {
			if p.share, err = newShare("/sys/fs/cgroup", filepath.Base(m.testbed.dir)+"-"+database+"-"+strconv.Itoa(i), m.share); err != nil {
				return err
			}
		}
		c.replicas = append(c.replicas, p)
	}
	first := c.replicas[0]
	for _, step := range []func() error{first.start, first.prepare, first.stop} {
		if err := step(); err != nil {
			return err
		}
	}
	for i, p := range c.replicas {
		p.token, p.plan = first.token, first.plan
		m.turns = append(m.turns, &replicasTurn{row: row{name: fmt.Sprintf("%s, replicas: %d", title, i+1)}, replicas: c.replicas[:i+1]})
	}
	return nil
}

func (m *replicas) clearClusters() {
	for _, c := range m.clusters {
		for _, p := range c.replicas {
			p.clear()
			if p.share != nil {
				_ = p.share.remove()
			}
		}
	}
}

// play measures one replica, then two, and so on, and DBOS. In every second repetition the
// order is reversed.
func (m *replicas) play() error {
	order := slices.Clone(m.turns)
	for range m.reps {
		for _, t := range order {
			if err := m.turn(t); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
		}
		slices.Reverse(order)
	}
	return nil
}

func (m *replicas) turn(t *replicasTurn) error {
	var c contender = m.dbos
	stop := func() error { return nil }
	if t.replicas != nil {
		running := &running{t.replicas, m.server}
		defer running.clear()
		if err := running.start(); err != nil {
			return err
		}
		c, stop = running, running.stop
	}
	if _, err := c.drive(m.conc, m.phase/4); err != nil { // warm up
		return err
	}
	server := []int{m.server.process.Process.Pid}
	before := processorTime(server)
	unchanging := m.change(t)
	res, err := observe(c, m.conc, m.phase)
	if err := errors.Join(err, unchanging()); err != nil {
		return err
	}
	t.add(res)
	t.database = append(t.database, (processorTime(server)-before).Seconds()*1000/float64(res.steps))
	fmt.Fprintf(os.Stderr, "%-33s %6.0f steps/s\n", t.name, res.stepsPerSecond())
	return stop()
}

// change has the project's health checked beside the runs, which writes a row that each step
// reads, until the function that it gives is called.
func (m *replicas) change(t *replicasTurn) (end func() error) {
	if m.changes == 0 || t.replicas == nil {
		return func() error { return nil }
	}
	done, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		tick := time.NewTicker(time.Second / time.Duration(m.changes))
		defer tick.Stop()
		var err error
		for n := 0; ; n++ {
			select {
			case <-tick.C:
				err = errors.Join(err, t.replicas[n%len(t.replicas)].checkHealth())
			case <-done:
				failed <- err
				return
			}
		}
	}()
	return func() error {
		close(done)
		return <-failed
	}
}

func (m *replicas) print() {
	printMachine(postgresVersion())
	fmt.Printf("\n### Replicas, %d runs at once, %s to PostgreSQL\n\n%d repetitions, %d steps a run, %d health checks a second, all on one PostgreSQL that syncs.\n\n", m.conc, m.latency, m.reps, m.steps, m.changes)
	if m.share > 0 {
		fmt.Printf("Each replica may use %g of a processor; PostgreSQL, the API that is called and who starts the runs have no such limit.\n\n", m.share)
	}
	rows := make([]*row, len(m.turns))
	for i, t := range m.turns {
		rows[i] = &t.row
	}
	printRows(rows)
	fmt.Println("\n| | PostgreSQL's CPU a step | Steps/s, to DBOS (wanted: at least 2) | Steps/s, to before | Steps/s, to one replica |\n|---|--:|--:|--:|--:|")
	for _, t := range m.turns {
		cells := []string{t.name, spread("%.2f ms", t.database), "", "", ""}
		if other := m.turnNamed("DBOS"); other != nil && t != other {
			cells[2] = spread("%.2f", quotients(t.rate, other.rate))
		}
		if rest, ok := strings.CutPrefix(t.name, "Countersign, "); ok {
			if other := m.turnNamed("Countersign before, " + rest); other != nil {
				cells[3] = spread("%.2f", quotients(t.rate, other.rate))
			}
		}
		if title, _, ok := strings.Cut(t.name, ", replicas"); ok {
			cells[4] = spread("%.2f", quotients(t.rate, m.turnNamed(title+", replicas: 1").rate))
		}
		fmt.Println("| " + strings.Join(cells, " | ") + " |")
	}
}

// turnNamed returns the turn whose name begins so; nil if there is none.
func (m *replicas) turnNamed(prefix string) *replicasTurn {
	for _, t := range m.turns {
		if strings.HasPrefix(t.name, prefix) {
			return t
		}
	}
	return nil
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
