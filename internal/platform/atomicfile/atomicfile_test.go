package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/internal/platform/atomicfile"
)

func TestAFileIsWholeOrTheOneBefore(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	write := func(text string, err error) error {
		return atomicfile.Create(path, func(w io.Writer) error {
			_, failed := io.WriteString(w, text)
			return errors.Join(failed, err)
		})
	}
	broken := errors.New("broken off")
	if err := write("one", nil); err != nil {
		t.Fatal(err)
	}
	if err := write("tw", broken); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "one" {
		t.Errorf("%q, %v", text, err)
	}
	if err := write("two", nil); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%v is left, %v", left, err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "two" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestWhatIsNotThereCannotBeMadeDurable(t *testing.T) {
	if err := atomicfile.Sync(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
