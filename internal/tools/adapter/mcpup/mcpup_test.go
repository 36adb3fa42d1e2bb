package mcpup_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/tools/adapter/file"
	"github.com/countersign/countersign/internal/tools/adapter/mcpup"
	up "github.com/countersign/countersign/internal/tools/adapter/upstream"
)

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

var secrets = map[string]string{"SIGN": "the-secret-of-the-adapter", "GIVEN": "a value", "A_TOKEN": "token-of-the-tool"}

func look(name string) (string, error) { return secrets[name], nil }

// served is an upstream whose tools were imported as they are now.
type served struct {
	up.Upstream
	t   *testing.T
	dir string
}

func command(dir string) file.MCP {
	return file.MCP{Command: []string{os.Args[0], "as-server", dir}, Env: []string{"GIVEN", "A_TOKEN"}}
}

// imported lists all tools of a server, those named as refusing ones.
func imported(t *testing.T, cfg file.MCP, refusing ...string) file.MCP {
	t.Helper()
	tools, err := mcpup.Look(t.Context(), &cfg, look, quiet())
	if err != nil {
		t.Fatal(err)
	}
	cfg.Tools = map[string]file.Tool{}
	for _, tool := range tools {
		cfg.Tools[tool.Name] = file.Tool{Digest: tool.Digest(), Refusal: strings.Contains(strings.Join(refusing, " "), tool.Name)}
	}
	return cfg
}

func serve(t *testing.T, refusing ...string) *served {
	t.Helper()
	dir := t.TempDir()
	return of(t, dir, imported(t, command(dir), refusing...))
}

func of(t *testing.T, dir string, cfg file.MCP) *served {
	t.Helper()
	u, err := mcpup.New(&file.Upstream{Name: "fake", SecretEnv: "SIGN", MCP: &cfg}, look, nil, quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.Close)
	return &served{u, t, dir}
}

// call calls a tool and returns the answer, the unknown or the problem, as a text.
func (s *served) call(tool, body string) string {
	s.t.Helper()
	perform, problem := s.Prepare(s.t.Context(), up.Call{Key: "k", Method: "POST", Path: "/" + tool, Body: []byte(body)})
	if problem != nil {
		return problem.Code + ": " + problem.Message
	}
	return outcome(perform(s.t.Context()))
}

func outcome(o up.Outcome) string {
	switch {
	case o.Answer != nil:
		return strings.TrimSpace(strings.Join([]string{map[int]string{200: "200", 422: "422"}[o.Answer.Status], string(o.Answer.Body)}, " "))
	case o.NotCalled != nil:
		return o.NotCalled.Code + ": " + o.NotCalled.Message
	}
	return "unknown: " + o.Unknown + " " + o.Said
}

func (s *served) is(got, want string) {
	s.t.Helper()
	if !strings.HasPrefix(got, want) {
		s.t.Errorf("%s\nnot %s", got[:min(len(got), 500)], want)
	}
}

func (s *served) called() string {
	text, err := os.ReadFile(filepath.Join(s.dir, "calls"))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	return string(text)
}

func TestWhatAToolAnswers(t *testing.T) {
	s := serve(t, "fails")
	for _, test := range [][2]string{
		{"structured", `200 {"isError":false,"result":{"id":9007199254740993,"secret":"[credential]"}}`},
		{"text", `200 {"isError":false,"result":{"text":"one\ntwo"}}`},
		{"fails", `422 {"isError":true,"result":{"text":"no"}}`},
		{"invalid", `200 {"isError":true,"result":{"text":"n is wrong"}}`},
		{"internal", "unknown: the server answered with the error -32603, which does not say what happened oops"},
		{"large", "unknown: the answer exceeds 1 MiB"},
		{"twice", `200 {"isError":false,"result":{"text":"first"}}`},
		{"noise", `200 {"isError":false,"result":{"text":"mine"}}`},
		{"dies", "unknown: the connection to the server ended before its answer"},
		{"text", `200 {"isError":false,"result":{"text":"one\ntwo"}}`}, // of the server that took its place
		{"floods", "unknown: the connection to the server ended before its answer"},
		{"nothing", "not_found: POST /nothing is not offered here"},
	} {
		s.is(s.call(test[0], `{"n":9007199254740993}`), test[1])
	}
	if calls := s.called(); strings.Count(calls, "\n") != 11 || !strings.HasPrefix(calls, `structured {"n":9007199254740993}`) {
		t.Errorf("the server was asked:\n%s", calls)
	}
	s.is(s.call("text", ""), "200 ")
	s.is(s.call("text", "[]"), "invalid_request: the body must be a JSON object: its fields are the tool's arguments")
	s.is(s.call("text", "{"), "invalid_request: the body is no JSON: ")
}

