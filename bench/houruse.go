package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// partUse has what the service used in one part.
type partUse struct {
	cores, others          float64 // processors that the service used, and processes that aren't ours
	memory                 int64   // resident, the most
	descriptors, threads   int     // the most
	goroutines             float64 // the most
	lag                    float64 // bytes committed and not in their tables yet, the most
	database, log, archive int64   // bytes at the end of the part; of the log, the most
}

const useInterval = 5 * time.Second

// watch measures the service until the last part is over.
func (h *hour) watch(begin time.Time) {
	for n := range hourParts {
		u, err := h.watchPart(begin.Add(time.Duration(n+1) * h.routes.part))
		if err != nil {
			h.wrong(fmt.Errorf("the service can't be measured: %w", err))
			return
		}
		h.use = append(h.use, u)
		fmt.Fprintf(os.Stderr, "part %d of %d: POST /runs p99 %s, %s of memory\n", n+1, hourParts, shortDuration(h.quantile("POST /runs", n, 0.99)), megabytes(u.memory))
	}
}

func (h *hour) quantile(name string, part int, q float64) time.Duration {
	h.routes.mu.Lock()
	defer h.routes.mu.Unlock()
	return h.routes.of(name).parts[part].quantile(q)
}

func (h *hour) watchPart(end time.Time) (u partUse, err error) {
	machine, before := watchMachine(), processorTime(h.p.roots())
	for more := true; more && err == nil; {
		time.Sleep(min(useInterval, time.Until(end)))
		more = time.Now().Before(end)
		err = h.sample(&u)
	}
	now := watchMachine()
	took := now.begin.Sub(machine.begin).Seconds()
	u.cores = (processorTime(h.p.roots()) - before).Seconds() / took
	u.others = max((now.all-machine.all-(now.ours-machine.ours)).Seconds()/took, 0)
	if err == nil {
		u.archive, err = diskUsage(filepath.Join(h.p.dir, "archive"))
		if os.IsNotExist(err) {
			err = nil
		}
	}
	return u, err
}

// sample measures once.
func (h *hour) sample(u *partUse) error {
	x, err := h.p.footprint()
	if err != nil {
		return err
	}
	u.memory, u.log, u.database = max(u.memory, x.memory), max(u.log, x.log), x.database
	status, err := h.p.proc("status")
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(status, "Threads:")
	if fields := strings.Fields(rest); len(fields) > 0 {
		n, err := strconv.Atoi(fields[0])
		if err != nil {
			return err
		}
		u.threads = max(u.threads, n)
	}
	open, err := fs.ReadDir(os.DirFS("/proc"), strconv.Itoa(h.p.process.Process.Pid)+"/fd")
	if err != nil {
		return err
	}
	u.descriptors = max(u.descriptors, len(open))
	admin := &product{base: h.p.base, token: bootstrap}
	figures, err := admin.must("GET", "/metrics", nil)
	if err != nil {
		return err
	}
	for name, to := range map[string]*float64{"countersign_store_lag_bytes": &u.lag, "go_goroutines": &u.goroutines} {
		if v, is := figures[name].(float64); is {
			*to = max(*to, v)
		}
	}
	return nil
}
