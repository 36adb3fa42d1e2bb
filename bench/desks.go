package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// desks is the benchmark of the console's desk: what its list takes where very many approvals
// wait, and what the open desks of many people cost a step of runs that need no approval.
type desks struct {
	workload
	waiting, desks, reps int
	phase                time.Duration

	*testbed
	people    []*browser
	events    atomic.Int64 // that reached the desks
	alone, as []time.Duration
	list      *kind
}

func measureDesks(args []string) (err error) {
	var m desks
	f := flag.NewFlagSet("bench desks", flag.ExitOnError)
	m.flags(f)
	f.IntVar(&m.conc, "runs", 4, "runs at once")
	f.IntVar(&m.waiting, "waiting", 10_000, "approvals that wait")
	f.IntVar(&m.desks, "desks", 200, "people with an open desk")
	f.IntVar(&m.reps, "reps", 5, "repetitions, each with a phase without desks and one with them")
	f.DurationVar(&m.phase, "phase", 10*time.Second, "length of each phase")
	_ = f.Parse(args) // exits on an error
	if m.waiting < 1 || m.desks < 1 || m.reps < 1 {
		return errors.New("waiting, desks and reps must be at least 1")
	}
	if m.testbed, err = m.start(false); err != nil {
		return err
	}
	defer m.clear()
	if err := m.fill(); err != nil {
		return err
	}
	return m.measure()
}

// fill makes what waits, and the people before whose desks it does.
func (m *desks) fill() error {
	admin := &product{base: m.p.base, token: bootstrap}
	inputs := object{"amount": object{"type": "number", "required": true}, "orderId": object{"type": "string", "required": true}}
	_, err := admin.must("PUT", "/projects/default-desk", object{
		"name": "Shop", "adapter": "HTTP_JSON", "baseUrl": m.r.origin, "healthPath": "/health", "auth": object{"type": "HMAC", "credentialEnv": "BENCH_SECRET"},
		"capabilities": []object{{"name": "pay", "title": "Pay {amount} for {orderId}", "method": "POST", "path": "/step", "sideEffect": true, "approval": "ALWAYS", "inputSchema": inputs}},
	})
	if err == nil {
		_, err = admin.must("POST", "/projects/default-desk/health-check", nil)
	}
	if err == nil {
		_, err = admin.must("POST", "/projects/default-desk/enable", object{"expectedRevision": 1})
	}
	if err != nil {
		return err
	}
	for n := range m.desks {
		b, err := m.p.signIn(fmt.Sprintf("person%03d@example.com", n), "APPROVER")
		if err != nil {
			return err
		}
		m.people = append(m.people, b)
	}
	s := &waitingStore{p: m.p, waiting: m.waiting, project: "default-desk", cookie: m.people[0].cookie}
	if err := (&approvals{groups: m.waiting}).ask(s); err != nil {
		return err
	}
	kinds := s.reads()
	m.list = kinds[slices.IndexFunc(kinds, func(k *kind) bool { return k.name == deskList })]
	fmt.Fprintf(os.Stderr, "%d approvals wait, %d people are signed in\n", m.waiting, m.desks)
	return nil
}

func (m *desks) measure() error {
	here := watchMachine()
	if _, err := m.p.drive(m.conc, 2*time.Second); err != nil {
		return err
	}
	for rep := range m.reps {
		for _, open := range []bool{rep%2 == 1, rep%2 == 0} { // in turns, so that what changes slowly affects both
			if err := m.turn(open); err != nil {
				return err
			}
		}
		fmt.Fprintf(os.Stderr, "repetition %d of %d\n", rep+1, m.reps)
	}
	printMachine()
	a, b := median(m.alone), median(m.as)
	fmt.Printf("\n### Open desks\n\n%d approvals wait; %d desks; %d repetitions in turns of %s, %d runs at once, of %d steps.\n\n", m.waiting, m.desks, m.reps, m.phase, m.conc, m.steps)
	fmt.Printf("| | |\n|---|--:|\n| Processor time of a step, no desk open | %s |\n| With %d open | %s |\n| More | %.1f %% |\n| Events that reached them | %d |\n| List of the desk, %d open, p50 | %s |\n| p99 | %s |\n",
		a.Round(time.Microsecond), m.desks, b.Round(time.Microsecond), 100*(float64(b)/float64(a)-1), m.events.Load(), m.desks, shortDuration(median(m.list.alone.p50)), shortDuration(median(m.list.alone.p99)))
	here.print()
	return m.p.stop()
}

// turn drives runs beside open desks, or without any, and reads the list where they are open.
func (m *desks) turn(open bool) error {
	if !open {
		res, err := observe(m.p, m.conc, m.phase)
		m.alone = append(m.alone, res.processor/time.Duration(max(1, res.steps)))
		return err
	}
	ctx, close := context.WithCancel(context.Background())
	var all sync.WaitGroup
	defer all.Wait()
	defer close()
	for _, b := range m.people {
		if err := m.follow(ctx, b, &all); err != nil {
			return err
		}
	}
	res, err := observe(m.p, m.conc, m.phase)
	m.as = append(m.as, res.processor/time.Duration(max(1, res.steps)))
	return errors.Join(err, m.list.alone.play(m.list, m.phase/2))
}

// streams has a connection for each desk.
var streams = &http.Transport{}

// follow opens the stream of a desk, and returns when it has said what waits.
func (m *desks) follow(ctx context.Context, b *browser, all *sync.WaitGroup) error {
	resp, err := streams.RoundTrip(b.request(http.MethodGet, "/console/desk/events", nil).WithContext(ctx))
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(resp.Body)
	if resp.StatusCode != http.StatusOK || !lines.Scan() {
		_ = resp.Body.Close()
		return fmt.Errorf("the stream of a desk: %s", resp.Status)
	}
	all.Go(func() {
		defer func() { _ = resp.Body.Close() }()
		for lines.Scan() {
			if lines.Text() == "" {
				m.events.Add(1)
			}
		}
	})
	return nil
}
