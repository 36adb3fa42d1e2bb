//go:build !linux

package pgtest

import "syscall"

// endWithUs: elsewhere a server outlives tests that are killed.
func endWithUs(*syscall.SysProcAttr) {}

// inMemory: elsewhere there is no such folder.
func inMemory() string { return "" }
