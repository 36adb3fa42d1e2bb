package secretfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/platform/secretfile"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFileIsReadAtEachUse: a change is seen at the next use, also one that keeps length and
// time, in place, by a replacement, or by a removal.
func TestFileIsReadAtEachUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	s := secretfile.New(map[string]string{"KEY_FILE": path}, "KEY")
	for _, want := range []string{"first", "other", "third"} {
		write(t, path, want+"\n")
		if got := s.Get("KEY"); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	replacement := path + ".new"
	write(t, replacement, "fourth")
	if err := os.Rename(replacement, path); err != nil {
		t.Fatal(err)
	}
	if got := s.Get("KEY"); got != "fourth" {
		t.Errorf("a file that was replaced gives %q", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Look("KEY"); got != "" || err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a file that is gone gives %q, %v", got, err)
	}
}

func TestOneLineEndIsDropped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	for text, want := range map[string]string{"": "", "a": "a", "a\n": "a", "a\r\n": "a", "a\n\n": "a\n", "a b\t\n": "a b\t"} {
		write(t, path, text)
		if got, err := secretfile.Read(path); got != want || err != nil {
			t.Errorf("%q gives %q, %v", text, got, err)
		}
	}
}

func TestWhatIsNoSecretIsNotReadOn(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	write(t, large, strings.Repeat("x", secretfile.MaxBytes+1))
	for _, path := range []string{dir, large, os.DevNull, filepath.Join(dir, "none")} {
		if got, err := secretfile.Read(path); got != "" || err == nil {
			t.Errorf("%s gives %d bytes, %v", path, len(got), err)
		}
	}
	write(t, large, strings.Repeat("x", secretfile.MaxBytes))
	if got, err := secretfile.Read(large); len(got) != secretfile.MaxBytes || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestNameOnTheListsIsNoPath: an operator may have named a secret SOMETHING_FILE before
// this rule existed.
func TestNameOnTheListsIsNoPath(t *testing.T) {
	s := secretfile.New(map[string]string{"KEY": "a", "KEY_FILE": "b"}, "KEY", "KEY_FILE")
	if s.Get("KEY") != "a" || s.Get("KEY_FILE") != "b" || s.Twice("KEY") {
		t.Errorf("%q %q", s.Get("KEY"), s.Get("KEY_FILE"))
	}
	if s := secretfile.New(map[string]string{"KEY": "a", "KEY_FILE": "b"}, "KEY"); !s.Twice("KEY") {
		t.Error("which of the two counts?")
	}
}

func BenchmarkGet(b *testing.B) {
	path := filepath.Join(b.TempDir(), "key")
	if err := os.WriteFile(path, []byte(strings.Repeat("k", 44)), 0o600); err != nil {
		b.Fatal(err)
	}
	s := secretfile.New(map[string]string{"KEY_FILE": path}, "KEY")
	for b.Loop() {
		if s.Get("KEY") == "" {
			b.Fatal("nothing")
		}
	}
}
