package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc, the same on every Linux.
const tick = 10 * time.Millisecond

// busy is the processor time so far: of the product (user and system), and the idle time of
// all processors.
type busy struct{ product, idle time.Duration }

func (p *product) busy() (x busy, err error) {
	doc, err := p.proc("stat")
	if err != nil {
		return x, err
	}
	doc = doc[strings.LastIndexByte(doc, ')')+1:] // the name in parentheses may contain any character
	if x.product, err = ticks(doc, 11, 12); err != nil {
		return x, err
	}
	all, err := os.ReadFile("/proc/stat")
	if err != nil {
		return x, err
	}
	line, _, _ := strings.Cut(string(all), "\n")
	x.idle, err = ticks(line, 4, 5)
	return x, err
}

// ticks is the sum of two fields of a line, as a duration.
func ticks(line string, i, j int) (time.Duration, error) {
	fields := strings.Fields(line)
	if len(fields) <= j {
		return 0, fmt.Errorf("processor times are missing: %q", line)
	}
	a, err := strconv.ParseInt(fields[i], 10, 64)
	if err != nil {
		return 0, err
	}
	b, err := strconv.ParseInt(fields[j], 10, 64)
	return time.Duration(a+b) * tick, err
}

func (p *product) proc(name string) (string, error) {
	doc, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.process.Process.Pid), name))
	return string(doc), err
}
