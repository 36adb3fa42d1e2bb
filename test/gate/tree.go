package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/countersign/countersign/test/gotest"
)

// recordFile records which parts passed, so that a long run can be continued.
const recordFile = "bin/gate.json"

// treeNow identifies the present files, and the commit, from which the part that makes releases builds.
func treeNow(ctx context.Context) (string, error) {
	files, err := gotest.WorkingFiles(ctx, ".")
	if err != nil {
		return "", err
	}
	digest, err := gotest.Digest(".", files)
	if err != nil {
		return "", err
	}
	id, err := commitID(ctx, "HEAD")
	return id + " " + digest, err
}

func commitID(ctx context.Context, commit string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", "rev-parse", commit).Output()
	if err != nil {
		return "", fmt.Errorf("git rev-parse %s: %w", commit, err)
	}
	return strings.TrimSpace(string(out)), nil
}
