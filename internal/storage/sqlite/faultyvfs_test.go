package sqlite

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// faultyVFS is the system's VFS over the disks of faulty_test.go. It lies under
// the one with the sums, so that what it fails is what the disk would.
const faultyVFS = "faulty"

// system holds the methods of the system's VFS. It can't be looked up in the
// file, where the upper layer's are.
var (
	system     lib.Tsqlite3_io_methods
	systemOnce sync.Once
)

var registerOnce sync.Once

func registerFaulty(t *testing.T) {
	t.Helper()
	registerOnce.Do(func() {
		mustDo(t, registerVFS(faultyVFS, "", openFaulty))
		tls := libc.NewTLS()
		defer tls.Close()
		// Before the layer above copies it.
		at[lib.Tsqlite3_vfs](lib.Xsqlite3_vfs_find(tls, cString(faultyVFS))).FxDelete = pointerTo(deleteFaulty)
	})
}

// mustOpenFaulty opens a store on a disk that may be told to fail.
func mustOpenFaulty(t *testing.T, checkpointPages int) (*Store, *disk) {
	t.Helper()
	dir := emptyStore(t)
	d := newDisk(t, dir)
	settings := withCheckpoints(checkpointPages, 1)
	settings.vfs = faultyVFS
	s, err := open(context.Background(), dir, settings)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, d
}

// lower is the system's VFS, under the layer of ours that vfs, the layer above,
// was copied from.
func lower(vfs uintptr) *lib.Tsqlite3_vfs {
	return at[layeredVFS](uintptr(unsafe.Pointer(at[layeredVFS](vfs).base))).base
}

func openFaulty(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
	path := libc.GoString(name)
	d := diskUnder(path)
	if rc, _ := d.meets(opens, nil); rc != lib.SQLITE_OK {
		at[lib.Tsqlite3_file](file).FpMethods = 0
		return rc
	}
	rc := callable[openFunc](lower(vfs).FxOpen)(tls, vfs, name, file, flags, outFlags)
	if rc != lib.SQLITE_OK {
		return rc
	}
	noteFile(file, d, path)
	d.track(path)
	systemOnce.Do(func() { system = *at[lib.Tsqlite3_io_methods](at[lib.Tsqlite3_file](file).FpMethods) })
	layer(tls, uintptr(unsafe.Pointer(at[layeredVFS](vfs).base)), file, "faulty", func(m *lib.Tsqlite3_io_methods) {
		m.FxRead, m.FxWrite, m.FxShmMap = pointerTo(readFaulty), pointerTo(writeFaulty), pointerTo(mapFaulty)
		m.FxTruncate, m.FxSync = pointerTo(truncateFaulty), pointerTo(syncFaulty)
	})
	return rc
}

func deleteFaulty(tls *libc.TLS, vfs, name uintptr, syncDirectory int32) int32 {
	path := libc.GoString(name)
	d := diskUnder(path)
	if rc, _ := d.meets(deletes, nil); rc != lib.SQLITE_OK {
		return rc
	}
	d.forget(path)
	return callable[func(*libc.TLS, uintptr, uintptr, int32) int32](lower(vfs).FxDelete)(tls, vfs, name, syncDirectory)
}

func readFaulty(tls *libc.TLS, file, buffer uintptr, amount int32, offset int64) int32 {
	d := fileAt(file).disk
	if rc, _ := d.meets(reads, nil); rc != lib.SQLITE_OK {
		return rc
	}
	rc := callable[ioFunc](system.FxRead)(tls, file, buffer, amount, offset)
	if rc == lib.SQLITE_IOERR_SHORT_READ { // behind the end of the file
		return rc
	}
	return d.itself(reads, rc)
}

func writeFaulty(tls *libc.TLS, file, buffer uintptr, amount int32, offset int64) int32 {
	f := fileAt(file)
	content := unsafe.Slice(at[byte](buffer), amount)
	rc, short := f.disk.meets(writes, content)
	if rc != lib.SQLITE_OK && !short {
		return rc
	}
	if short {
		amount = half(amount, offset)
	}
	f.disk.note(f.path, pending{offset, bytes.Clone(content[:amount])})
	if wrote := callable[ioFunc](system.FxWrite)(tls, file, buffer, amount, offset); wrote != lib.SQLITE_OK {
		return f.disk.itself(writes, wrote)
	}
	return rc
}

// half is how many bytes of a write arrive that is cut short. One within a sector
// is whole or not at all.
func half(amount int32, offset int64) int32 {
	const sector = 512
	if offset/sector == (offset+int64(amount)-1)/sector {
		return 0
	}
	return amount / 2
}

func truncateFaulty(tls *libc.TLS, file uintptr, size int64) int32 {
	f := fileAt(file)
	if rc, _ := f.disk.meets(truncates, nil); rc != lib.SQLITE_OK {
		return rc
	}
	f.disk.note(f.path, pending{offset: size})
	return f.disk.itself(truncates, callable[func(*libc.TLS, uintptr, int64) int32](system.FxTruncate)(tls, file, size))
}

// syncFaulty leaves the real sync out: what a power cut would take is kept apart
// (powercut_test.go).
func syncFaulty(_ *libc.TLS, file uintptr, _ int32) int32 {
	f := fileAt(file)
	rc, _ := f.disk.meets(syncs, nil)
	f.disk.synced(f.path, rc == lib.SQLITE_OK)
	return rc
}

func mapFaulty(tls *libc.TLS, file uintptr, region, size, extend int32, to uintptr) int32 {
	d := fileAt(file).disk
	if rc, _ := d.meets(maps, nil); rc != lib.SQLITE_OK {
		return rc
	}
	return d.itself(maps, callable[func(*libc.TLS, uintptr, int32, int32, int32, uintptr) int32](system.FxShmMap)(tls, file, region, size, extend, to))
}
