package main

import (
	"golang.org/x/sys/windows"
)

// descriptors is 0: the system has no such bound.
func descriptors() uint64 { return 0 }

// freeSpace is what this user may still write on the disk of a path, in bytes.
func freeSpace(path string) (int64, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return int64(free), err
}
