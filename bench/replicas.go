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
func (r *replicas) compare() (err error) {
	r.clusters, r.turns = nil, nil
	if r.before != "" {
		if err := isBuilt(r.before); err != nil {
			return err
		}
	}
	if r.testbed, err = r.newTestbed(); err != nil {
		return err
	}
	defer r.clear()
	defer r.clearClusters()
	if err := r.prepare(); err != nil {
		return err
	}
	here := watchMachine()
	if err := r.play(); err != nil {
		return err
	}
	r.print()
	here.print()
	return nil
}

// prepare starts PostgreSQL, DBOS and the clusters.
func (r *replicas) prepare() (err error) {
	found := peer{absent: errors.New("it was not asked for")}
	if r.peers && r.share == 0 {
		found = findPeer(r.testbed.dir)
	}
	if r.server, err = startPostgres(r.testbed.dir, false); err != nil {
		return err
	}
	if r.latency > 0 {
		if err := r.server.moveAway(r.latency); err != nil {
			return err
		}
	}
	if err := r.addCluster("Countersign", r.binary, "countersign"); err != nil {
		return err
	}
	if r.before != "" {
		if err := r.addCluster("Countersign before", r.before, "before"); err != nil {
			return err
		}
	}
	if found.absent == nil {
		if r.dbos, err = startDBOS(found.binary, r.server, r.r); err != nil {
			return err
		}
		r.turns = append(r.turns, &replicasTurn{row: row{name: r.dbos.name()}})
	}
	return nil
}

// addCluster makes a database. A first replica stores the project, the token and the plan that
// all replicas use.
func (r *replicas) addCluster(title, binary, database string) error {
	url, err := r.server.database(database)
	if err != nil {
		return err
	}
	c := &cluster{title: title}
	r.clusters = append(r.clusters, c)
	for i := range r.most {
		p := newProduct(binary, r.testbed.dir, r.r, r.conc)
		p.shared = url
		if r.share > 0 {
			if p.share, err = newShare("/sys/fs/cgroup", filepath.Base(r.testbed.dir)+"-"+database+"-"+strconv.Itoa(i), r.share); err != nil {
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
		r.turns = append(r.turns, &replicasTurn{row: row{name: fmt.Sprintf("%s, replicas: %d", title, i+1)}, replicas: c.replicas[:i+1]})
	}
	return nil
}

func (r *replicas) clearClusters() {
	for _, c := range r.clusters {
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
func (r *replicas) play() error {
	order := slices.Clone(r.turns)
	for range r.reps {
		for _, t := range order {
			if err := r.turn(t); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
		}
		slices.Reverse(order)
	}
	return nil
}

func (r *replicas) turn(t *replicasTurn) error {
	var c contender = r.dbos
	stop := func() error { return nil }
	if t.replicas != nil {
		running := &running{t.replicas, r.server}
		defer running.clear()
		if err := running.start(); err != nil {
			return err
		}
		c, stop = running, running.stop
	}
	if _, err := c.drive(r.conc, r.phase/4); err != nil { // warm up
		return err
	}
	server := []int{r.server.process.Process.Pid}
	before := processorTime(server)
	unchanging := r.change(t)
	res, err := observe(c, r.conc, r.phase)
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
func (r *replicas) change(t *replicasTurn) (end func() error) {
	if r.changes == 0 || t.replicas == nil {
		return func() error { return nil }
	}
	done, failed := make(chan struct{}), make(chan error, 1)
	go func() {
		tick := time.NewTicker(time.Second / time.Duration(r.changes))
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

func (r *replicas) print() {
	printMachine(postgresVersion())
	fmt.Printf("\n### Replicas, %d runs at once, %s to PostgreSQL\n\n%d repetitions, %d steps a run, %d health checks a second, all on one PostgreSQL that syncs.\n\n", r.conc, r.latency, r.reps, r.steps, r.changes)
	if r.share > 0 {
		fmt.Printf("Each replica may use %g of a processor; PostgreSQL, the API that is called and who starts the runs have no such limit.\n\n", r.share)
	}
	rows := make([]*row, len(r.turns))
	for i, t := range r.turns {
		rows[i] = &t.row
	}
	printRows(rows)
	fmt.Println("\n| | PostgreSQL's CPU a step | Steps/s, to DBOS (wanted: at least 2) | Steps/s, to before | Steps/s, to one replica |\n|---|--:|--:|--:|--:|")
	for _, t := range r.turns {
		cells := []string{t.name, spread("%.2f ms", t.database), "", "", ""}
		if other := r.turnNamed("DBOS"); other != nil && t != other {
			cells[2] = spread("%.2f", quotients(t.rate, other.rate))
		}
		if rest, ok := strings.CutPrefix(t.name, "Countersign, "); ok {
			if other := r.turnNamed("Countersign before, " + rest); other != nil {
				cells[3] = spread("%.2f", quotients(t.rate, other.rate))
			}
		}
		if title, _, ok := strings.Cut(t.name, ", replicas"); ok {
			cells[4] = spread("%.2f", quotients(t.rate, r.turnNamed(title+", replicas: 1").rate))
		}
		fmt.Println("| " + strings.Join(cells, " | ") + " |")
	}
}

// turnNamed returns the turn whose name begins so; nil if there is none.
func (r *replicas) turnNamed(prefix string) *replicasTurn {
	for _, t := range r.turns {
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

func (r *running) start() error {
	for _, p := range r.replicas {
		if err := p.start(); err != nil {
			return err
		}
	}
	return nil
}

func (r *running) stop() (err error) {
	for _, p := range r.replicas {
		err = errors.Join(err, end(p.process, syscall.SIGTERM))
	}
	return err
}

func (r *running) name() string { return fmt.Sprintf("Countersign, replicas: %d", len(r.replicas)) }

// drive distributes the workers over the replicas, as a load balancer does.
func (r *running) drive(conc int, d time.Duration) (result, error) {
	return closedLoop(r.replicas[0].r, conc, d, func(worker int) (time.Duration, error) {
		return r.replicas[worker%len(r.replicas)].runOnce()
	})
}

func (r *running) roots() []int {
	pids := []int{r.server.process.Process.Pid}
	for _, p := range r.replicas {
		pids = append(pids, p.process.Process.Pid)
	}
	return pids
}

func (r *running) storedBytes() (int64, error) { return r.server.storedBytes() }

func (r *running) syncs() (int, error) { return tracedSyncs(r.server.trace) }

func (r *running) clear() {
	for _, p := range r.replicas {
		p.clear()
	}
}
