package pgtest

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
)

// A binary that is killed leaves the directories of its servers behind. Each holds a
// file that is locked while the binary lives, so that the next one can tell.
const (
	prefix   = "pgtest"
	lockName = "lock"
)

// held are the locks by directory; one that was collected would be given up.
var held sync.Map

func makeDirectory(folder string) (string, error) {
	dir, err := os.MkdirTemp(folder, prefix)
	if err != nil {
		return "", err
	}
	// It gets its name once it is locked: nobody may find it unlocked.
	fresh, lock := filepath.Join(dir, lockName+".new"), filepath.Join(dir, lockName)
	l := flock.New(fresh)
	if _, err = l.TryLock(); err == nil {
		err = os.Rename(fresh, lock)
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return "", err
	}
	held.Store(dir, l)
	return dir, nil
}

func removeDirectory(dir string) {
	if l, ok := held.LoadAndDelete(dir); ok {
		_ = os.RemoveAll(dir)
		_ = l.(*flock.Flock).Close()
	}
}

// removeAbandoned removes what binaries have left that were killed. Their servers have
// ended with them.
func removeAbandoned() {
	for _, folder := range []string{inMemory(), os.TempDir()} {
		if folder == "" {
			continue
		}
		locks, _ := filepath.Glob(filepath.Join(folder, prefix+"*", lockName))
		for _, lock := range locks {
			l := flock.New(lock, flock.SetFlag(os.O_RDWR)) // not one that is gone by now
			if alone, err := l.TryLock(); err == nil && alone {
				_ = os.RemoveAll(filepath.Dir(lock))
			}
			_ = l.Close()
		}
	}
}
