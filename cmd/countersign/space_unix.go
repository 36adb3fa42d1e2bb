//go:build unix

package main

import (
	"golang.org/x/sys/unix"
)

// descriptors is how many file descriptors this process may open.
func descriptors() uint64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return uint64(l.Cur) //nolint:unconvert // the types differ between systems
}

// freeSpace is how many bytes this user may still write on the disk of a path.
func freeSpace(path string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:unconvert // the types differ between systems
}

// mayWriteIn says why this user may make no file in a directory.
func mayWriteIn(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
