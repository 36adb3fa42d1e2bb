package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// record remembers which parts passed on a tree, so that a long run can be
// continued.
type record struct {
	Tree   string
	Passed []string
}

const recordFile = "bin/gate.json"

// readRecord reads the record of the tree as it stands; that of another tree says
// nothing of this one.
func readRecord(ctx context.Context) (*record, error) {
	tree, err := treeNow(ctx)
	if err != nil {
		return nil, err
	}
	r := &record{}
	text, err := os.ReadFile(recordFile)
	if err == nil {
		err = json.Unmarshal(text, r)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w; remove it to begin anew", recordFile, err)
	}
	if r.Tree != tree {
		*r = record{Tree: tree}
	}
	return r, nil
}

// treeNow names the commit, what was changed since, and the files that
// git neither has nor ignores.
func treeNow(ctx context.Context) (string, error) {
	sum := sha256.New()
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", args...).Output()
		if err != nil {
			return "", fmt.Errorf("git %s: %w", args[0], err)
		}
		sum.Write(out)
		return string(out), nil
	}
	_, head := git("rev-parse", "HEAD")
	_, changed := git("diff", "HEAD")
	untracked, err := git("ls-files", "-z", "--others", "--exclude-standard")
	if err := errors.Join(head, changed, err); err != nil {
		return "", err
	}
	for _, name := range strings.FieldsFunc(untracked, func(r rune) bool { return r == 0 }) {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		sum.Write(text)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

func (r *record) add(name string) {
	if !slices.Contains(r.Passed, name) {
		r.Passed = append(r.Passed, name)
	}
}

// without leaves out the parts that passed.
func (r *record) without(parts []part) []part {
	return slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return slices.Contains(r.Passed, p.name) })
}

func (r *record) write() error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(recordFile), 0o755)
	}
	if err == nil {
		err = os.WriteFile(recordFile, text, 0o644)
	}
	return err
}
