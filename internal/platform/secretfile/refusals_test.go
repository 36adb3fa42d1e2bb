package secretfile_test

import (
	"os"
	"testing"

	"github.com/countersign/countersign/internal/platform/secretfile"
)

// TestAFileThatIsNoSecretsSaysWhy reads each message.
func TestAFileThatIsNoSecretsSaysWhy(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("large", make([]byte, secretfile.MaxBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		".":     ". is no plain file",
		"large": "large is larger than 65536 bytes: it holds something else",
		"none":  "none can't be read: no such file or directory",
	} {
		if _, err := secretfile.Read(path); err == nil || err.Error() != want {
			t.Errorf("%v\nnot %s", err, want)
		}
	}
}
