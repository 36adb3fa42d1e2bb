package sample

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// journal is the file of the log, with one JSON line for each request. A nil journal writes
// nothing.
type journal struct{ file *os.File }

// openJournal opens the file and reads its entries.
func openJournal(path string) (*journal, []Entry, error) {
	if path == "" {
		return nil, nil, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	past, err := readJournal(f)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return &journal{f}, past, nil
}

// readJournal reads the complete lines. An incomplete last line was cut off while it was
// written; its request was never answered, so it is dropped.
func readJournal(f *os.File) ([]Entry, error) {
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	var past []Entry
	for i, line := range bytes.Split(data[:whole], []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		past = append(past, e)
	}
	if whole < len(data) {
		err = f.Truncate(int64(whole))
	}
	return past, err
}

// append writes a line with one write, so that a killed process leaves all of it or nothing.
func (j *journal) append(e Entry) error {
	if j == nil {
		return nil
	}
	var line bytes.Buffer
	out := json.NewEncoder(&line)
	out.SetEscapeHTML(false) // an answer is repeated byte for byte
	if err := out.Encode(e); err != nil {
		return err
	}
	_, err := j.file.Write(line.Bytes())
	return err
}

func (j *journal) close() error {
	if j == nil {
		return nil
	}
	return j.file.Close()
}
