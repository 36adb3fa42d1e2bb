package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/countersign/countersign"
)

// Summary is what a file holds.
type Summary struct {
	TenantID string `json:"tenantId"`
	Runs     int    `json:"runs"`
	SHA256   string `json:"sha256"` // of the file as it is, which the audit log holds
}

// maxLine bounds what one line may take: a run of 100 steps with all that they may
// hold is smaller.
const maxLine = 512 << 20

// maxHead bounds the first line, which says what the file is: of another file as much is
// read and no more.
const maxHead = 64 << 10

// Read checks a file and gives each of its runs to each, with its plan. What it says
// is about the whole: a run that was given comes from a whole file only if Read
// returns no error.
func Read(file io.Reader, each func(Entry) error) (Summary, error) {
	r := &reader{file: sha256.New(), lines: sha256.New(), plans: map[string]*countersign.Plan{}, each: each}
	packed := io.TeeReader(file, r.file)
	z, err := gzip.NewReader(packed)
	if err != nil {
		return r.sum, fmt.Errorf("it is no archive: %w", err)
	}
	if err := r.read(z); err != nil {
		return r.sum, err
	}
	if _, err := io.Copy(io.Discard, packed); err != nil {
		return r.sum, err
	}
	r.sum.SHA256 = hex.EncodeToString(r.file.Sum(nil))
	return r.sum, nil
}

type reader struct {
	file, lines hash.Hash
	sum         Summary
	found       int
	whole       bool
	plans       map[string]*countersign.Plan
	each        func(Entry) error
}

func (r *reader) read(text io.Reader) error {
	in := bufio.NewReaderSize(text, maxHead)
	if start, _ := in.Peek(maxHead); len(start) == maxHead && bytes.IndexByte(start, '\n') < 0 { // the scanner meets the error too
		return fmt.Errorf("it is no archive: its first line is longer than %d bytes", maxHead)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	for n := 1; lines.Scan(); n++ {
		if r.whole {
			return fmt.Errorf("line %d: it comes behind the end", n)
		}
		if err := r.line(n, lines.Bytes()); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	switch {
	case lines.Err() != nil:
		return fmt.Errorf("it is damaged: %w", lines.Err())
	case !r.whole:
		return errors.New("it was cut off: its last line is missing")
	case r.found != r.sum.Runs:
		return fmt.Errorf("it has %d runs and says that they are %d", r.found, r.sum.Runs)
	}
	return nil
}

// anyLine is a line of any kind.
type anyLine struct {
	head
	planLine
	runLine
	tail
}

func (r *reader) line(n int, text []byte) error {
	var l anyLine
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	switch {
	case n == 1:
		if l.Archive != Format {
			return fmt.Errorf("it begins with %q, and not with %q", l.Archive, Format)
		}
		r.sum.TenantID, r.sum.Runs = l.TenantID, l.Runs
	case l.SHA256 != "":
		if got := hex.EncodeToString(r.lines.Sum(nil)); got != l.SHA256 {
			return fmt.Errorf("the lines before come to %s, and not to %s: they are not what was written", got, l.SHA256)
		}
		r.whole = true
	case l.Plan != nil:
		r.plans[l.Plan.ID] = l.Plan
	case l.Run != nil:
		r.found++
		l.Run.PlanSnapshot = r.plans[l.Run.PlanID]
		if err := r.each(Entry{*l.Run, l.Approvals}); err != nil {
			return err
		}
	default:
		return errors.New("it is of no known kind")
	}
	r.lines.Write(text)
	r.lines.Write([]byte{'\n'})
	return nil
}
