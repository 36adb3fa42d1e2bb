package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// TestAuditVerifyEndsAsTheLogIs: the exit status depends on the log, with a kept head and
// without.
func TestAuditVerifyEndsAsTheLogIs(t *testing.T) {
	t.Setenv(terminal.EnvToken, "a-token-for-a-test")
	head := strings.Repeat("0", 64)
	for answer, want := range map[string]int{
		`{"intact":true,"records":0,"head":"` + head + `"}`:                  0,
		`{"intact":false,"records":3,"head":"` + head + `","firstBroken":1}`: terminal.ExitFailed,
	} {
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, answer)
		}))
		got := command(t, "audit", "verify", "--url", service.URL)
		if got.status != want {
			t.Errorf("%s: exit status %d, want %d; %s", answer, got.status, want, got.errs)
		}
		if want != 0 {
			if got := command(t, "audit", "verify", "--url", service.URL, "--head", head, "--records", "3"); got.status != want {
				t.Errorf("%s, with a head: exit status %d; %s", answer, got.status, got.errs)
			}
		}
		service.Close()
	}
}
