package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/countersign/countersign/test/gotest"
)

// outputs is the directory of the service's binary and of the go command's output for each part.
const outputs = "bin/gate"

// build builds the service with the flags of each part before the parts run, and has vet look at everything: with an
// empty build cache each part would compile what two of them need, since calls of the go command that run at the same
// time don't wait for each other. Vet compiles the packages that the tests without the race detector import, so it runs
// behind the build without it and beside the build with it, which share nothing.
func (g *gate) build(ctx context.Context, parts []part) error {
	const name = "the service's build"
	g.begin(name)
	defer g.end(name, false)
	if err := g.buildOnce(ctx, parts, false); err != nil {
		return err
	}
	var compiled sync.WaitGroup
	compiled.Go(func() { g.compile(ctx, parts) })
	err := g.buildOnce(ctx, parts, true)
	compiled.Wait()
	return err
}

// buildOnce builds the service for the parts that have the race detector, or for those that don't.
func (g *gate) buildOnce(ctx context.Context, parts []part, withRace bool) error {
	at := slices.IndexFunc(parts, func(p part) bool { return p.raced() == withRace })
	if at < 0 {
		return nil
	}
	path, flags := parts[at].program()
	args := slices.Concat([]string{"build", "-o", path}, gotest.Stripped, flags, []string{"./cmd/countersign"})
	if out, err := command(ctx, "go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go build ./cmd/countersign: %w\n%s", err, out)
	}
	return nil
}

// compile runs the commands of parts that compile what other parts need too. If one fails, its part fails.
func (g *gate) compile(ctx context.Context, parts []part) {
	for _, p := range parts {
		if p.compiles != "" {
			g.get(ctx, p, p.compiles)
		}
	}
}

// get runs a command without which a part can't run.
func (g *gate) get(ctx context.Context, p part, line string) {
	if !g.runCommand(ctx, p, line) {
		g.mu.Lock()
		g.unready[p.name] = true
		g.mu.Unlock()
	}
}

func (p part) raced() bool { return strings.Contains(p.flags, race) }

// program is the binary of the service that a part runs, and its build flags.
func (p part) program() (path string, flags []string) {
	if p.raced() {
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
