package harness

import (
	"slices"
	"sync"
	"testing"
)

// ofDirectories are the tests that OnlyDirectory took out of this run.
var ofDirectories struct {
	sync.Mutex
	names []string
}

// OnlyDirectory says that a test is about a store in a directory: its files, its
// lock, its backups. Where each server has a database instead, the test is no part
// of the run, which must account for it: see OfDirectories.
func OnlyDirectory(t testing.TB) {
	t.Helper()
	if OnDatabase == nil {
		return
	}
	ofDirectories.Lock()
	ofDirectories.names = append(ofDirectories.names, t.Name())
	ofDirectories.Unlock()
	t.SkipNow()
}

// OfDirectories are the names, sorted, of the tests that were no part of this run.
func OfDirectories() []string {
	ofDirectories.Lock()
	defer ofDirectories.Unlock()
	return slices.Sorted(slices.Values(ofDirectories.names))
}
