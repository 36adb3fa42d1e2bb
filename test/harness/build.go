package harness

import (
	"fmt"
	"os/exec"
	"path/filepath"
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
