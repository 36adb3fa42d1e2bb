package crash

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// wrapped is the variable with the program that this test binary executes under strace.
const wrapped = "COUNTERSIGN_CRASH_WRAPPED"

func init() {
	if program := os.Getenv(wrapped); program != "" {
		panic(becomeWithoutSyncs(program)) // returns only after an error
	}
}

var stagesOfThisSystem = []stage{
	{name: "a sync fails", from: ready, program: withoutSyncs, acts: (*life).failedWrite, status: 1},
}

// withoutSyncs is a program that executes the one under test under a tracer that fails syncs.
func withoutSyncs(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

// becomeWithoutSyncs has each thread's syncs fail but for its first ones, which are those of the
// start. The tracer is the grandchild (-D), so that the service is the test's own child.
func becomeWithoutSyncs(program string) error {
	tracer, err := exec.LookPath("strace")
	if err != nil {
		return err
	}
	words := append([]string{tracer, "-D", "-f", "--seccomp-bpf", "-q", "-o", os.DevNull,
		"-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:error=EIO:when=15+", "--", program}, os.Args[1:]...)
	return syscall.Exec(tracer, words, os.Environ())
}
