package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage has the resources that the processes of a contender used in one turn.
type usage struct {
	processor time.Duration // user and system
	memory    int64         // peak in bytes; memory that processes share counts once
}

// observe drives a contender and measures its processes meanwhile.
func observe(c contender, conc int, d time.Duration) (result, error) {
	stop, peak := make(chan struct{}), make(chan int64)
	go func() { peak <- watchMemory(c.roots(), stop) }()
	before := processorTime(c.roots())
	res, err := c.drive(conc, d)
	res.processor = processorTime(c.roots()) - before
	close(stop)
	res.memory = <-peak
	return res, err
}

// memoryInterval is the interval at which memory is measured. It isn't shorter because each
// measurement stops the process for a moment.
const memoryInterval = 100 * time.Millisecond

func watchMemory(roots []int, stop <-chan struct{}) (peak int64) {
	t := time.NewTicker(memoryInterval)
	defer t.Stop()
	for {
		var now int64
		for _, pid := range descendants(roots) {
			now += proportional(pid)
		}
		peak = max(peak, now)
		select {
		case <-t.C:
		case <-stop:
			return peak
		}
	}
}

// processorTime is the processor time of the processes and their descendants, including
// children that have ended. A process that ends during the measurement is no error.
func processorTime(roots []int) (sum time.Duration) {
	for _, pid := range descendants(roots) {
		own, ofEnded, err := times(pid)
		if err == nil {
			sum += own + ofEnded
		}
	}
	return sum
}

func times(pid int) (own, ofEnded time.Duration, err error) {
	fields, err := stat(pid)
	if err != nil {
		return 0, 0, err
	}
	if own, err = ticks(fields, 11, 12); err != nil {
		return 0, 0, err
	}
	ofEnded, err = ticks(fields, 13, 14)
	return own, ofEnded, err
}

// stat is the line of /proc/<pid>/stat after the name of the process, which may contain any
// character.
func stat(pid int) (string, error) {
	doc, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return string(doc[strings.LastIndexByte(string(doc), ')')+1:]), err
}

// proportional is the proportional set size of a process: memory shared by n processes
// counts as an n-th for each.
func proportional(pid int) int64 {
	doc, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "smaps_rollup"))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(doc), "\nPss:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kB, _ := strconv.ParseInt(fields[0], 10, 64)
	return kB << 10
}

// descendants returns the processes, their children, the children of these, and so on.
func descendants(roots []int) []int {
	all := append([]int(nil), roots...)
	children := childrenOf()
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

func childrenOf() map[int][]int {
	children := map[int][]int{}
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		pid, _ := strconv.Atoi(filepath.Base(name))
		line, err := stat(pid)
		if fields := strings.Fields(line); err == nil && len(fields) > 1 {
			parent, _ := strconv.Atoi(fields[1])
			children[parent] = append(children[parent], pid)
		}
	}
	return children
}

// diskUsage is the size in bytes of all files below a directory.
func diskUsage(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum, err
}
