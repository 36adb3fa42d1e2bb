// Package golden compares texts with those that were recorded, and shows where they differ.
package golden

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Want compares got with what the file has, or writes it there. A change of the file is read as a diff.
func Want(t testing.TB, file, got string, update bool) {
	t.Helper()
	if update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if differs := Difference(string(want), got); differs != "" {
		t.Errorf("%s differs (-update rewrites it): - is recorded, + is so now\n%s", file, differs)
	}
}

// Difference shows the lines in which two texts differ, with some around them: "" for equal ones.
func Difference(was, is string) string {
	return cmp.Diff(strings.Split(was, "\n"), strings.Split(is, "\n"))
}
