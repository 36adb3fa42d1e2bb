package sqlite

import (
	"errors"
	"fmt"

	codes "modernc.org/sqlite/lib"
)

// diskError is an operation on a file that the system failed. SQLite says "disk I/O error: not
// an error" of each, and the operation by its code alone.
type diskError struct {
	file  string // "": what the error is about
	cause error
}

// inWords words an error of SQLite that is about an operation on a file. Any other stays as it is.
func inWords(file string, err error) error {
	if code(err)&0xff != codes.SQLITE_IOERR || errors.As(err, new(diskError)) {
		return err
	}
	return diskError{file, err}
}

func (e diskError) Unwrap() error { return e.cause }

func (e diskError) Error() string {
	file, c := e.file, code(e.cause)
	if file == "" {
		file = "it"
	}
	if c == codes.SQLITE_IOERR_DATA {
		return fmt.Sprintf("%s has a page with a wrong checksum (code %d)", file, c)
	}
	operation := operations[c]
	if operation == "" {
		operation = operations[codes.SQLITE_IOERR]
	}
	return fmt.Sprintf("%s %s failed (code %d): look at the disk and at the log of the system", operation, file, c)
}

// operations are what failed, by SQLite's code. Those on a file include the ones beside it, whose
// names end with -wal and -shm.
var operations = map[int]string{
	codes.SQLITE_IOERR:                   "an operation on",
	codes.SQLITE_IOERR_READ:              "reading",
	codes.SQLITE_IOERR_SHORT_READ:        "reading",
	codes.SQLITE_IOERR_WRITE:             "writing",
	codes.SQLITE_IOERR_FSYNC:             "syncing",
	codes.SQLITE_IOERR_DIR_FSYNC:         "syncing the directory of",
	codes.SQLITE_IOERR_TRUNCATE:          "truncating",
	codes.SQLITE_IOERR_DELETE:            "removing a file of",
	codes.SQLITE_IOERR_ACCESS:            "looking for a file of",
	codes.SQLITE_IOERR_FSTAT:             "looking at",
	codes.SQLITE_IOERR_LOCK:              "locking",
	codes.SQLITE_IOERR_RDLOCK:            "locking",
	codes.SQLITE_IOERR_CHECKRESERVEDLOCK: "locking",
	codes.SQLITE_IOERR_UNLOCK:            "unlocking",
	codes.SQLITE_IOERR_CLOSE:             "closing",
	codes.SQLITE_IOERR_SEEK:              "seeking in",
	codes.SQLITE_IOERR_MMAP:              "mapping",
	codes.SQLITE_IOERR_SHMOPEN:           "opening the -shm file of",
	codes.SQLITE_IOERR_SHMSIZE:           "growing the -shm file of",
	codes.SQLITE_IOERR_SHMLOCK:           "locking the -shm file of",
	codes.SQLITE_IOERR_SHMMAP:            "mapping the -shm file of",
}
