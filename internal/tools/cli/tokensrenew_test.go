package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// TestARenewedTokenThatCannotBeWrittenIsShown: the service gives it once, and has renewed the one before.
func TestARenewedTokenThatCannotBeWrittenIsShown(t *testing.T) {
	t.Setenv(terminal.EnvToken, "a-token-for-a-test")
	file := filepath.Join(t.TempDir(), "metrics.token")
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if err := os.MkdirAll(filepath.Join(file, "taken"), 0o700); err != nil { // meanwhile, so that the file can't take its place
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"id":"tok-2","name":"monitor","token":"csn_new","reads":["metrics"]}`)
	}))
	defer service.Close()
	got := command(t, "tokens", "renew", "--out", file, "--url", service.URL)
	if got.status == 0 || !strings.Contains(got.out, "csn_new") || !strings.Contains(got.errs, "the token was renewed and couldn't be written; it is shown above, only this once: ") {
		t.Errorf("exit status %d\n%s\n%s", got.status, got.out, got.errs)
	}
}
