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

// commit is the state of the repository that a release is made of.
type commit struct {
	dir string    // a clone of its own, so that nothing uncommitted gets into a release
	id  string    // in full
	at  time.Time // the time of every file in an archive
}

// checkout clones the last commit into a directory below dir.
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

// output runs a program and gives what it prints; a failure says what it said.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var said strings.Builder
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, said.String())
	}
	return string(text), nil
}
