package iofaults

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAFullDisk fills a small file system with a call in flight.
func TestAFullDisk(t *testing.T) {
	dir, inside := smallDisk(t)
	if !inside {
		return
	}
	b := newBed(t, dir)
	filler := filepath.Join(dir, "filler")
	b.lives(outage{
		begin:  func() { fill(t, filler) },
		end:    func() { mustDo(t, os.Remove(filler)) },
		health: doc{"status": "degraded", "store": "full"},
		kept:   true,
	})
}

// TestARefusalOnAFullDiskSaysWhatToDo: there may seem to be space, since the reserve was given back; what is
// missing is room to take it again.
func TestARefusalOnAFullDiskSaysWhatToDo(t *testing.T) {
	dir, inside := smallDisk(t)
	if !inside {
		return
	}
	b := newBed(t, dir)
	filler := filepath.Join(dir, "filler")
	fill(t, filler)
	b.put().Refused(t, "unavailable", "the store's disk is full", "Free space on it")
	b.put().Refused(t, "unavailable")
	mustDo(t, os.Remove(filler))
	b.put().OK(t)
	b.Terminate()
	b.Wait() // then the log is whole
	if log := b.Log(); strings.Count(log, "the store's disk is full: writes are refused") != 1 || strings.Count(log, "KiB are free") != 1 || strings.Count(log, "the store's disk has space again") != 1 {
		t.Errorf("the log doesn't say once that the disk is full, and once that it has space again:\n%s", log)
	}
}

// TestAStopAndAStartOnAFullDisk: a stop waits for the call in flight, needs no disk space, and stores the outcome; a failed
// start says what it needs.
func TestAStopAndAStartOnAFullDisk(t *testing.T) {
	dir, inside := smallDisk(t)
	if !inside {
		return
	}
	b := newBed(t, dir)
	run, gate := b.inFlight()
	fill(t, filepath.Join(dir, "filler"))
	b.refuses()
	b.Terminate()
	close(gate)
	if status := b.Wait(); status != 0 {
		t.Errorf("the stop ended with %d:\n%s", status, b.Log())
	}
	fill(t, filepath.Join(dir, "more")) // also the space of the reserve file
	if b.Begin() || b.Wait() != 1 || strings.Count(b.Log(), "\n") != 1 || !strings.Contains(b.Log(), "space on its disk") {
		t.Errorf("a start without any space:\n%s", b.Log())
	}
	mustDo(t, os.Remove(filepath.Join(dir, "filler")))
	b.Restart()
	b.recovers(run)
}

// TestAFileSizeLimit lets no file of the service grow, with a call in flight. The signal SIGXFSZ must not end the process.
func TestAFileSizeLimit(t *testing.T) {
	t.Parallel()
	b := newBed(t, t.TempDir())
	var before unix.Rlimit
	mustDo(t, unix.Prlimit(b.PID(), unix.RLIMIT_FSIZE, nil, &before))
	limit := func(now uint64) {
		mustDo(t, unix.Prlimit(b.PID(), unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: now, Max: before.Max}, nil))
	}
	b.lives(outage{
		begin: func() { limit(4096) },
		end:   func() { limit(before.Cur) },
	})
}

// smallDisk is a directory on a file system of some mebibytes. It runs the test once more in a new mount namespace; inside
// reports whether this is that run.
func smallDisk(t *testing.T) (dir string, inside bool) {
	t.Helper()
	if os.Getenv(given) == "" {
		runInOwnMounts(t)
		return "", false
	}
	dir = t.TempDir()
	mustDo(t, mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""))
	mustDo(t, mount("none", dir, "tmpfs", 0, "size=3m"))
	t.Cleanup(func() { mustDo(t, syscall.Unmount(dir, 0)) }) // after the server has ended
	return dir, true
}

var errNoMount = errors.New("this machine lets nobody mount")

func mount(source, dir, kind string, flags uintptr, data string) error {
	if err := syscall.Mount(source, dir, kind, flags, data); err != nil {
		return errors.Join(errNoMount, err)
	}
	return nil
}

// runInOwnMounts runs this test once more in a new mount namespace, with a user namespace if that is necessary.
func runInOwnMounts(t *testing.T) {
	t.Helper()
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if id, group := os.Getuid(), os.Getgid(); id != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: group, Size: 1}}
	}
	out, err := again(t, attr)
	switch {
	case errors.Is(err, syscall.EPERM), strings.Contains(out, errNoMount.Error()):
		t.Log("NOT RUN: a full disk, since " + errNoMount.Error())
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	}
}

// fill writes until the file system is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	mustDo(t, err)
	for _, size := range []int{64 << 10, 4 << 10} {
		for err = nil; err == nil; _, err = f.Write(make([]byte, size)) {
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	mustDo(t, f.Close())
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
