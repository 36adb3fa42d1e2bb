package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// allocate reserves disk blocks for a file, also where the file system would store zeros
// as a hole.
func allocate(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return writeZeros(f, size)
	}
	return err
}
