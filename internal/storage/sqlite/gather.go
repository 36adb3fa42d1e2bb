package sqlite

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// SQLite writes a commit into the log page by page, each with its frame header: some fifty
// system calls for one contiguous range of the file. This file gathers them into one write,
// made at the latest when the log is synced, which SQLite does before readers see the
// commit. The frame that marks the commit is the last of the range, so an incomplete write
// never contains it.

// gathered holds the bytes written to an open log that are not in the file yet.
type gathered struct {
	offset  int64
	content []byte
}

// maxGathered bounds a stretch; a commit of more is written in several. SQLite's own
// xWrite hands at most 0x1ffff bytes to the system at once, and takes a rest of none
// for a full disk.
const maxGathered = 120 << 10

// logs has the gathered writes of each open log, by the address of its file. SQLite
// uses a file from one goroutine at a time.
var logs sync.Map

func gatheredOf(file uintptr) *gathered {
	g, ok := logs.Load(file)
	if !ok {
		g, _ = logs.LoadOrStore(file, &gathered{})
	}
	return g.(*gathered)
}

// gather gives an open log the methods below.
func gather(tls *libc.TLS, vfs, file uintptr) {
	layer(tls, vfs, file, "log", func(m *lib.Tsqlite3_io_methods) {
		m.FxWrite, m.FxRead, m.FxSync = pointerTo(writeGathered), pointerTo(readBehindGathered), pointerTo(syncGathered)
		m.FxTruncate, m.FxFileSize, m.FxClose = pointerTo(truncateGathered), pointerTo(sizeGathered), pointerTo(closeGathered)
	})
}

func writeGathered(tls *libc.TLS, file, buffer uintptr, amount int32, offset int64) int32 {
	g := gatheredOf(file)
	if len(g.content) > 0 && (offset != g.offset+int64(len(g.content)) || len(g.content)+int(amount) > maxGathered) {
		if rc := g.write(tls, file); rc != lib.SQLITE_OK {
			return rc
		}
	}
	if len(g.content) == 0 {
		g.offset = offset
	}
	g.content = append(g.content, unsafe.Slice(at[byte](buffer), amount)...)
	return lib.SQLITE_OK
}

// write writes what was gathered. If that fails it is given up: SQLite undoes the
// transaction that it is of.
func (g *gathered) write(tls *libc.TLS, file uintptr) int32 {
	if len(g.content) == 0 {
		return lib.SQLITE_OK
	}
	rc := callable[ioFunc](baseOf(file).FxWrite)(tls, file, uintptr(unsafe.Pointer(&g.content[0])), int32(len(g.content)), g.offset)
	g.content = g.content[:0]
	return rc
}

// written writes what was gathered, before anything that must find it in the file.
func written(tls *libc.TLS, file uintptr) int32 { return gatheredOf(file).write(tls, file) }

func readBehindGathered(tls *libc.TLS, file, buffer uintptr, amount int32, offset int64) int32 {
	if rc := written(tls, file); rc != lib.SQLITE_OK {
		return rc
	}
	return callable[ioFunc](baseOf(file).FxRead)(tls, file, buffer, amount, offset)
}

func syncGathered(tls *libc.TLS, file uintptr, flags int32) int32 {
	if rc := written(tls, file); rc != lib.SQLITE_OK {
		return rc
	}
	return callable[syncFunc](baseOf(file).FxSync)(tls, file, flags)
}

func truncateGathered(tls *libc.TLS, file uintptr, size int64) int32 {
	if rc := written(tls, file); rc != lib.SQLITE_OK {
		return rc
	}
	return callable[truncateFunc](baseOf(file).FxTruncate)(tls, file, size)
}

func sizeGathered(tls *libc.TLS, file, size uintptr) int32 {
	if rc := written(tls, file); rc != lib.SQLITE_OK {
		return rc
	}
	return callable[sizeFunc](baseOf(file).FxFileSize)(tls, file, size)
}

func closeGathered(tls *libc.TLS, file uintptr) int32 {
	_ = written(tls, file) // nothing of it is committed: that would have been synced
	logs.Delete(file)
	return callable[closeFunc](baseOf(file).FxClose)(tls, file)
}
