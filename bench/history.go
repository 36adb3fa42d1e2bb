package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// history is the benchmark of a store with the runs of years, compared with an empty one: how
// long the service takes to start, how fast it executes runs, and how long a page of runs
// takes at any offset.
type history struct {
	workload
	fill           string // the program that fills a store
	runs, reps     int
	at, starts     int
	pages          int
	phase          time.Duration
	*testbed       // with the service on the empty store
	old            *product
	empty, filled  []float64       // steps per second on each store
	ready          []time.Duration // of each start but the first
	first          time.Duration   // the first start, which may migrate the tables
	size           int64           // of the full store, before this benchmark executes runs on it
	plain, ofEnded []time.Duration // of each page: of all runs, and of COMPLETED ones
	firstReceipts  []time.Duration // of each start
	receipts       []time.Duration // of runs anywhere
	readers        readers         // beside runs on the full store
	alone, beside  []float64       // steps per second on it, without the readers and with them
}

func measureHistory(args []string) (err error) {
	var m history
	f := flag.NewFlagSet("bench history", flag.ExitOnError)
	m.flags(f)
	f.StringVar(&m.fill, "fill", "../bin/history", "the program that fills a store, built of test/history")
	f.IntVar(&m.runs, "finished", 1_000_000, "finished one-step runs in the store")
	f.IntVar(&m.at, "runs", 4, "runs at once")
	f.IntVar(&m.reps, "reps", 5, "interleaved repetitions")
	f.IntVar(&m.starts, "starts", 5, "starts on the full store")
	f.IntVar(&m.pages, "pages", 500, "pages of 100 runs that are read, of each kind")
	f.IntVar(&m.readers.count, "readers", 200, "readers who page through the list of runs, beside runs")
	f.DurationVar(&m.readers.pace, "pace", 5*time.Second, "how long each of them looks at a page")
	f.DurationVar(&m.phase, "phase", 5*time.Second, "length of each turn")
	_ = f.Parse(args) // exits on an error
	m.conc = 64
	if m.testbed, err = m.start(false); err != nil {
		return err
	}
	defer m.clear()
	defer func() { m.old.clear() }()
	if err := errors.Join(m.grow(), m.restart()); err != nil {
		return err
	}
	here := watchMachine()
	for _, measure := range []func() error{m.drive, m.read, m.besideReaders} {
		if err := measure(); err != nil {
			return err
		}
	}
	m.print()
	here.print()
	return nil
}

// grow makes the full store: a service creates it with a plan, and the program fill adds the
// finished runs.
func (h *history) grow() error {
	h.old = newProduct(h.binary, filepath.Join(h.testbed.dir, "old"), h.r, h.conc)
	if err := errors.Join(os.Mkdir(filepath.Join(h.testbed.dir, "old"), 0o700), h.old.start()); err != nil {
		return err
	}
	if err := h.old.prepare(); err != nil {
		return err
	}
	made, err := h.old.must("POST", "/plans", object{"name": "one", "modelId": "bench", "modelRevision": 1, "mode": "LIVE", "steps": steps(1)})
	if err != nil {
		return err
	}
	if err := h.old.stop(); err != nil {
		return err
	}
	fill := exec.Command(h.fill, "-store", h.old.dir, "-plan", made["id"].(string), "-runs", strconv.Itoa(h.runs))
	fill.Stderr = os.Stderr
	if err := fill.Run(); err != nil {
		return err
	}
	h.size, err = diskUsage(h.old.dir)
	return err
}

// restart starts the service on the full store several times and measures each start.
func (h *history) restart() error {
	for i := range h.starts + 1 {
		begin := time.Now()
		if err := h.old.start(); err != nil {
			return err
		}
		if took := time.Since(begin); i == 0 {
			h.first = took
		} else {
			h.ready = append(h.ready, took)
		}
		took, err := h.receipt()
		if err != nil {
			return err
		}
		h.firstReceipts = append(h.firstReceipts, took)
		if i < h.starts {
			if err := h.old.stop(); err != nil {
				return err
			}
		}
	}
	return nil
}

// drive has both services execute runs, in turns.
func (h *history) drive() error {
	both := []*product{h.p, h.old}
	for _, p := range both { // warm up
		if _, err := p.drive(h.at, h.phase/2); err != nil {
			return err
		}
	}
	for rep := range h.reps {
		for i := range both {
			p := both[(i+rep)%2]
			res, err := p.drive(h.at, h.phase)
			if err != nil {
				return err
			}
			rates := &h.empty
			if p == h.old {
				rates = &h.filled
			}
			*rates = append(*rates, res.stepsPerSecond())
		}
		fmt.Fprintf(os.Stderr, "repetition %d of %d: %.0f and %.0f steps/s\n", rep+1, h.reps, h.empty[rep], h.filled[rep])
	}
	return nil
}

