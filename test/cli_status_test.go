package test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// TestEveryExitStatusIsTheOneThatIsPromised by docs/command-line.md.
func TestEveryExitStatusIsTheOneThatIsPromised(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.shop.On("POST", "/notes", harness.Answering(400, `{}`))
	failed := s.run(t, step("note", "note", doc{}))
	s.reaches(t, failed, "FAILED")
	waiting := s.run(t, refunding()["steps"].([]any)[0].(doc))
	s.reaches(t, waiting, "WAITING_APPROVAL")
	invalid := s.file(t, "invalid.json", planOf(step("x", "nothing-such", doc{})))
	nobody := "http://" + harness.UnusedAddress(t)
	for _, c := range []struct {
		status int
		says   string
		args   []string
	}{
		{0, "ok", []string{"health"}},
		{0, "Usage: countersign runs start", []string{"runs", "start", "--help"}},
		{0, "Usage: countersign <command>", []string{"help"}},
		{0, "Usage: countersign runs start", []string{"help", "runs", "start"}},
		{1, "invalid: ", []string{"plans", "create", invalid}},
		{1, "FAILED", []string{"runs", "watch", failed}},
		{2, "try 'countersign demo'", nil},
		{2, "unexpected argument frob", []string{"frob"}},
		{2, "see countersign runs start --help", []string{"runs", "start"}},
		{2, "no such file", []string{"plans", "create", filepath.Join(s.dir, "none.json")}},
		{2, "steps", []string{"plans", "create", s.file(t, "misspelt.json", doc{"name": "x", "step": 1})}},
		{2, "there is no profile nobody", []string{"runs", "list", "--profile", "nobody"}},
		{2, "--limit", []string{"runs", "list", "--limit", "201"}},
		{2, "would travel readable", []string{"runs", "list", "--url", "http://countersign.example.com", "--profile", "operator"}},
		{3, "role_required", []string{"audit", "verify"}},
		{3, "not_found", []string{"runs", "show", "run-none"}},
		{4, "--url", []string{"runs", "list", "--url", nobody}},
		{4, "connection refused", []string{"health", "--wait", "300ms", "--url", nobody}},
		{0, "ok", []string{"health", "--wait", "10s"}},
		{4, "with --key key-", []string{"runs", "start", "plan-1", "--url", nobody}},
		{5, "waits for an APPROVER", []string{"runs", "watch", waiting}},
	} {
		settings := s.settings
		if strings.Contains(c.says, "travel") {
			settings = map[string]string{"XDG_CONFIG_HOME": settings["XDG_CONFIG_HOME"], "COUNTERSIGN_TOKEN": "csn_x"}
		}
		r := harness.Run(t, settings, c.args...)
		if r.Status != c.status || !strings.Contains(r.Out+r.Err, c.says) {
			t.Errorf("countersign %v: exit status %d, expected %d and %q\n%s%s", c.args, r.Status, c.status, c.says, r.Out, r.Err)
		}
		if c.status != 0 && c.status != 1 && c.status != 5 && r.Out != "" {
			t.Errorf("countersign %v: standard output holds %q", c.args, r.Out)
		}
	}
	r := harness.Interrupt(t, s.settings, func(out string) bool { return strings.Contains(out, "WAITING_APPROVAL") }, "runs", "watch", waiting, "--wait")
	if r.Status != 130 || !strings.Contains(r.Out, "interrupted") {
		t.Errorf("an interrupted watch: %+v", r)
	}
}

// TestARefusedTokenIsNotKept: the command says how to sign in.
func TestARefusedTokenIsNotKept(t *testing.T) {
	t.Parallel()
	s := tenant(t)
	settings := map[string]string{"XDG_CONFIG_HOME": t.TempDir()}
	r := harness.Fed(t, settings, "csn_nobody\n", "login", s.URL)
	if r.Status != 3 || !strings.Contains(r.Err, "unauthenticated") || strings.Contains(r.Err, "csn_nobody") {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(settings["XDG_CONFIG_HOME"], "countersign")); !os.IsNotExist(err) {
		t.Errorf("something was kept: %v", err)
	}
	if r = harness.Run(t, settings, "login", s.URL); r.Status != 2 || !strings.Contains(r.Err, "no token came") {
		t.Errorf("%+v", r)
	}
	if r = harness.Run(t, settings, "runs", "list", "--url", s.URL); r.Status != 3 || !strings.Contains(r.Err, "countersign login") {
		t.Errorf("%+v", r)
	}
}

// TestAProfilesTokenGoesToItsOwnAddressOnly, also if a flag or variable names another address.
func TestAProfilesTokenGoesToItsOwnAddressOnly(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	var mu sync.Mutex
	var seen []string
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.Header.Get("Authorization"))
		http.Error(w, "{}", http.StatusUnauthorized)
	}))
	t.Cleanup(stranger.Close)
	elsewhere := map[string]string{"XDG_CONFIG_HOME": s.settings["XDG_CONFIG_HOME"], "COUNTERSIGN_URL": stranger.URL}
	for _, r := range []harness.Result{
		harness.Run(t, s.settings, "runs", "list", "--url", stranger.URL),
		harness.Run(t, s.settings, "runs", "list", "--url", stranger.URL, "--profile", "admin"),
		harness.Run(t, elsewhere, "runs", "list"),
		harness.Run(t, elsewhere, "approvals", "decide", "apr-1", "--approve", "--yes", "--reason", "x"),
	} {
		if r.Status != 4 {
			t.Errorf("%+v", r)
		}
	}
	if len(seen) != 4 {
		t.Fatalf("the stranger was asked %d times", len(seen))
	}
	for _, header := range seen {
		if header != "" {
			t.Errorf("a stranger was sent %q", header)
		}
	}
	prints(t, s.command(t, 0, "logout", "viewer").Out, "removed the sign-in viewer")
	prints(t, s.command(t, 2, "logout", "viewer").Err, "there is no profile")
	file, err := os.Stat(filepath.Join(s.settings["XDG_CONFIG_HOME"], "countersign", "profiles.json"))
	if err != nil || file.Mode().Perm() != 0o600 {
		t.Errorf("the file of the profiles: %v, %v", file, err)
	}
}
