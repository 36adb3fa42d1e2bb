package restart

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkBytes: a start reads each page at most twice, by the kernel's count, to look for damage: SQLite's check goes through all trees, and
// then through the rows of each table, whose pages it still has in memory only if the table is small. So with a longer history it reads at
// most twice as many more bytes as the history takes on the disk. Costs that all starts have in common cancel out.
func checkBytes(t *testing.T, at []reading) {
	t.Helper()
	first, last := at[0], at[len(at)-1]
	t.Logf("with n, 2n and 4n runs a start reads, and the store has: %+v bytes", at)
	if more, of := last.read-first.read, last.size-first.size; of <= 0 || more > 2*of {
		t.Errorf("the store grew by %d bytes, and a start reads %d bytes more", of, more)
	}
}

// measure is what a process has read so far by the kernel's count, from the cache or the disk, and the size of the database.
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
