package sqlite

import (
	"context"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// faultyVFS is the system's VFS until it is told to fail. It lies under the one
// with the sums, so that what it fails is what the disk would.
const faultyVFS = "faulty"

// operation is a kind of call to the disk.
type operation int

const (
	reads operation = 1 << iota
	writes
	truncates
	syncs
)

// fault says which call fails, and how.
type fault struct {
	on     operation // one kind or several
	nth    int       // counted from 1 among those kinds; 0 is never
	sticky bool      // all later ones fail too
	code   int32     // 0: what the system's VFS says when the call gets EIO
}

// disk counts calls and fails them. Tests with faults don't run in parallel.
var disk struct {
	sync.Mutex
	fault
	seen      int
	fired     bool
	syncs     int // calls, failed ones too
	firstSync int // how many there were when a sync was failed first
}

// breakDisk makes the disk fail from now on as f says.
func breakDisk(f fault) {
	disk.Lock()
	defer disk.Unlock()
	disk.fault, disk.seen, disk.fired, disk.syncs, disk.firstSync = f, 0, false, 0, 0
}

func mendDisk() { breakDisk(fault{}) }

// syncCalls returns how many there were, and how many until the first failed.
func syncCalls() (all, untilFailed int) {
	disk.Lock()
	defer disk.Unlock()
	return disk.syncs, disk.firstSync
}

func faultFired() bool {
	disk.Lock()
	defer disk.Unlock()
	return disk.fired
}

// fail says with which code a call fails, SQLITE_OK if it doesn't.
func fail(on operation) int32 {
	disk.Lock()
	defer disk.Unlock()
	if on == syncs {
		disk.syncs++
	}
	if disk.on&on == 0 || disk.nth == 0 {
		return lib.SQLITE_OK
	}
	disk.seen++
	if disk.seen < disk.nth || disk.seen > disk.nth && !disk.sticky {
		return lib.SQLITE_OK
	}
	disk.fired = true
	if on == syncs && disk.firstSync == 0 {
		disk.firstSync = disk.syncs
	}
	if disk.code != 0 {
		return disk.code
	}
	return map[operation]int32{
		reads: lib.SQLITE_IOERR_READ, writes: lib.SQLITE_IOERR_WRITE,
		truncates: lib.SQLITE_IOERR_TRUNCATE, syncs: lib.SQLITE_IOERR_FSYNC,
	}[on]
}

// system holds the methods of the system's VFS. It can't be looked up in the
// file, where the upper layer's are.
var (
	system     lib.Tsqlite3_io_methods
	systemOnce sync.Once
)

func faultySettings(t *testing.T) settings {
	t.Helper()
	if err := registerVFS(faultyVFS, "", openFaulty); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(mendDisk)
	return settings{vfs: faultyVFS, checkpointPages: 6, readers: 1}
}

func mustOpenFaulty(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := open(context.Background(), dir, faultySettings(t))
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func openFaulty(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
	// vfs is the upper layer's; ours is what that was copied from.
	ours := uintptr(unsafe.Pointer(at[layeredVFS](vfs).base))
	rc := callable[openFunc](at[layeredVFS](ours).base.FxOpen)(tls, vfs, name, file, flags, outFlags)
	if rc == lib.SQLITE_OK {
		systemOnce.Do(func() { system = *at[lib.Tsqlite3_io_methods](at[lib.Tsqlite3_file](file).FpMethods) })
		layer(tls, ours, file, func(m *lib.Tsqlite3_io_methods) {
			m.FxRead, m.FxWrite = pointerTo(readFaulty), pointerTo(writeFaulty)
			m.FxTruncate, m.FxSync = pointerTo(truncateFaulty), pointerTo(syncFaulty)
		})
	}
	return rc
}

func readFaulty(tls *libc.TLS, file, buffer uintptr, amount int32, offset int64) int32 {
	if rc := fail(reads); rc != lib.SQLITE_OK {
		return rc
	}
	return callable[ioFunc](system.FxRead)(tls, file, buffer, amount, offset)
}

func writeFaulty(tls *libc.TLS, file, buffer uintptr, amount int32, offset int64) int32 {
	if rc := fail(writes); rc != lib.SQLITE_OK {
		return rc
	}
	return callable[ioFunc](system.FxWrite)(tls, file, buffer, amount, offset)
}

func truncateFaulty(tls *libc.TLS, file uintptr, size int64) int32 {
	if rc := fail(truncates); rc != lib.SQLITE_OK {
		return rc
	}
	return callable[func(*libc.TLS, uintptr, int64) int32](system.FxTruncate)(tls, file, size)
}

func syncFaulty(tls *libc.TLS, file uintptr, flags int32) int32 {
	if rc := fail(syncs); rc != lib.SQLITE_OK {
		return rc
	}
	return callable[func(*libc.TLS, uintptr, int32) int32](system.FxSync)(tls, file, flags)
}
