package pgtest

import (
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
)

// A killed test binary leaves the directories of its servers behind. Each directory has a file that
// its binary keeps locked, so that later binaries know which directories are in use.
const (
	prefix   = "pgtest"
	lockName = "lock"
)

// held has the locks by directory: a garbage-collected lock would be released.
var held sync.Map

func makeDirectory(folder string) (string, error) {
	dir, err := os.MkdirTemp(folder, prefix)
	if err != nil {
		return "", err
	}
	// The file gets its name only when it is locked: no other binary may find it unlocked.
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

// removeAbandoned removes the directories of killed binaries. Their servers ended with them.
func removeAbandoned() {
	for _, folder := range []string{inMemory(), os.TempDir()} {
		if folder == "" {
			continue
		}
		locks, _ := filepath.Glob(filepath.Join(folder, prefix+"*", lockName))
		for _, lock := range locks {
			l := flock.New(lock, flock.SetFlag(os.O_RDWR)) // without O_CREATE: the file may be removed meanwhile
			if alone, err := l.TryLock(); err == nil && alone {
				_ = os.RemoveAll(filepath.Dir(lock))
			}
			_ = l.Close()
		}
	}
}
