package gotest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// WorkingFiles are the paths below root that git tracks, and the untracked ones that it doesn't ignore: uncommitted tests
// count, build outputs don't.
func WorkingFiles(ctx context.Context, root string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files in %s: %w", root, err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}

// Digest is the digest of the files below root. It ignores a file that was deleted without a commit.
func Digest(root string, files []string) (string, error) {
	sum := sha256.New()
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}
