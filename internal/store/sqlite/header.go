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

const (
	magic            = "SQLite format 3\x00"
	headerSize       = 100
	applicationIDPos = 68
)

// checkHeader refuses a file that isn't a database of ours. It reads with plain
// I/O and before SQLite opens the file: closing a descriptor of a file that
// SQLite has open would drop SQLite's locks on it.
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
	case binary.BigEndian.Uint32(header[applicationIDPos:]) != applicationID:
		return fmt.Errorf("%s is not a Countersign store: it is a database of another program", path)
	}
	return nil
}
