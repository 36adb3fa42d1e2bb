//go:build unix

package sqlite

import "golang.org/x/sys/unix"

// writable checks without writing, so that a refused directory is not changed.
func writable(path string) error { return unix.Access(path, unix.R_OK|unix.W_OK) }
