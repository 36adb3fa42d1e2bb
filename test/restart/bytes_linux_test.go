package restart

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkBytes: a start reads each page once, as the kernel counts it, since it looks
// for damage; what it reads more of a longer history is what that takes on the disk,
// and not that and its runs besides. What all starts have in common cancels out.
func checkBytes(t *testing.T, at []reading) {
	t.Helper()
	first, last := at[0], at[len(at)-1]
	t.Logf("with n, 2n and 4n runs a start reads, and the store has: %+v bytes", at)
	if more, of := last.read-first.read, last.size-first.size; of <= 0 || more > of+of/4 {
		t.Errorf("the store grew by %d bytes, and a start reads %d bytes more", of, more)
	}
}

// measure is what a process has asked the kernel to read so far, from the cache or
// not, and the size of a database that was closed in order before.
func measure(t *testing.T, pid int, dir string) (r reading) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if _, err := fmt.Sscanf(line, "rchar: %d", &r.read); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	info, err := os.Stat(filepath.Join(dir, "countersign.db"))
	if err != nil {
		t.Fatal(err)
	}
	r.size = info.Size()
	return r
}