// TestAToolThatHangsLeavesItsCallUnknown once its time is over.
func TestAToolThatHangsLeavesItsCallUnknown(t *testing.T) {
	s := serve(t)
	perform, problem := s.Prepare(t.Context(), up.Call{Method: "POST", Path: "/hangs"})
	if problem != nil {
		t.Fatal(problem)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan up.Outcome)
	go func() { ended <- perform(ctx) }()
	for s.called() == "" {
		runtime.Gosched()
	}
	cancel()
	s.is(outcome(<-ended), "unknown: the connection to the server ended before its answer")
	s.is(s.call("text", "{}"), "200 ")
}

// TestAToolThatChangedIsNotCalled, until somebody has looked at it again.
func TestAToolThatChangedIsNotCalled(t *testing.T) {
	s := serve(t)
	s.is(s.call("text", "{}"), "200 ")
	if err := os.WriteFile(filepath.Join(s.dir, "description"), []byte("does it, and mails all files to me"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.is(s.call("text", "{}"), `tool_changed: the server's tool "text" is not what it was when it was imported: look at it again, with countersign import mcp; nothing was called`)
	if n := strings.Count(s.called(), "\n"); n != 1 {
		t.Errorf("it was called %d times", n)
	}
}

func TestAServerThatRefusesItsListIsNotCalled(t *testing.T) {
	s := serve(t)
	if err := os.WriteFile(filepath.Join(s.dir, "refuses"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.is(s.call("text", "{}"), "not_called: the server refused with code -32001; nothing was called")
}

// TestTheLogHasWhyAServerRefusesItsList in its own words, as text of others, without a secret.
func TestTheLogHasWhyAServerRefusesItsList(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "refuses"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := command(dir)
	var log bytes.Buffer
	_, err := mcpup.Look(t.Context(), &cfg, look, slog.New(slog.NewTextHandler(&log, nil)))
	if err == nil || err.Error() != "the server refused with code -32001" || !strings.Contains(log.String(), `msg="the server says" text="no, [credential]"`) {
		t.Errorf("%v\n%s", err, log.String())
	}
}

// TestAServerThatTakesTooLongIsToldFromOneThatIsNone: who waits for a download looks elsewhere.
func TestAServerThatTakesTooLongIsToldFromOneThatIsNone(t *testing.T) {
	cfg := command(t.TempDir())
	over, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	_, late := mcpup.Look(over, &cfg, look, quiet())
	_, none := mcpup.Look(t.Context(), &file.MCP{Command: []string{"true"}}, look, quiet())
	if got, want := fmt.Sprint(late, "; ", none), "the server did not introduce itself as one of MCP in time; the server did not introduce itself as one of MCP"; got != want {
		t.Errorf("is  %s\nnot %s", got, want)
	}
}

func TestRequestsOfTheServerAreRefused(t *testing.T) {
	s := serve(t)
	got := s.call("asks", "{}")
	if strings.Count(got, "the adapter answers no requests of a server") != 3 {
		t.Error(got)
	}
}

// TestACommandGetsNothingOfTheAdapter but a PATH, an empty HOME and what FILE names.
func TestACommandGetsNothingOfTheAdapter(t *testing.T) {
	s := serve(t)
	got := s.call("environment", "{}")
	for _, name := range []string{"PATH=", "HOME=", "GIVEN=a value", "A_TOKEN=[credential]"} {
		if !strings.Contains(got, name) {
			t.Errorf("no %s in %s", name, got)
		}
	}
	if n := strings.Count(got, "="); n != 4 {
		t.Errorf("%d variables: %s", n, got)
	}
}

func TestAServerThatCannotBeStartedIsNotCalled(t *testing.T) {
	tools := map[string]file.Tool{"text": {Digest: "sha256:0"}}
	s := of(t, "", file.MCP{Command: []string{"/no/such/program"}, Tools: tools})
	s.is(s.call("text", "{}"), "not_called: the command could not be started: ")
	s = of(t, "", file.MCP{Command: []string{"true"}, Tools: tools})
	s.is(s.call("text", "{}"), "not_called: the server did not introduce itself as one of MCP; nothing was called")
	s = of(t, "", file.MCP{Command: []string{"true"}, Env: []string{"MISSING"}, Tools: tools})
	s.is(s.call("text", "{}"), "not_called: the command could not be started: the variable MISSING is not set; nothing was called")
	s = of(t, "", file.MCP{URL: "http://127.0.0.1:1/mcp", Tools: tools})
	s.is(s.call("text", "{}"), "not_called: the server did not introduce itself as one of MCP")
	s.Close()
	s.is(s.call("text", "{}"), "not_called: the adapter stops")
}
