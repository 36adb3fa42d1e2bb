package harness

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Server is the program under test, serving with its own store.
type Server struct {
	URL   string // http://127.0.0.1:port
	Store string // the directory of the store
	// Admin is the principal of the bootstrap token: a realm administrator with ADMIN in the
	// tenant `default`.
	Admin *Client

	t        testing.TB
	binary   string   // "": the binary that Build built
	args     []string // the arguments of the command
	settings map[string]string
	faulty   bool // the log may contain errors
	http     *http.Client
	document *Document

	processes replicas
	addresses []string   // where the processes listen, host and port
	output    *logBuffer // of all processes, since their start
	balancer  *balancer  // nil: requests go to the only process

	sharedServer *sharedServer // nil for a server of the test's own

	mu      sync.Mutex
	kept    map[string]bool // the secrets
	secrets wordFinder      // each secret in each encoding
}

// Setting changes how a server is started.
type Setting func(settings map[string]string)

// Set sets a setting of the service, named without the common prefix.
func Set(name, value string) Setting { return Env("SVC_PLATFORM_"+name, value) }

// Env sets any environment variable.
func Env(name, value string) Setting { return func(s map[string]string) { s[name] = value } }

// Start starts a server and stops it when the test ends.
func Start(t testing.TB, settings ...Setting) *Server {
	t.Helper()
	s := Prepare(t, settings...)
	s.launch()
	return s
}

// OnDatabase makes a database for each server, so that the same tests check the other
// engine; nil: each server has a directory.
var OnDatabase func(t testing.TB) string

// CloneDatabase makes a copy of such a database.
var CloneDatabase func(t testing.TB, url string) string

// Prepare returns a server on a new store; Restart or Begin starts it.
func Prepare(t testing.TB, settings ...Setting) *Server {
	t.Helper()
	s := &Server{t: t, Store: filepath.Join(t.TempDir(), "store"), http: newHTTPClient(), args: []string{"serve"}}
	bootstrap := "bootstrap-" + rand.Text()
	s.settings = map[string]string{
		"SVC_PLATFORM_LISTEN": "127.0.0.1:0", "SVC_PLATFORM_STORE": s.Store, "SVC_PLATFORM_BOOTSTRAP_TOKEN": bootstrap,
	}
	if OnDatabase != nil {
		s.settings["SVC_PLATFORM_STORE"] = OnDatabase(t)
	}
	for _, set := range settings {
		set(s.settings)
	}
	s.Keep(bootstrap)
	s.Admin = s.As(bootstrap)
	t.Cleanup(s.finish)
	return s
}

// StartPrinting starts a server that makes and prints its own bootstrap token. The test finds the token
// and sets Admin.
func StartPrinting(t testing.TB, settings ...Setting) *Server {
	t.Helper()
	return Start(t, append(settings, func(settings map[string]string) { delete(settings, "SVC_PLATFORM_BOOTSTRAP_TOKEN") })...)
}

func newHTTPClient() *http.Client {
	return &http.Client{
		Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 64, Proxy: nil},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (s *Server) launch() {
	s.t.Helper()
	s.spawn()
	if !s.comesUp() {
		s.t.Fatalf("the server ended at its start:\n%s", s.log())
	}
	s.readDocument()
}

// readDocument reads the server's OpenAPI document, by which answers are validated. It is requested once
// for each program: all its servers have the same document, which takes half of the time of a start.
func (s *Server) readDocument() {
	s.t.Helper()
	documents.Lock()
	defer documents.Unlock()
	path := cmp.Or(s.binary, binary)
	if s.document = documents.byProgram[path]; s.document != nil {
		return
	}
	var err error
	if s.document, err = parseDocument(s.fetchDocument()); err != nil {
		s.t.Fatalf("the OpenAPI document: %v", err)
	}
	documents.byProgram[path] = s.document
}

// fetchDocument reads the server's OpenAPI document without its address, the only part in which servers
// differ.
func (s *Server) fetchDocument() string {
	s.t.Helper()
	res, err := s.http.Get(s.URL + "/v1/openapi.json")
	if err != nil {
		s.t.Fatal(err)
	}
	var text bytes.Buffer
	_, err = text.ReadFrom(res.Body)
	_ = res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("GET /openapi.json: %v, %v", res.Status, err)
	}
	return strings.ReplaceAll(text.String(), s.URL, "http://server")
}

// Document is the server's OpenAPI document.
func (s *Server) Document() *Document { return s.document }

