//go:build unix

package sqlite

import "golang.org/x/sys/unix"

// writable asks without writing, so that a refused directory stays as it is.
func writable(path string) error { return unix.Access(path, unix.R_OK|unix.W_OK) }
