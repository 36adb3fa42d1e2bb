package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/countersign/countersign/test/gotest"
)

// outputs is the directory of the service's binary and of the go command's output for each part.
const outputs = "bin/gate"

// build builds the service with the flags of each part before the parts run: with an empty build cache
// each of them would compile it.
func (g *gate) build(ctx context.Context, parts []part) error {
	const name = "the service's build"
	g.begin(name)
	defer g.end(name, false)
	for _, p := range parts {
		path, flags := p.program()
		if slices.Contains(g.built, path) {
			continue
		}
		args := append([]string{"build", "-o", path}, flags...)
		if out, err := command(ctx, "go", append(args, "./cmd/countersign")...).CombinedOutput(); err != nil {
			return fmt.Errorf("go build ./cmd/countersign: %w\n%s", err, out)
		}
		g.built = append(g.built, path)
	}
	return nil
}

// program is the binary of the service that a part runs, and its build flags.
func (p part) program() (path string, flags []string) {
	if strings.Contains(p.flags, race) {
		return filepath.Join(outputs, "countersign-race"), gotest.Race
	}
	return filepath.Join(outputs, "countersign"), nil
}

// environment is the environment of a part, with the absolute path of its binary.
func (p part) environment() ([]string, error) {
	path, _ := p.program()
	path, err := filepath.Abs(path)
	return append(os.Environ(), gotest.ProgramVariable+"="+path), err
}

// trimPaths makes the go command, of parts and of tests too, build with -trimpath. Without it a build depends on
// the path of the working tree, so a new clone would compile all packages again, whatever the build cache has.
func trimPaths(ctx context.Context) error {
	flags, err := exec.CommandContext(ctx, "go", "env", "GOFLAGS").Output()
	if err != nil {
		return fmt.Errorf("go env GOFLAGS: %w", err)
	}
	return os.Setenv("GOFLAGS", strings.TrimSpace(strings.TrimSpace(string(flags))+" -trimpath"))
}