// Settings are the environment variables that the server was started with.
func (s *Server) Settings() map[string]string {
	s.t.Helper()
	s.own("Settings")
	return maps.Clone(s.settings)
}

// Log is what the server has written to standard error.
func (s *Server) Log() string {
	s.t.Helper()
	s.own("Log")
	return s.log()
}

func (s *Server) log() string {
	if s.sharedServer != nil {
		return s.sharedServer.log()
	}
	if s.output == nil {
		return ""
	}
	return s.output.String()
}

// Terminate sends SIGTERM and returns at once.
func (s *Server) Terminate() {
	s.t.Helper()
	s.own("Terminate")
	s.processes.signal(s.t, syscall.SIGTERM)
}

// Wait returns the exit status of a server that is stopping.
func (s *Server) Wait() int {
	s.t.Helper()
	return s.processes.wait(s.t)
}

// Stop stops the server as an operator would.
func (s *Server) Stop() {
	s.t.Helper()
	s.Terminate()
	if status := s.Wait(); status != 0 {
		s.t.Errorf("the server exited with %d after SIGTERM", status)
	}
}

// Shared reports whether the server is on a database, which other servers may use as well.
func (s *Server) Shared() bool {
	if s.sharedServer != nil {
		return s.sharedServer.Shared()
	}
	return strings.HasPrefix(s.settings["SVC_PLATFORM_STORE"], "postgres")
}

// Freeze suspends the process (SIGSTOP); Thaw resumes it.
func (s *Server) Freeze() {
	s.t.Helper()
	s.own("Freeze")
	s.processes.signal(s.t, syscall.SIGSTOP)
}

// Thaw resumes a frozen process.
func (s *Server) Thaw() { s.t.Helper(); s.processes.signal(s.t, syscall.SIGCONT) }

// Kill kills the server, as a crash would.
func (s *Server) Kill() {
	s.t.Helper()
	s.own("Kill")
	s.processes.signal(s.t, syscall.SIGKILL)
	s.processes.wait(s.t)
}

// Restart starts a stopped server again on the same store, with changed settings if any are given.
func (s *Server) Restart(settings ...Setting) {
	s.t.Helper()
	s.change(settings)
	s.launch()
}

func (s *Server) change(settings []Setting) {
	s.t.Helper()
	s.own("Restart")
	s.checkLog()
	for _, set := range settings {
		set(s.settings)
	}
	s.http.CloseIdleConnections()
}

// finish stops the server and checks its log and its store.
func (s *Server) finish() {
	if s.processes == nil {
		return
	}
	if !s.processes.ended() {
		s.checkAudit()
		s.http.CloseIdleConnections()
		s.Stop()
	}
	if s.balancer != nil {
		_ = s.balancer.listener.Close()
	}
	s.checkLog()
	s.checkStore()
	if s.t.Failed() {
		s.t.Logf("the server's log:\n%s", s.log())
	}
}

// checkAudit verifies the audit log. It also reads the complete log, so that it is searched for secrets
// as every answer is.
func (s *Server) checkAudit() {
	for _, path := range []string{"/audit?limit=200", "/audit?limit=200&realm=true", "/metrics"} {
		s.Admin.Get(path).OK(s.t)
	}
	s.Admin.Get("/metrics", "Accept: text/plain")
	for _, log := range []string{"/audit/verify", "/audit/verify?realm=true"} {
		s.Admin.Get(log).OK(s.t).Is(s.t, "intact", true)
	}
}

func (s *Server) checkLog() {
	log := s.log()
	if secret := s.leaked(log); secret != "" {
		s.t.Errorf("the secret %q is in the server's log", secret)
	}
	marks := []string{"DATA RACE", "panic"}
	if !s.faulty {
		marks = append(marks, "\"level\":\"ERROR\"")
	}
	for _, bad := range marks {
		if strings.Contains(log, bad) {
			s.t.Errorf("the server's log says %s", bad)
		}
	}
}

func (s *Server) checkStore() {
	if s.Shared() {
		s.checkRows()
		return
	}
	err := filepath.WalkDir(s.Store, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if secret := s.leaked(string(text)); secret != "" {
			s.t.Errorf("the secret %q is in the store's file %s", secret, d.Name())
		}
		return err
	})
	if err != nil {
		s.t.Error(err)
	}
	s.checkDocuments()
}

// Ended reports whether the server's processes end within a short time.
func (s *Server) Ended() bool { return s.processes.endSoon(firstPause) }
