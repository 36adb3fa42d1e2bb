package sqlite

import (
	"encoding/binary"
	"hash/crc32"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// Each page of the database ends with a checksum of its content and its offset. SQLite
// itself returns damaged content unnoticed; with the checksum a flipped bit or a lost write
// is an error wherever the page is read, and makes a start refuse the store. Pages in the
// write-ahead log have SQLite's own checksums and get ours when a checkpoint writes them
// into the database.

const (
	pageSize = 4096
	// reserved bytes at the end of a page belong to us; the header says so.
	reserved = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checkedVFS registers the VFS that writes and checks the sums, over another
// one, and returns its name.
func checkedVFS(base string) (string, error) {
	name := "countersign"
	if base != "" {
		name += "-" + base
	}
	return name, registerVFS(name, base, openChecked)
}

func openChecked(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
	open := callable[openFunc](at[layeredVFS](vfs).base.FxOpen)
	rc := open(tls, vfs, name, file, flags, outFlags)
	switch {
	case rc != lib.SQLITE_OK:
	case flags&lib.SQLITE_OPEN_WAL != 0:
		gather(tls, vfs, file)
	case flags&lib.SQLITE_OPEN_MAIN_DB != 0:
		layer(tls, vfs, file, "database", func(m *lib.Tsqlite3_io_methods) {
			m.FxRead, m.FxWrite = pointerTo(readChecked), pointerTo(writeChecked)
		})
	}
	return rc
}

func readChecked(tls *libc.TLS, file, buffer uintptr, amount int32, offset int64) int32 {
	rc := callable[ioFunc](baseOf(file).FxRead)(tls, file, buffer, amount, offset)
	// Bytes beyond the end of the file read as zeros, also in part of a page.
	arrived := rc == lib.SQLITE_OK || rc == lib.SQLITE_IOERR_SHORT_READ
	if arrived && isPage(amount, offset) && !sound(page(buffer), offset) {
		return lib.SQLITE_IOERR_DATA
	}
	return rc
}

func writeChecked(tls *libc.TLS, file, buffer uintptr, amount int32, offset int64) int32 {
	if isPage(amount, offset) {
		seal(page(buffer), offset)
	}
	return callable[ioFunc](baseOf(file).FxWrite)(tls, file, buffer, amount, offset)
}

// isPage tells reads of a whole page from SQLite's reads of a part of one.
func isPage(amount int32, offset int64) bool { return amount == pageSize && offset%pageSize == 0 }

func page(buffer uintptr) []byte { return unsafe.Slice(at[byte](buffer), pageSize) }

// seal writes a page's checksum, into SQLite's own buffer: SQLite doesn't use the reserved
// bytes.
func seal(page []byte, offset int64) {
	binary.BigEndian.PutUint32(page[pageSize-reserved:], sum(page, offset))
}

// sound reports whether a page has its checksum or was never written.
func sound(page []byte, offset int64) bool {
	return binary.BigEndian.Uint32(page[pageSize-reserved:]) == sum(page, offset) || blank(page)
}

func sum(page []byte, offset int64) uint32 {
	place := binary.BigEndian.AppendUint64(make([]byte, 0, 8), uint64(offset))
	return crc32.Update(crc32.Checksum(page[:pageSize-reserved], castagnoli), castagnoli, place)
}

func blank(page []byte) bool {
	for _, b := range page {
		if b != 0 {
			return false
		}
	}
	return true
}
