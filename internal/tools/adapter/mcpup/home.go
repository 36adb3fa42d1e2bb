package mcpup

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/gofrs/flock"
)

// home is the empty HOME of a command. Whoever made it holds a lock on it as long as that process
// lives, so that of those that were killed it is known that nobody needs them any more.
type home struct {
	path string
	lock *flock.Flock
}

const homePrefix = "countersign-adapter-home-"

// newHome makes a HOME, after it has removed those that nobody holds.
func newHome() (*home, error) {
	sweepHomes()
	for {
		path, err := os.MkdirTemp("", homePrefix)
		if err != nil {
			return nil, err
		}
		h := &home{path, lockOf(path)}
		held, unlockable := h.lock.TryLock()
		if _, err := os.Lstat(path); err == nil && (held || unlockable != nil) {
			return h, nil // where a file system has no locks, nobody removes what is in it
		}
		_ = h.lock.Unlock() // another process took it for one that was left, before it was locked
	}
}

func (h *home) remove() {
	_ = os.RemoveAll(h.path) // what stays is tried again by the next start
	_ = h.lock.Unlock()
}

// sweepHomes removes the HOMEs that were left by processes that could not do it themselves.
func sweepHomes() {
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		return // it is tidied as well as it can be
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), homePrefix) {
			continue
		}
		path := filepath.Join(os.TempDir(), e.Name())
		h := &home{path, lockOf(path)}
		if held, err := h.lock.TryLock(); held && err == nil {
			h.remove()
		}
	}
}

// lockOf is a lock on a directory. Opening it waits for nothing, whatever may have taken its place.
func lockOf(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_RDONLY|syscall.O_NONBLOCK))
}