// receipt requests the receipt of a run anywhere.
func (h *history) receipt() (took time.Duration, err error) {
	page, err := h.old.must("GET", "/runs?limit=1&offset="+strconv.Itoa(rand.IntN(h.runs)), nil)
	if err != nil {
		return 0, err
	}
	path := "/runs/" + page["items"].([]any)[0].(object)["id"].(string) + "/receipt"
	begin := time.Now()
	status, err := h.old.fetch(context.Background(), http.MethodGet, path, nil)
	if err != nil || status != http.StatusOK {
		return 0, errors.Join(err, fmt.Errorf("GET %s: %d", path, status))
	}
	return time.Since(begin), nil
}

// read requests pages at random offsets, of all runs and of the COMPLETED ones, and receipts.
func (h *history) read() error {
	for range h.pages {
		for path, took := range map[string]*[]time.Duration{"/runs?limit=100": &h.plain, "/runs?limit=100&status=COMPLETED": &h.ofEnded} {
			begin := time.Now()
			status, err := h.old.fetch(context.Background(), http.MethodGet, path+"&offset="+strconv.Itoa(rand.IntN(h.runs)), nil)
			if err != nil || status != http.StatusOK {
				return errors.Join(err, fmt.Errorf("GET %s: %d", path, status))
			}
			*took = append(*took, time.Since(begin))
		}
		took, err := h.receipt()
		if err != nil {
			return err
		}
		h.receipts = append(h.receipts, took)
	}
	return nil
}

// besideReaders has the service execute runs on the full store, in turns by itself and while
// many read.
func (h *history) besideReaders() error {
	h.readers.p, h.readers.largest = h.old, map[string]int64{}
	for rep := range h.reps {
		for i := range 2 {
			rates, during := &h.alone, func(work func() error) error { return work() }
			if (i+rep)%2 == 1 {
				rates, during = &h.beside, h.readers.beside
			}
			err := during(func() error {
				res, err := h.old.drive(h.at, h.phase)
				*rates = append(*rates, res.stepsPerSecond())
				return err
			})
			if err != nil {
				return err
			}
		}
		fmt.Fprintf(os.Stderr, "repetition %d of %d: %.0f steps/s, beside readers %.0f\n", rep+1, h.reps, h.alone[rep], h.beside[rep])
	}
	return nil
}

func (h *history) printReaders() {
	fmt.Printf("| steps/s on the full store, nobody reads | %s |\n| the same beside %d readers | %s |\n| ratio of each repetition, wanted at least 0.85 | %s |\n",
		spread("%.0f", h.alone), h.readers.count, spread("%.0f", h.beside), spread("%.2f", quotients(h.beside, h.alone)))
	fmt.Printf("| a reader's page of %d runs, one in %s each, of %d pages | p50 %s, p99 %s |\n", readerPage, h.readers.pace, len(h.readers.took), shortDuration(quantile(h.readers.took, 0.5)), shortDuration(quantile(h.readers.took, 0.99)))
	for _, name := range storeLogs {
		fmt.Printf("| largest `%s` beside them | %s |\n", name, megabytes(h.readers.largest[name]))
	}
}

func (h *history) print() {
	printMachine()
	fmt.Printf("\n### %d finished runs in the store\n\n", h.runs)
	fmt.Println("| | |\n|---|--:|")
	fmt.Printf("| size of the store | %s, %.1f KiB a run |\n", megabytes(h.size), float64(h.size)/1024/float64(h.runs))
	fmt.Printf("| ready after a start, of %d | %s, slowest %s |\n", len(h.ready), shortDuration(median(h.ready)), shortDuration(quantile(h.ready, 1)))
	fmt.Printf("| ready after the first | %s |\n", shortDuration(h.first))
	fmt.Printf("| steps/s at %d runs at once, empty store | %s |\n| the same, full store | %s |\n| ratio | %.2f |\n", h.at, spread("%.0f", h.empty), spread("%.0f", h.filled), median(h.filled)/median(h.empty))
	fmt.Printf("| GET /runs, 100 runs anywhere, of %d pages | p50 %s, p99 %s |\n", h.pages, shortDuration(quantile(h.plain, 0.5)), shortDuration(quantile(h.plain, 0.99)))
	fmt.Printf("| the same, only COMPLETED | p50 %s, p99 %s |\n", shortDuration(quantile(h.ofEnded, 0.5)), shortDuration(quantile(h.ofEnded, 0.99)))
	fmt.Printf("| GET /runs/{id}/receipt, the first after a start, of %d | %s, slowest %s |\n", len(h.firstReceipts), shortDuration(median(h.firstReceipts)), shortDuration(quantile(h.firstReceipts, 1)))
	fmt.Printf("| the same, later, of %d anywhere | p50 %s, p99 %s |\n", len(h.receipts), shortDuration(quantile(h.receipts, 0.5)), shortDuration(quantile(h.receipts, 0.99)))
	h.printReaders()
}
