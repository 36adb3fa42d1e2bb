package pack

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/countersign/countersign/internal/storage/store"
)

// Pack is an opened pack.
type Pack struct {
	first  int64
	texts  [len(Texts)]texts
	at     []int64
	docs   string
	ends   []int // of each record's document in docs
	filled Set
}

// texts are the values of a column.
type texts struct {
	values []string
	which  string // for each record
}

var errText = errors.New("its text is not that of a pack")

// decoder needs no more memory for a pack than the largest one has, whatever is in it.
var decoder = func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(mostText), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(fmt.Sprintf("pack: %v", err)) // the options are constants
	}
	return d
}()

// Open opens a tenant's pack of n records from a sequence number on. Its error is
// store.ErrDamaged.
func Open(tenant string, first int64, n int, content []byte, sum int64) (*Pack, error) {
	text, err := decompressed(content)
	if err == nil && sumOf(tenant, first, text) != sum {
		err = errors.New("it doesn't fit its sum")
	}
	p := &Pack{first: first}
	if err == nil {
		err = p.read(string(text), n)
	}
	if err != nil {
		return nil, Damaged(tenant, first, n, err)
	}
	return p, nil
}

// Damaged is the error about a pack of which something is not as it was written.
func Damaged(tenant string, first int64, n int, why error) error {
	return fmt.Errorf("audit records %d to %d of %q are damaged: %w: %w", first, first+int64(n)-1, tenant, why, store.ErrDamaged)
}

func decompressed(content []byte) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(content); err != nil {
		return nil, err
	}
	if !h.HasFCS || h.FrameContentSize > mostText {
		return nil, errors.New("its size is not that of a pack")
	}
	return decoder.DecodeAll(content, make([]byte, 0, h.FrameContentSize))
}

func (p *Pack) read(text string, n int) error {
	r := reader{text}
	if said, err := r.number(); err != nil || said != n || n < 1 || n > Most {
		return errText
	}
	p.filled = First(n)
	for i := range p.texts {
		if err := p.texts[i].read(&r, n); err != nil {
			return err
		}
	}
	before := int64(0)
	for range n {
		v, size := binary.Varint([]byte(r.left[:min(len(r.left), binary.MaxVarintLen64)]))
		if size <= 0 {
			return errText
		}
		before += v
		p.at, r.left = append(p.at, before), r.left[size:]
	}
	end := 0
	for range n {
		size, err := r.number()
		if err != nil {
			return err
		}
		end += size
		p.ends = append(p.ends, end)
	}
	if p.docs = r.left; end != len(p.docs) {
		return errText
	}
	return nil
}

func (t *texts) read(r *reader, n int) error {
	values, err := r.number()
	if err != nil || values > n {
		return errText
	}
	for range values {
		size, err := r.number()
		if err != nil || size > len(r.left) {
			return errText
		}
		t.values, r.left = append(t.values, r.left[:size]), r.left[size:]
	}
	if n > len(r.left) {
		return errText
	}
	t.which, r.left = r.left[:n], r.left[n:]
	for _, which := range []byte(t.which) {
		if int(which) >= values {
			return errText
		}
	}
	return nil
}

// reader reads a pack's text.
type reader struct{ left string }

// number reads a number that is at most the size of a text.
func (r *reader) number() (int, error) {
	v, n := binary.Uvarint([]byte(r.left[:min(len(r.left), binary.MaxVarintLen64)]))
	if n <= 0 || v > mostText {
		return 0, errText
	}
	r.left = r.left[n:]
	return int(v), nil
}

// First is the sequence number of its first record.
func (p *Pack) First() int64 { return p.first }

// Len is how many records it has.
func (p *Pack) Len() int { return len(p.ends) }

// All are the places of all its records.
func (p *Pack) All() Set { return p.filled }

// Row is the record at a place. It is the caller's.
func (p *Pack) Row(i int) store.Row {
	from, seq := 0, p.first+int64(i)
	if i > 0 {
		from = p.ends[i-1]
	}
	keys := make([]any, 0, textKey+len(Texts))
	keys = append(keys, seq, p.at[i])
	for _, c := range p.texts {
		keys = append(keys, c.values[c.which[i]])
	}
	return store.Row{ID: ID(seq), Version: 1, Keys: keys, Doc: []byte(p.docs[from:p.ends[i]])}
}

// Rows are all its records.
func (p *Pack) Rows() []store.Row {
	rows := make([]store.Row, p.Len())
	for i := range rows {
		rows[i] = p.Row(i)
	}
	return rows
}
