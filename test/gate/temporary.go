package main

import (
	"errors"
	"os"
)

// temporary puts the tests' temporary files into memory if there is room and TMPDIR isn't set, so that tests don't wait
// for a disk whose syncs they don't judge: what a power cut loses is played on simulated disks. remove deletes them.
func temporary() (remove func() error, err error) {
	within := inMemory()
	if within == "" || os.Getenv("TMPDIR") != "" {
		return func() error { return nil }, nil
	}
	dir, err := os.MkdirTemp(within, "countersign-gate-")
	if err != nil {
		return nil, err
	}
	// The PostgreSQL servers of tests run as another user if the tests run as root.
	if err := errors.Join(os.Chmod(dir, 0o755), os.Setenv("TMPDIR", dir)); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return func() error { return os.RemoveAll(dir) }, nil
}
