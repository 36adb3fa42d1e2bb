// Package atomicfile writes files that after a power cut are either complete or absent.
package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// Sync makes a file, or the entries of a directory, durable.
func Sync(path string) error {
	flag := os.O_RDWR // Windows syncs nothing that was opened for reading
	if info, err := os.Stat(path); err != nil {
		return err
	} else if info.IsDir() {
		if runtime.GOOS == "windows" { // where a directory can't be synced, and needn't be
			return nil
		}
		flag = os.O_RDONLY
	}
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Create writes a file that only its owner may read. It writes to a temporary name and
// renames the file, replacing one of that name, when all that fill wrote is on the disk.
// After an error nothing is left; after a crash there may be a file that ends with .part.
func Create(path string, fill func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		return err
	}
	if err := errors.Join(fill(f), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return Sync(filepath.Dir(path))
}
