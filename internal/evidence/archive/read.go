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

// Summary describes the contents of a file.
type Summary struct {
	TenantID string `json:"tenantId"`
	Runs     int    `json:"runs"`
	SHA256   string `json:"sha256"` // of the file as it is, which the audit log holds
}

// maxLine bounds one line: the largest run, 100 steps with maximal contents, is
// smaller.
const maxLine = 512 << 20

// maxHead bounds the first line, which identifies the file: no more is read of a file
// of another kind.
const maxHead = 64 << 10

// Read checks a file and passes each run, with its plan, to each. The file is complete
// and valid only if Read returns no error, whatever runs were passed before.
func Read(file io.Reader, each func(Entry) error) (Summary, error) {
	r := &reader{file: sha256.New(), lines: sha256.New(), plans: map[string]*countersign.Plan{}, runs: map[string]bool{}, each: each}
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
	runs        map[string]bool // that were given, by their ids
	each        func(Entry) error
}

func (r *reader) read(text io.Reader) error {
	in := bufio.NewReaderSize(text, maxHead)
	if start, _ := in.Peek(maxHead); len(start) == maxHead && bytes.IndexByte(start, '\n') < 0 { // the scanner meets the error too
		return fmt.Errorf("it is no archive: its first line is longer than %d bytes", maxHead)
	}
	var line []byte
	for n := 1; ; n++ {
		var err error
		if line, err = nextLine(in, line[:0]); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("it is damaged: line %d: %w", n, err)
		}
		if r.whole {
			return fmt.Errorf("line %d: it comes behind the end", n)
		}
		if err := r.line(n, line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	switch {
	case !r.whole:
		return errors.New("it was cut off: its last line is missing")
	case r.found != r.sum.Runs:
		return fmt.Errorf("it has %d runs and says that they are %d", r.found, r.sum.Runs)
	}
	return nil
}

// nextLine reads a line into a buffer; the last line may lack its line end. It reads
// each byte once, while a bufio.Scanner searches for the line end from the start again
// after each read.
func nextLine(in *bufio.Reader, line []byte) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, fmt.Errorf("it is longer than %d bytes", maxLine)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
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
		if r.runs[l.Run.ID] {
			return fmt.Errorf("it holds run %s a second time", l.Run.ID)
		}
		r.found, r.runs[l.Run.ID] = r.found+1, true
		l.Run.PlanSnapshot = r.plans[l.Run.PlanID]
		if err := r.each(Entry{*l.Run, l.Approvals, l.Receipt}); err != nil {
			return err
		}
	default:
		return errors.New("it is of no known kind")
	}
	r.lines.Write(text)
	r.lines.Write([]byte{'\n'})
	return nil
}
