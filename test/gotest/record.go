package gotest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Record has results by name for one state of the working tree, so that an interrupted run can be continued.
type Record[T any] struct {
	Tree    string
	Results map[string]T
	path    string
}

// ReadRecord reads the record; it is empty if the file's record is of another tree.
func ReadRecord[T any](path, tree string) (*Record[T], error) {
	r := &Record[T]{}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w; remove it to begin anew", path, err)
	}
	if r.Tree != tree || r.Results == nil {
		*r = Record[T]{Tree: tree, Results: map[string]T{}}
	}
	r.path = path
	return r, nil
}

// Write writes the record to its file.
func (r *Record[T]) Write() error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(r.path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(r.path, text, 0o644)
	}
	return err
}
