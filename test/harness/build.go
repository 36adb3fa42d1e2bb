package harness

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const command = "github.com/countersign/countersign/cmd/countersign"

// binary is the program under test, built once by Build.
var binary string

// Build builds the program under test into dir, with the race detector where the
// tests have it.
func Build(dir string) error {
	binary = filepath.Join(dir, "countersign")
	args := []string{"build", "-o", binary}
	if raced {
		args = append(args, "-race")
	}
	out, err := exec.Command("go", append(args, command)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go build %s: %w\n%s", command, err, out)
	}
	return nil
}

// program is the path of the binary, for a test that runs it. `go test` reuses a
// result while nothing that the tests looked at has changed, and doesn't see what
// Build looks at: so the first test that runs the program looks at its sources,
// without which a broken product would pass.
func program(t testing.TB) string {
	t.Helper()
	noticed.Do(func() {
		if err := noticeSources(".."); err != nil {
			t.Fatal(err)
		}
	})
	return binary
}

var noticed sync.Once

func noticeSources(root string) error {
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
