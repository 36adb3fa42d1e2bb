package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// share is a control group whose processes may together use so much of a processor. Replicas
// that share a machine with the database and their callers are so bound as replicas with
// machines of their own are: each by its own processors.
type share struct{ dir string }

// sharePeriod is the interval within which a group gets its part, in microseconds. It is a
// tenth of the kernel's default, so that a process never stands still for long.
const sharePeriod = 10_000

// newShare makes a group below root, which is where control groups are mounted: of version 2,
// or the folder cpu of version 1. processors is 0.2 for a fifth of one processor.
func newShare(root, name string, processors float64) (*share, error) {
	quota := strconv.Itoa(int(processors * sharePeriod))
	limits := [][2]string{{"cpu.cfs_period_us", strconv.Itoa(sharePeriod)}, {"cpu.cfs_quota_us", quota}}
	if controllers, err := os.ReadFile(filepath.Join(root, "cgroup.controllers")); err == nil && strings.Contains(" "+string(controllers), " cpu ") {
		limits = [][2]string{{"cpu.max", quota + " " + strconv.Itoa(sharePeriod)}}
	} else {
		root = filepath.Join(root, "cpu")
	}
	s := &share{filepath.Join(root, name)}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		return nil, fmt.Errorf("-share needs control groups that this user may change: %w", err)
	}
	for _, l := range limits {
		if err := s.write(l[0], l[1]); err != nil {
			return nil, errors.Join(err, s.remove())
		}
	}
	return s, nil
}

// add puts a process into the group.
func (s *share) add(pid int) error { return s.write("cgroup.procs", strconv.Itoa(pid)) }

func (s *share) write(file, text string) error {
	return os.WriteFile(filepath.Join(s.dir, file), []byte(text), 0o644)
}

// remove removes the group, whose processes have ended.
func (s *share) remove() error { return os.Remove(s.dir) }
