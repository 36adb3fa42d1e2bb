package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/evidence/archive"
)

// TestACommandThatIsRefusedSaysWhatToDo reads each message.
func TestACommandThatIsRefusedSaysWhatToDo(t *testing.T) {
	request := func(address string) *http.Request {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return &http.Request{URL: u}
	}
	here := request("https://a.example/openapi.json")
	_, changed := leafOf(countersign.AuditRecord{Seq: 7, Hash: "00"})
	for _, test := range []struct {
		err  error
		want string
	}{
		{sameOrigin(request("https://b.example/x"), []*http.Request{here}), "it redirects to https://b.example; name that address if you trust it"},
		{sameOrigin(here, []*http.Request{here, here, here, here, here, here}), "it redirects too often"},
		{changed, "record 7 does not match its hash; a command older than the service computes other hashes, so try the service's version first"},
		{withRevision(client.ErrRevisionConflict), "revision_conflict:  (here with --revision)"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("\n got %v\nwant %s", test.err, test.want)
		}
	}
}

// TestAStartWithoutAnAnswerSaysHowItIsRepeated: whether the run was started isn't known.
func TestAStartWithoutAnAnswerSaysHowItIsRepeated(t *testing.T) {
	t.Setenv(envToken, "a-token-for-a-test")
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer service.Close()
	const want = "countersign: POST /runs: EOF; repeat the command with --key k-1: it starts the run only if it was not started\n" +
		"countersign: is the service there? 'countersign profiles' shows where it is looked for; --url or COUNTERSIGN_URL says otherwise\n"
	if got := command(t, "runs", "start", "plan-1", "--key", "k-1", "--url", service.URL); got.status != ExitUnreachable || got.errs != want {
		t.Errorf("exit status %d\n got %s\nwant %s", got.status, got.errs, want)
	}
}

// TestAnArchiveWithoutTheRunSaysSo.
func TestAnArchiveWithoutTheRunSaysSo(t *testing.T) {
	const want = "runs.gz holds no run run-1"
	t.Chdir(t.TempDir())
	file, err := archive.Encode("acme", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("runs.gz", file, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = (&ArchiveShow{File: "runs.gz", ID: "run-1"}).Run(&Terminal{Context: t.Context(), Out: &out, Errs: &out})
	if err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}
