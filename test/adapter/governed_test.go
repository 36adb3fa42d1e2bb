package adapter

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/countersign/countersign/test/harness"
)

type doc = harness.Doc

const project = "default-orders"

// governed starts a service for the project at this address, which is an adapter.
func governed(t *testing.T, address string, capability doc) *harness.Server {
	t.Helper()
	s := harness.Start(t, harness.Set("CONNECTION_ORIGINS", address), harness.Set("SIGNING_ENV_ALLOWLIST", "SHOP_SECRET"), harness.Env("SHOP_SECRET", secret), harness.Set("MAX_ACTIVE_RUNS", "64"))
	s.Keep(secret)
	s.Admin.Put("/projects/"+project, doc{
		"name": "Orders", "adapter": "HTTP_JSON", "baseUrl": address, "healthPath": "/health",
		"auth": doc{"type": "HMAC", "credentialEnv": "SHOP_SECRET"}, "capabilities": []any{capability},
	}).OK(t)
	s.Admin.Post("/projects/"+project+"/health-check", nil).OK(t)
	s.Admin.Post("/projects/"+project+"/enable", doc{"expectedRevision": 1}).OK(t)
	return s
}

// principal is a token of this role.
func principal(t *testing.T, s *harness.Server, role string) *harness.Client {
	t.Helper()
	token := s.Admin.Post("/tokens", doc{"name": strings.ToLower(role), "roles": []string{role}}).OK(t).At("token").Text()
	s.Keep(token)
	return s.As(token)
}

// serveOrders is a shop on the listener that it is given: it keeps each order before it answers.
func serveOrders(path string) {
	l, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		os.Exit(1)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // it is killed before anything takes long
		keep(path, strings.TrimPrefix(r.URL.Path, "/orders/"))
		_, _ = fmt.Fprint(w, `{"ok":true}`) // who has gone asks again
	})}
	_ = server.Serve(l)
}

// shop is a process that is killed and started again on one listener, so that its address stays.
type shop struct {
	url      string
	path     string // of the file in which it keeps its orders
	listener *os.File
	cmd      *exec.Cmd
}

func (s *shop) start(t *testing.T) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.CommandContext(t.Context(), program, "as-shop", s.path)
	s.cmd.ExtraFiles = []*os.File{s.listener}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

func (s *shop) kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	_ = s.cmd.Wait()         // by a signal
}

func newShop(t *testing.T, path string) *shop {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{url: "http://" + l.Addr().String(), path: path, listener: f}
	_ = l.Close() // f is the listener
	t.Cleanup(func() { _ = f.Close() })
	s.start(t)
	t.Cleanup(s.kill)
	return s
}
