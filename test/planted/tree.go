package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/countersign/countersign/test/gotest"
)

// tree is a copy of the working tree. It is never written to: a bug is an overlay of files that the go command
// reads instead of the tree's. So bugs that are tried concurrently share one copy and its build cache, and an
// interrupted run leaves no bug behind.
type tree struct {
	dir     string
	goflags string // the machine's GOFLAGS, to which a bug's overlay is added
	overlay string // "" without a bug
	digest  string // of all files except the hints, which have no influence on the result
}

// newTree copies the working tree below root to dir, so that edits of the working tree don't disturb the run.
func newTree(ctx context.Context, root, dir string) (tree, error) {
	files, err := gotest.WorkingFiles(ctx, root)
	if err != nil {
		return tree{}, err
	}
	for _, name := range files {
		err := copyFile(filepath.Join(root, name), filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // the file is deleted, but the deletion is not committed
			return tree{}, err
		}
	}
	digest, err := gotest.Digest(dir, slices.DeleteFunc(files, func(name string) bool { return name == hintsFile }))
	if err != nil {
		return tree{}, err
	}
	flags, err := exec.CommandContext(ctx, "go", "env", "GOFLAGS").Output()
	if err != nil {
		return tree{}, fmt.Errorf("go env: %w", err)
	}
	// Without -trimpath the build cache of another copy could not be used.
	return tree{dir: dir, goflags: strings.TrimSpace(string(flags) + " -trimpath"), digest: digest}, nil
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

// plant returns the tree with a bug; the changed files are in dir.
func (t tree) plant(b *bug, dir string) (tree, error) {
	contents := map[string]string{}
	for _, e := range b.edits {
		content, seen := contents[e.file]
		if !seen {
			text, err := os.ReadFile(filepath.Join(t.dir, filepath.FromSlash(e.file)))
			if err != nil {
				return t, err
			}
			content = string(text)
		}
		buggy, err := e.apply(content)
		if err != nil {
			return t, err
		}
		contents[e.file] = buggy
	}
	var err error
	t.overlay, err = t.writeOverlay(contents, dir)
	return t, err
}

func (t tree) writeOverlay(contents map[string]string, dir string) (path string, err error) {
	replace := map[string]string{}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for file, content := range contents {
		buggy := filepath.Join(dir, fmt.Sprintf("%d-%s", len(replace), filepath.Base(file)))
		if err := os.WriteFile(buggy, []byte(content), 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(t.dir, filepath.FromSlash(file))] = buggy
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o644)
}

// environment is the environment of every go command in the tree, also of those that its tests call: they build
// the service, so they must read the bug too. A binary of the service without the bug would hide it.
func (t tree) environment() []string {
	flags := t.goflags
	if t.overlay != "" {
		flags += " -overlay=" + t.overlay
	}
	var out []string
	for _, set := range os.Environ() {
		if !strings.HasPrefix(set, gotest.ProgramVariable+"=") {
			out = append(out, set)
		}
	}
	return append(out, "GOFLAGS="+flags)
}
