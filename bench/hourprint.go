package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// print prints the tables as docs/performance.md describes them.
func (h *hour) print() {
	printMachine()
	fmt.Printf("\n### %s at %.1f runs a second of %d steps\n\n", h.length, h.rate, h.steps)
	fmt.Printf("The best throughput was %.0f steps a second. Besides, in a second %.1f runs with an approval begin and %.0f instances send a heartbeat; %d viewers, %d people; runs are archived after %s.\n",
		h.best, h.approvals, float64(len(h.fleet.instances))/h.beat.Seconds(), h.viewers, h.people, h.kept())
	slices.Sort(h.routes.order)
	for _, f := range flat {
		h.printQuantiles(f)
	}
	h.printCodes()
	h.printUse()
}

func (h *hour) kept() string {
	if h.retention < 0 {
		return "no time"
	}
	return h.retention.String()
}

// head is the head of a table with a column for each part.
func (h *hour) head(first string, last ...string) string {
	cells := []string{first}
	for n := range hourParts {
		cells = append(cells, fmt.Sprintf("to %s", (time.Duration(n+1)*h.routes.part).String()))
	}
	cells = append(cells, last...)
	return "| " + strings.Join(cells, " | ") + " |\n|---" + strings.Repeat("|--:", len(cells)-1) + "|"
}

func (h *hour) printQuantiles(f flatness) {
	fmt.Printf("\n%s:\n\n%s\n", f, h.head(fmt.Sprintf("p%g", 100*f.q), "last to first", "", "requests"))
	for _, name := range h.routes.order {
		x, all := h.routes.all[name], int64(0)
		for i := range x.parts {
			all += x.parts[i].n
		}
		if all == 0 { // its answers are counted, and measured under other names
			continue
		}
		fmt.Printf("| %s |", name)
		for i := range x.parts {
			fmt.Printf(" %s |", shortDuration(x.parts[i].quantile(f.q)))
		}
		ratio, verdict := f.judge(&x.parts[0], &x.parts[hourParts-1])
		fmt.Printf(" %.2f | %s | %d |\n", ratio, verdict, all)
	}
}

func (h *hour) printCodes() {
	fmt.Println("\nAnswers by status:\n\n| | |\n|---|---|")
	for _, name := range h.routes.order {
		var codes []string
		for _, code := range slices.Sorted(maps.Keys(h.routes.all[name].codes)) {
			codes = append(codes, fmt.Sprintf("%s: %d", code, h.routes.all[name].codes[code]))
		}
		if len(codes) > 0 {
			fmt.Printf("| %s | %s |\n", name, strings.Join(codes, ", "))
		}
	}
}

func (h *hour) printUse() {
	fmt.Printf("\nWhat the service used:\n\n%s\n", h.head(""))
	for _, row := range []struct {
		name string
		of   func(partUse) string
	}{
		{"Processors", func(u partUse) string { return fmt.Sprintf("%.2f", u.cores) }},
		{"Processors that other work took", func(u partUse) string { return fmt.Sprintf("%.2f", u.others) }},
		{"Memory, the most", func(u partUse) string { return megabytes(u.memory) }},
		{"Descriptors, the most", func(u partUse) string { return fmt.Sprint(u.descriptors) }},
		{"Threads, the most", func(u partUse) string { return fmt.Sprint(u.threads) }},
		{"Goroutines, the most", func(u partUse) string { return fmt.Sprint(u.goroutines) }},
		{"Written behind, the most", func(u partUse) string { return megabytes(int64(u.lag)) }},
		{"Database at the end", func(u partUse) string { return megabytes(u.database) }},
		{"Its logs and journal, the most", func(u partUse) string { return megabytes(u.log) }},
		{"Archive at the end", func(u partUse) string { return megabytes(u.archive) }},
	} {
		fmt.Printf("| %s |", row.name)
		for _, u := range h.use {
			fmt.Printf(" %s |", row.of(u))
		}
		fmt.Println()
	}
}

// conclude fails where something was wrong, not where it was slow.
func (h *hour) conclude(c checked) error {
	fmt.Printf("\nAt the end: %d runs completed, %d rejected, %d archived; %d calls, each once; the audit log of %.0f records verified in %s.\n",
		c.completed, c.rejected, c.archived, c.calls, c.records, c.verified.Round(time.Millisecond))
	if h.routes.wrongs == 0 {
		return nil
	}
	return errors.Join(append(h.routes.wrong, fmt.Errorf("%d things were wrong, of which %d are shown", h.routes.wrongs, len(h.routes.wrong)))...)
}
