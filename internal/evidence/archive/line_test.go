package archive_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/evidence/archive"
)

// TestARunThatIsThereTwiceIsNamed: the file can be whole by its own digest.
func TestARunThatIsThereTwiceIsNamed(t *testing.T) {
	doc, err := archive.Encode("acme", append(sample(), sample()[0]))
	if err != nil {
		t.Fatal(err)
	}
	_, err = archive.Read(bytes.NewReader(doc), func(archive.Entry) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "run-1") {
		t.Errorf("a run that is there twice: %v", err)
	}
}
