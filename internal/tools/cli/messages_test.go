package cli

import (
	"bytes"
	"net/http"
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
