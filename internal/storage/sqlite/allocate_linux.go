package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// allocate takes up space for a file, whatever a file system does with zeros.
func allocate(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return writeZeros(f, size)
	}
	return err
}
