//go:build !linux

package pgtest

import "syscall"

// endWithUs does nothing: on other systems a server outlives killed tests.
func endWithUs(*syscall.SysProcAttr) {}

// inMemory is "": other systems have no such directory.
func inMemory() string { return "" }
