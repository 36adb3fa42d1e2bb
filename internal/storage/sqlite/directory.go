package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/countersign/countersign/internal/platform/atomicfile"
	"github.com/countersign/countersign/internal/platform/crashpoint"
)

// The files of a store, beside SQLite's own.
const (
	databaseFile = "countersign.db"
	journalFile  = "countersign.journal" // commits whose rows are not in the database; see journal.go
	lockFile     = "countersign.lock"
	markerFile   = "countersign.store"
	reserveFile  = "countersign.reserve" // holds space back; see reserve.go
)

// newSuffix marks a database until it is complete.
const newSuffix = ".new"

// sqliteSuffixes are what SQLite appends to the name of a database file.
var sqliteSuffixes = []string{"", "-wal", "-shm", "-journal"}

// directory is a store directory that this process owns.
type directory struct {
	path string // the real path: a link that changes later changes nothing
	lock *flock.Flock
}

// enter creates the directory if it is missing, and locks it. It changes nothing in the
// directory but to create the lock file, and not that if it refuses.
func enter(path string) (*directory, error) {
	real, err := realDirectory(path)
	if err != nil {
		return nil, fmt.Errorf("store directory %s: %w", path, err)
	}
	d := &directory{path: real, lock: flock.New(filepath.Join(real, lockFile))}
	if err := d.checkFiles(); err != nil {
		return nil, err
	}
	return d, d.acquire()
}

func (d *directory) acquire() error {
	ok, err := d.lock.TryLock()
	switch {
	case err != nil:
		return fmt.Errorf("lock store directory %s: %w", d.path, err)
	case !ok:
		return fmt.Errorf("another process uses the store at %s", d.path)
	}
	return nil
}

func (d *directory) leave() error { return d.lock.Close() }

func (d *directory) file(name string) string { return filepath.Join(d.path, name) }

// realDirectory creates a missing directory and resolves symbolic links.
func realDirectory(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if err := makeDirectory(path); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// makeDirectory creates path and its missing parents and syncs each directory entry:
// without that a crash could lose the whole store.
func makeDirectory(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return errors.New("it is not a directory")
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	parent := filepath.Dir(path)
	if err := makeDirectory(parent); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return atomicfile.Sync(parent)
}

// checkFiles refuses files that must not be opened, before it changes anything.
func (d *directory) checkFiles() error {
	if err := writable(d.path); err != nil {
		return fmt.Errorf("store directory %s is not writable: %w", d.path, err)
	}
	for _, name := range ownNames() {
		info, err := os.Lstat(d.file(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("it is not a regular file but %s", info.Mode().Type())
		}
		if err == nil {
			err = writable(d.file(name))
		}
		if err != nil {
			return fmt.Errorf("store file %s: %w", d.file(name), err)
		}
	}
	return nil
}

func ownNames() []string {
	names := []string{lockFile, markerFile, reserveFile}
	for _, suffix := range sqliteSuffixes {
		for _, name := range []string{databaseFile, journalFile} {
			names = append(names, name+suffix, name+newSuffix+suffix)
		}
	}
	return names
}

func (d *directory) has(name string) bool {
	_, err := os.Lstat(d.file(name))
	return !errors.Is(err, fs.ErrNotExist)
}

// markerText is for the human who finds the file.
const markerText = "This directory is a Countersign store. Keep its files together; copy them only while no process uses it.\n"

// mark writes the file that says that a store was created here.
func (d *directory) mark() error {
	if d.has(markerFile) {
		return nil
	}
	if err := os.WriteFile(d.file(markerFile), []byte(markerText), 0o600); err != nil {
		return err
	}
	crashpoint.At("sqlite.marked", nil)
	return errors.Join(atomicfile.Sync(d.file(markerFile)), atomicfile.Sync(d.path))
}
