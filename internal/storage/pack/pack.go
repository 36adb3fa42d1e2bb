// Package pack keeps consecutive audit records in one compressed text. It does no I/O and
// knows no SQL.
//
// A pack's records have sequence numbers without a gap, and ids that say these numbers. Its
// text is, before it is compressed,
//
//	records             uvarint
//	actor               how many different ones, uvarint, and each of them, a text; for each
//	action, subject     record, a byte: which one it has
//	at                  for each record, a varint: the difference to the record before
//	documents           for each record, its length, uvarint; then all of them
//
// where a text is its length as a uvarint and its bytes. Beside it stands a sum of the text
// and of where it belongs, so that neither a damaged pack is read nor one at another's place.
package pack

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/countersign/countersign/internal/storage/store"
)

// The bounds of a pack. A reader of one record decompresses the whole pack.
const (
	Most      = 128      // records
	MostBytes = 64 << 10 // of their texts
	mostOfOne = 16 << 10 // of the texts of one record; a larger one is in no pack
	mostText  = MostBytes + 64*Most
)

// Texts are the columns that lists of records are of.
var Texts = [...]string{"actor", "action", "subject"}

// Where the columns are in a row's keys.
const (
	seqKey  = 0
	atKey   = 1
	textKey = 2
)

// digits of an id, so that ids order as sequence numbers do.
const digits = 16

// MostSeq is the largest sequence number that an id can say.
const MostSeq = 1e16 - 1

// ID is the id of the record with a sequence number.
func ID(seq int64) string {
	var id [digits]byte
	for i := digits - 1; i >= 0; i-- {
		id[i] = byte('0' + seq%10)
		seq /= 10
	}
	return string(id[:])
}

// Seq is the sequence number that an id says; ok is false for an id that says none.
func Seq(id string) (seq int64, ok bool) {
	if len(id) != digits || strings.Trim(id, "0123456789") != "" {
		return 0, false
	}
	for _, d := range []byte(id) {
		seq = seq*10 + int64(d-'0')
	}
	return seq, true
}

// Fits reports whether a row may be in a pack.
func Fits(row store.Row) bool {
	seq, ok := Seq(row.ID)
	return ok && row.Version == 1 && row.Keys[seqKey] == any(seq) && Size(row) <= mostOfOne
}

// Size is how many bytes a row counts.
func Size(row store.Row) int {
	n := len(row.Doc)
	for i := range Texts {
		n += len(row.Keys[textKey+i].(string))
	}
	return n
}

// At is the time of a record in microseconds.
func At(row store.Row) int64 { return row.Keys[atKey].(int64) }

// Packer makes packs. The zero Packer is ready; two goroutines must not use one at once.
type Packer struct {
	zstd *zstd.Encoder
	text []byte
}

// Pack packs a tenant's rows, which follow each other and fit, within the bounds.
func (p *Packer) Pack(tenant string, rows []store.Row) (content []byte, sum int64) {
	if p.zstd == nil {
		p.zstd = newEncoder()
	}
	p.text = appendRows(p.text[:0], rows)
	return p.zstd.EncodeAll(p.text, nil), sumOf(tenant, rows[0].Keys[seqKey].(int64), p.text)
}

// newEncoder is one of the fastest level, which is also the smallest here: what doesn't
// repeat in audit records is hashes and salts.
func newEncoder() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true), zstd.WithWindowSize(128<<10), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(fmt.Sprintf("pack: %v", err)) // the options are constants
	}
	return e
}

func appendRows(to []byte, rows []store.Row) []byte {
	to = binary.AppendUvarint(to, uint64(len(rows)))
	for i := range Texts {
		to = appendColumn(to, rows, textKey+i)
	}
	before := int64(0)
	for _, row := range rows {
		to = binary.AppendVarint(to, At(row)-before)
		before = At(row)
	}
	for _, row := range rows {
		to = binary.AppendUvarint(to, uint64(len(row.Doc)))
	}
	for _, row := range rows {
		to = append(to, row.Doc...)
	}
	return to
}

func appendColumn(to []byte, rows []store.Row, key int) []byte {
	var values []string
	which, known := make([]byte, len(rows)), map[string]byte{}
	for i, row := range rows {
		value := row.Keys[key].(string)
		n, ok := known[value]
		if !ok {
			n = byte(len(values))
			known[value] = n
			values = append(values, value)
		}
		which[i] = n
	}
	to = binary.AppendUvarint(to, uint64(len(values)))
	for _, value := range values {
		to = append(binary.AppendUvarint(to, uint64(len(value))), value...)
	}
	return append(to, which...)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumOf is the sum of a pack's text at its place.
func sumOf(tenant string, first int64, text []byte) int64 {
	place := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(first)), uint64(len(tenant)))
	place = append(place, tenant...)
	return int64(crc32.Update(crc32.Checksum(place, castagnoli), castagnoli, text))
}
