package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// programInTest is the environment variable that names the service's binary to
// test/harness: one build for all packages that drive it.
const programInTest = "COUNTERSIGN_TEST_BINARY"

// outputs is where the service's binary goes, and what the go command tells of each
// part.
const outputs = "bin/gate"

// build builds the service with the race detector, as the parts build their tests.
// It comes before them: on an empty build cache each of them would compile it.
func (g *gate) build(ctx context.Context) error {
	const name = "the service's build"
	g.begin(name)
	defer g.end(name, false)
	path, err := filepath.Abs(filepath.Join(outputs, "countersign"))
	if err != nil {
		return err
	}
	args := append([]string{"build", "-o", path}, strings.Fields(race)...)
	if out, err := command(ctx, "go", append(args, "./cmd/countersign")...).CombinedOutput(); err != nil {
		return fmt.Errorf("go build ./cmd/countersign: %w\n%s", err, out)
	}
	return os.Setenv(programInTest, path)
}
