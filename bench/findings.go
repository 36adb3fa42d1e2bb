package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// findings has the results of a comparison, as docs/performance.md shows them.
type findings struct {
	conc, steps int
	sync        []time.Duration // of each repetition: how long an fdatasync took
	rows        []*row
	absent      error // why DBOS was not measured
	has         has
}

// has says which contenders follow the ideal and the product in findings.rows, in this order.
type has struct{ dbos, before bool }

// row has the results of one contender. Lists have one element per repetition.
type row struct {
	name                       string
	rate, cpu                  []float64
	start50, start99           []time.Duration
	gap50, gap99               []time.Duration
	memory                     int64
	bytesPerStep, syncsPerStep float64
}

func (r *row) add(x result) {
	r.rate = append(r.rate, x.stepsPerSecond())
	r.cpu = append(r.cpu, x.processor.Seconds()/float64(x.steps)*1000)
	r.start50, r.start99 = append(r.start50, quantile(x.starts, 0.5)), append(r.start99, quantile(x.starts, 0.99))
	r.gap50, r.gap99 = append(r.gap50, quantile(x.gaps, 0.5)), append(r.gap99, quantile(x.gaps, 0.99))
	r.memory = max(r.memory, x.memory)
	if x.syncs > 0 {
		r.syncsPerStep = float64(x.syncs) / float64(x.steps)
	}
}

// printMachine prints the time and the machine of the measurement.
func printMachine(with ...string) {
	kind := append([]string{time.Now().UTC().Format("2006-01-02 15:04 MST"), fmt.Sprintf("%d processors", runtime.NumCPU()), runtime.GOOS + "/" + runtime.GOARCH}, with...)
	fmt.Println("Measured " + strings.Join(kind, ", ") + ".")
}

func postgresVersion() string {
	programs, err := postgresPrograms()
	if err != nil {
		return "no PostgreSQL"
	}
	version, err := exec.Command(filepath.Join(programs, "postgres"), "--version").Output()
	if err != nil {
		return "PostgreSQL of an unknown version"
	}
	return "PostgreSQL " + strings.TrimPrefix(strings.TrimSpace(string(version)), "postgres (PostgreSQL) ")
}

func (f *findings) print() {
	fmt.Printf("\n### %d runs at once\n\n", f.conc)
	fmt.Printf("%d repetitions, %d steps a run; an fdatasync took %s.\n\n", len(f.sync), f.steps, spreadOf(f.sync))
	printRows(f.rows)
	fmt.Println()
	f.verdict()
	if f.absent != nil {
		fmt.Printf("\nDBOS was not measured: %v\n", f.absent)
	}
}

func printRows(rows []*row) {
	fmt.Println("| | Steps/s | Start p50 | p99 | Gap p50 | p99 | CPU s per 1,000 steps | Peak memory | Disk a step | Syncs a step |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, r := range rows {
		r.print()
	}
}

func (r *row) print() {
	start := []string{"", ""}
	if median(r.start50) > 0 {
		start = []string{shortDuration(median(r.start50)), shortDuration(median(r.start99))}
	}
	cells := []string{r.name, spread("%.0f", r.rate), start[0], start[1], shortDuration(median(r.gap50)), shortDuration(median(r.gap99)),
		known("%.2f", median(r.cpu)), known("%.0f MiB", float64(r.memory)/(1<<20)), known("%.0f B", r.bytesPerStep), known("%.2f", r.syncsPerStep)}
	fmt.Println("| " + strings.Join(cells, " | ") + " |")
}

// known formats a value, and returns "" for 0, which means that it was not measured.
func known(format string, x float64) string {
	if x == 0 {
		return ""
	}
	return fmt.Sprintf(format, x)
}

// wanted has the targets of the product by the number of concurrent runs: steps per second as
// a multiple of the ideal with one sync and of DBOS, processor seconds per 1,000 steps, and
// syncs per step.
var wanted = map[int]struct{ ideal, dbos, cpu, syncs string }{
	4:  {"at least 0.5", "at least 1.5", "at most 0.28", "at most 1.1"},
	32: {"at least 0.35", "at least 2", "at most 0.20", "at most 0.2"},
}

// verdict prints the results beside the targets. Each ratio is between values of the same
// repetition.
func (f *findings) verdict() {
	ideal1, ours, want := f.rows[0], f.rows[1], wanted[f.conc]
	fmt.Println("| Countersign | Median (least to most) | Wanted |")
	fmt.Println("|---|--:|--:|")
	line := func(name, found, want string) { fmt.Printf("| %s | %s | %s |\n", name, found, want) }
	line("Steps/s, to the ideal with one sync", spread("%.2f", quotients(ours.rate, ideal1.rate)), want.ideal)
	others := f.rows[2:]
	if f.has.dbos {
		line("Steps/s, to DBOS", spread("%.2f", quotients(ours.rate, others[0].rate)), want.dbos)
		others = others[1:]
	}
	if f.has.before {
		line("Steps/s, to the build before", spread("%.2f", quotients(ours.rate, others[0].rate)), "")
		line("CPU, to the build before", spread("%.2f", quotients(ours.cpu, others[0].cpu)), "")
	}
	line("Start p50, to an fdatasync", spread("%.1f", quotients(ours.start50, f.sync)), "at most 5")
	limit := make([]time.Duration, len(f.sync))
	for i, x := range f.sync {
		limit[i] = x*3/2 + 150*time.Microsecond
	}
	line("Gap p50, to 1.5 fdatasyncs and 150 µs", spread("%.2f", quotients(ours.gap50, limit)), "at most 1")
	line("Gap p99, to its p50", spread("%.1f", quotients(ours.gap99, ours.gap50)), "at most 4.5")
	line("CPU s per 1,000 steps", spread("%.2f", ours.cpu), want.cpu)
	line("Peak memory", known("%.0f MiB", float64(ours.memory)/(1<<20)), "at most 110 MiB")
	line("Disk a step, audit included", known("%.0f B", ours.bytesPerStep), "at most 2,048 B")
	line("Syncs a step", known("%.2f", ours.syncsPerStep), want.syncs)
}

func quotients[T float64 | time.Duration](a, b []T) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = float64(a[i]) / float64(b[i])
	}
	return out
}

// spread formats the median, the minimum and the maximum.
func spread(format string, of []float64) string {
	return fmt.Sprintf(format+" ("+format+" to "+format+")", median(of), slices.Min(of), slices.Max(of))
}

func spreadOf(of []time.Duration) string {
	return fmt.Sprintf("%s (%s to %s)", shortDuration(median(of)), shortDuration(slices.Min(of)), shortDuration(slices.Max(of)))
}

// shortDuration formats a duration with at most three digits, if it is below a second.
func shortDuration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	default:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
}
