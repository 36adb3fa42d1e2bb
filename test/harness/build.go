package harness

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/test/gotest"
)

const command = "github.com/countersign/countersign/cmd/countersign"

// binary is the program under test, built once by Build.
var binary string

// Main builds the program and runs the tests of a package that uses it.
func Main(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "countersign-test-")
	if err == nil {
		err = Build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// Build builds the program under test into dir; see AsTested.
func Build(dir string, flags ...string) (err error) {
	sharedServers.dir = dir
	binary, err = AsTested(dir, "countersign", flags...)
	return err
}

// AsTested builds the program into dir with these flags, and with the race detector if the tests have
// it, and returns its path. Without flags it returns the binary in COUNTERSIGN_TEST_BINARY if that is
// set: a caller that runs several packages builds the program once.
func AsTested(dir, name string, flags ...string) (path string, err error) {
	if built := os.Getenv(gotest.ProgramVariable); built != "" && len(flags) == 0 {
		return filepath.Abs(built)
	}
	return BuildAs(dir, name, slices.Concat(asTested, flags)...)
}

// BuildAs builds the program into dir with only these flags, and returns its path; see Server.Use.
func BuildAs(dir, name string, flags ...string) (path string, err error) {
	path = filepath.Join(dir, name)
	args := slices.Concat([]string{"build", "-o", path}, gotest.Stripped, flags, []string{command})
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", command, err, out)
	}
	return path, nil
}

// program is the path of the binary, for a test that runs it. `go test` reuses a cached result unless
// a file that the tests read has changed, and doesn't notice what a build reads. So the first test
// that runs the program reads its sources; otherwise tests of a changed program would not run again.
func program(t testing.TB) string {
	t.Helper()
	lookedAt.Do(func() {
		if err := lookAtSources(sourceRoot()); err != nil {
			t.Fatal(err)
		}
	})
	return binary
}

// Binary is the path of the program, for a script that runs it.
func Binary(t testing.TB) string { return program(t) }

var lookedAt sync.Once

// sourceRoot is the directory of go.mod, above the directory of the test.
func sourceRoot() string {
	root := ".."
	for range 8 {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Join(root, "..")
	}
	return root
}

func lookAtSources(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case slices.Contains([]string{".go", ".sql", ".mod", ".sum"}, filepath.Ext(path)):
			_, err = os.Stat(path)
		}
		return err
	})
}
