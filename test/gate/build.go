package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/countersign/countersign/test/gotest"
)

// outputs is where the service's binary goes, and what the go command tells of each
// part.
const outputs = "bin/gate"

// build builds the service as the parts build their tests, each with its flags. It
// comes before them: on an empty build cache each of them would compile it.
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

// program is the service's binary that a part drives, and the flags that it is built
// with.
func (p part) program() (path string, flags []string) {
	if strings.Contains(p.flags, race) {
		return filepath.Join(outputs, "countersign-race"), gotest.Race
	}
	return filepath.Join(outputs, "countersign"), nil
}

// environment is a part's: it names its binary, by a path that holds in every folder.
func (p part) environment() ([]string, error) {
	path, _ := p.program()
	path, err := filepath.Abs(path)
	return append(os.Environ(), gotest.ProgramVariable+"="+path), err
}
