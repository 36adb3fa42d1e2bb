package gotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestARecordIsOfItsTree: a changed, added or removed file makes another tree, also if it is not committed; a file that
// git ignores does not.
func TestARecordIsOfItsTree(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	record := func() *Record[bool] {
		t.Helper()
		files, err := WorkingFiles(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := Digest(dir, files)
		if err != nil {
			t.Fatal(err)
		}
		r, err := ReadRecord[bool](filepath.Join(dir, "bin", "record.json"), tree)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	write(".gitignore", "/bin/\n")
	write("known.go", "package a")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}} {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git: %v\n%s", err, out)
		}
	}
	write("new.go", "package a")
	r := record()
	r.Results["part"] = true
	if err := r.Write(); err != nil {
		t.Fatal(err)
	}
	if !record().Results["part"] {
		t.Error("the record of the same tree is lost")
	}
	for _, name := range []string{"new.go", "known.go"} {
		write(name, "package b")
		if record().Results["part"] {
			t.Errorf("%s changed, and the record is still read", name)
		}
		write(name, "package a")
	}
	if err := os.Remove(filepath.Join(dir, "known.go")); err != nil {
		t.Fatal(err)
	}
	if record().Results["part"] {
		t.Error("a file is gone, and the record is still read")
	}
}
