package cli

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/countersign/countersign/internal/tools/cli/terminal"
)

// TestAStartWithoutAnAnswerSaysHowItIsRepeated: whether the run was started isn't known.
func TestAStartWithoutAnAnswerSaysHowItIsRepeated(t *testing.T) {
	t.Setenv(terminal.EnvToken, "a-token-for-a-test")
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer service.Close()
	const want = "countersign: POST /runs: EOF; repeat the command with --key k-1: it starts the run only if it was not started\n" +
		"countersign: is the service there? 'countersign profiles' shows where it is looked for; --url or COUNTERSIGN_URL says otherwise\n"
	if got := command(t, "runs", "start", "plan-1", "--key", "k-1", "--url", service.URL); got.status != terminal.ExitUnreachable || got.errs != want {
		t.Errorf("exit status %d\n got %s\nwant %s", got.status, got.errs, want)
	}
}
