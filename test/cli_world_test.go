package test

import (
	encoding "encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// shell is a folder of sign-ins in which commands are given.
type shell struct {
	*world
	dir      string
	settings map[string]string
}

// newShell is a shell with the profiles admin, operator, approver and viewer; the
// operator's is the current one.
func newShell(t *testing.T, settings ...harness.Setting) *shell {
	t.Helper()
	s := &shell{world: ownWorld(t, settings...), dir: t.TempDir()}
	s.settings = map[string]string{"XDG_CONFIG_HOME": filepath.Join(s.dir, "conf")}
	s.signIn(t, "admin", s.Settings()["SVC_PLATFORM_BOOTSTRAP_TOKEN"])
	for _, name := range []string{"approver", "viewer", "operator"} {
		_, made := s.token(t, doc{"roles": []string{strings.ToUpper(name)}})
		s.signIn(t, name, made.At("token").Text())
	}
	return s
}

func (s *shell) signIn(t *testing.T, profile, token string) {
	t.Helper()
	if r := harness.Fed(t, s.settings, token+"\n", "login", s.URL, "--profile", profile); r.Status != 0 || strings.Contains(r.Out+r.Err, token) {
		t.Fatalf("login: %+v", r)
	}
}

// command runs a command, which must end with this status.
func (s *shell) command(t *testing.T, status int, args ...string) harness.Result {
	t.Helper()
	r := harness.Run(t, s.settings, args...)
	if r.Status != status {
		t.Fatalf("countersign %s: exit status %d, expected %d\n%s%s", strings.Join(args, " "), r.Status, status, r.Out, r.Err)
	}
	return r
}

// asked runs a command with -o json and gives what it printed.
func (s *shell) asked(t *testing.T, args ...string) json {
	t.Helper()
	r := s.command(t, 0, append(args, "-o", "json")...)
	v, err := harness.Parse([]byte(r.Out))
	if err != nil {
		t.Fatalf("countersign %v: %v\n%s", args, err, r.Out)
	}
	return v
}

// file writes a document into the shell's folder and gives its path.
func (s *shell) file(t *testing.T, name string, document any) string {
	t.Helper()
	text, err := encoding.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// prints checks that a text holds each part.
func prints(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
	}
}

// word is what follows a name in the lines of facts.
func word(t *testing.T, text, name string) string {
	t.Helper()
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			return f[1]
		}
	}
	t.Fatalf("no line %q in\n%s", name, text)
	return ""
}

// refunding is a LIVE plan of one refund, which asks for approval.
func refunding() doc {
	return planOf(expecting(step("refund", "refund", doc{"orderId": "A-1", "amount": 10}), "ok", true))
}
