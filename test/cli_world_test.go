package test

import (
	encoding "encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

// shell is a directory of sign-ins in which commands run.
type shell struct {
	*world
	dir      string
	address  string // address of the server for commands
	settings map[string]string
}

// newShell is a shell with the profiles admin, operator, approver and viewer; the operator's is the current one. Like a world it
// has its own tenant, and with settings its own server.
func newShell(t *testing.T, settings ...harness.Setting) *shell {
	t.Helper()
	return shellIn(t, newWorld(t, settings...))
}

// ownShell is a shell on its own server.
func ownShell(t *testing.T) *shell {
	t.Helper()
	return shellIn(t, ownWorld(t))
}

func shellIn(t *testing.T, w *world) *shell {
	t.Helper()
	s := &shell{world: w, dir: t.TempDir(), address: w.ForCommands()}
	s.settings = map[string]string{"XDG_CONFIG_HOME": filepath.Join(s.dir, "conf")}
	s.signInAll(t, map[string]*harness.Client{"admin": w.Admin, "approver": w.approver, "viewer": w.viewer, "operator": w.operator})
	return s
}

// signIns caches the sign-ins of the first shell: the files of others differ only in tokens and address.
var signIns struct {
	sync.Mutex
	path    string // below the configuration directory
	text    string
	address string
	tokens  map[string]string
}

// signInAll makes the sign-ins of a shell.
func (s *shell) signInAll(t *testing.T, who map[string]*harness.Client) {
	t.Helper()
	signIns.Lock()
	defer signIns.Unlock()
	if signIns.text == "" {
		s.signInEach(t, who)
		return
	}
	replaced := []string{signIns.address, s.address}
	for name, token := range signIns.tokens {
		replaced = append(replaced, token, who[name].Token())
	}
	path := filepath.Join(s.settings["XDG_CONFIG_HOME"], signIns.path)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.NewReplacer(replaced...).Replace(signIns.text)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// signInEach signs in by command and caches the result.
func (s *shell) signInEach(t *testing.T, who map[string]*harness.Client) {
	t.Helper()
	tokens := map[string]string{}
	for _, name := range []string{"admin", "approver", "viewer", "operator"} {
		tokens[name] = who[name].Token()
		s.signIn(t, name, tokens[name])
	}
	path := filepath.Join("countersign", "profiles.json")
	text, err := os.ReadFile(filepath.Join(s.settings["XDG_CONFIG_HOME"], path))
	if err != nil {
		t.Fatal(err)
	}
	signIns.path, signIns.text, signIns.address, signIns.tokens = path, string(text), s.address, tokens
}

func (s *shell) signIn(t *testing.T, profile, token string) {
	t.Helper()
	if r := harness.Fed(t, s.settings, token+"\n", "login", s.address, "--profile", profile); r.Status != 0 || strings.Contains(r.Out+r.Err, token) {
		t.Fatalf("login: %+v", r)
	}
}

// command runs a command, which must end with this exit status.
func (s *shell) command(t *testing.T, status int, args ...string) harness.Result {
	t.Helper()
	r := harness.Run(t, s.settings, args...)
	if r.Status != status {
		t.Fatalf("countersign %s: exit status %d, expected %d\n%s%s", strings.Join(args, " "), r.Status, status, r.Out, r.Err)
	}
	return r
}

// asked runs a command with -o json and returns its output.
func (s *shell) asked(t *testing.T, args ...string) json {
	t.Helper()
	r := s.command(t, 0, append(args, "-o", "json")...)
	v, err := harness.Parse([]byte(r.Out))
	if err != nil {
		t.Fatalf("countersign %v: %v\n%s", args, err, r.Out)
	}
	return v
}

// file writes a document into the shell's directory and returns its path.
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

// prints checks that a text contains each part.
func prints(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
	}
}

// word is the value of a name in the lines of facts.
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
