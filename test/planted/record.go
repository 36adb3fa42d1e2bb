package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// record keeps what became of the bugs of one tree, so that a run that was ended
// can be continued.
type record struct {
	Tree    string
	Results map[string]result // by the bug's name
	path    string
}

// readRecord reads the record of a tree; that of another says nothing of this one.
func readRecord(root, tree string) (*record, error) {
	path := filepath.Join(root, "bin", "planted.json")
	r := &record{}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w; remove it to begin anew", path, err)
	}
	if r.Tree != tree || r.Results == nil {
		*r = record{Tree: tree, Results: map[string]result{}}
	}
	r.path = path
	return r, nil
}

func (r *record) add(b *bug, what result) error {
	r.Results[b.name] = what
	text, err := json.MarshalIndent(r, "", "\t")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(r.path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(r.path, text, 0o644)
	}
	return err
}
