package main

import (
	"golang.org/x/sys/windows"
)

// descriptors is 0, since Windows has no such limit.
func descriptors() uint64 { return 0 }

// freeSpace is how many bytes this user may still write on the disk of a path.
func freeSpace(path string) (int64, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return int64(free), err
}

// mayWriteIn says why this user may make no file in a directory, which Windows says only when
// one is made.
func mayWriteIn(string) error { return nil }
