package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// applicationID is "CSGN", in the header of every database of ours.
const applicationID = 0x4353474e

// Where things are on the first page (sqlite.org/fileformat2.html).
const (
	magic            = "SQLite format 3\x00"
	headerSize       = 100
	pageSizePos      = 16
	formatPos        = 18 // twice: for writing, for reading
	reservedPos      = 20
	fractionsPos     = 21
	pageCountPos     = 28
	applicationIDPos = 68

	formatWAL   = 2
	emptyLeaf   = 0x0d // a table's page without entries
	contentsPos = headerSize + 5
)

// firstPage is an empty database as SQLite would write it, in WAL mode and with reserved
// bytes for our checksums, which no SQL statement can set.
func firstPage() []byte {
	page := make([]byte, pageSize)
	copy(page, magic)
	binary.BigEndian.PutUint16(page[pageSizePos:], pageSize)
	copy(page[formatPos:], []byte{formatWAL, formatWAL})
	page[reservedPos] = reserved
	copy(page[fractionsPos:], []byte{64, 32, 32}) // fixed by the format
	binary.BigEndian.PutUint32(page[pageCountPos:], 1)
	binary.BigEndian.PutUint32(page[applicationIDPos:], applicationID)
	page[headerSize] = emptyLeaf
	binary.BigEndian.PutUint16(page[contentsPos:], pageSize-reserved)
	seal(page, 0)
	return page
}

// checkHeader refuses a file that is not a store's database. It reads the file before
// SQLite opens it: closing a descriptor of a file that SQLite has open would drop SQLite's
// locks on it.
func checkHeader(path string) error {
	header := make([]byte, headerSize)
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.ReadFull(f, header)
	_ = f.Close()
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s is empty or cut short: restore it from a backup", path)
	case err != nil:
		return err
	case string(header[:len(magic)]) != magic:
		return fmt.Errorf("%s is not a Countersign store: it is not an SQLite database, or it is damaged", path)
	case binary.BigEndian.Uint32(header[applicationIDPos:]) != applicationID, header[reservedPos] != reserved:
		return fmt.Errorf("%s is not a Countersign store: it is a database of another program, or it is damaged", path)
	}
	return nil
}
