package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tree is a copy of the working tree that bugs are planted in.
type tree struct{ dir string }

// workingFiles are what git knows of the working tree and what it would add, so
// that tests which are not committed yet count, and what is built or left behind
// is not copied.
func workingFiles(ctx context.Context, root string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files in %s: %w", root, err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}

// newTree copies the files into a temporary directory. One that is deleted and
// not committed is left out.
func newTree(from string, files []string) (tree, error) {
	dir, err := os.MkdirTemp("", "countersign-planted-")
	if err != nil {
		return tree{}, err
	}
	t := tree{dir}
	for _, name := range files {
		if err := copyFile(filepath.Join(from, name), filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return tree{}, errors.Join(err, t.remove())
		}
	}
	return t, nil
}

func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, info.Mode().Perm())
}

func (t tree) remove() error { return os.RemoveAll(t.dir) }

// plant makes a bug's edits. restore undoes them, also those of a bug that could
// not be planted whole.
func (t tree) plant(b *bug) (restore func() error, err error) {
	original := map[string]string{}
	restore = func() error {
		var errs []error
		for path, content := range original {
			errs = append(errs, os.WriteFile(path, []byte(content), 0o644))
		}
		return errors.Join(errs...)
	}
	for _, e := range b.edits {
		path := filepath.Join(t.dir, filepath.FromSlash(e.file))
		content, err := os.ReadFile(path)
		if err != nil {
			return restore, err
		}
		if _, seen := original[path]; !seen {
			original[path] = string(content)
		}
		buggy, err := e.apply(string(content))
		if err != nil {
			return restore, err
		}
		if err := os.WriteFile(path, []byte(buggy), 0o644); err != nil {
			return restore, err
		}
	}
	return restore, nil
}
