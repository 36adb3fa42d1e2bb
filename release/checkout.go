package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// commit is the commit from which a release is built.
type commit struct {
	dir string    // a separate clone, so that a release has no uncommitted changes
	id  string    // the full hash
	at  time.Time // time of the commit, and of each file in an archive
}

// checkout clones the last commit of root into the directory name below dir.
func checkout(ctx context.Context, root, dir, name string) (c commit, err error) {
	c.dir = filepath.Join(dir, name)
	line, err := output(ctx, root, nil, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return c, err
	}
	id, seconds, _ := strings.Cut(strings.TrimSpace(line), " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return c, err
	}
	c.id, c.at = id, time.Unix(unix, 0).UTC()
	if _, err := output(ctx, root, nil, "git", "clone", "--quiet", "--shared", "--no-checkout", root, c.dir); err != nil {
		return c, err
	}
	_, err = output(ctx, c.dir, nil, "git", "checkout", "--quiet", "--detach", c.id)
	return c, err
}

// output runs a program and returns its standard output. The error of a failed program has
// its standard error.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(text), nil
}
