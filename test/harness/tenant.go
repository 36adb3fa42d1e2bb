package harness

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Most tests are about what a tenant can do. Such a test gets a tenant of its own on
// a server that others use at the same time: to start a server for each costs more
// than the test. A test about the process, its settings, its log, its store, or the
// realm starts a server of its own with Start.

// lodgings is how many tenants one shared server takes before the next is started.
const lodgings = 60

// shared are the servers that tests have in common.
var shared struct {
	sync.Mutex
	all  []*house
	dir  string
	made int
}

// house is a server that tests share.
type house struct {
	*Server
	outlives *lasting
	free     []lodging
}

// lodging is what one test gets: a tenant, and an address that the server may call.
type lodging struct {
	tenant   string
	listener net.Listener
}

// Tenant gives a test a tenant of its own on a shared server, and a receiver that
// projects of the tenant may be registered with. Admin has ADMIN in the tenant and
// no right over the realm. Whatever the test says of the tenant `default` is about
// its own: see view.
func Tenant(t testing.TB) (*Server, *Receiver) {
	t.Helper()
	h, l := lodge()
	receiver := receiverAt(t, l.listener)
	s := &Server{URL: h.URL, t: t, house: h, http: h.seenBy(l.tenant), document: h.document}
	t.Cleanup(s.leave)
	s.Keep(h.Admin.token)
	h.Admin.Put("/tenants/"+l.tenant, Doc{"name": l.tenant}).OK(t)
	made := h.Admin.Post("/tokens", Doc{"name": "test", "roles": []string{"ADMIN"}, "tenantId": l.tenant}).OK(t)
	s.Admin = s.As(made.At("token").Text())
	s.Keep(s.Admin.token)
	return s, receiver
}

// lodge finds a server with room, or starts one.
func lodge() (*house, lodging) {
	shared.Lock()
	defer shared.Unlock()
	last := len(shared.all) - 1
	if last < 0 || len(shared.all[last].free) == 0 {
		shared.all = append(shared.all, newHouse())
		last++
	}
	h := shared.all[last]
	l := h.free[0]
	h.free = h.free[1:]
	return h, l
}

// newHouse starts a shared server. The origins that it may call are settings, so the
// receivers' addresses are taken beforehand.
func newHouse() *house {
	h := &house{outlives: &lasting{dir: filepath.Join(shared.dir, rand.Text())}}
	var origins, credentials []string
	for range lodgings {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			h.outlives.Fatal(err)
		}
		origins = append(origins, origin(listener))
		l := lodging{tenant: tenantName(shared.made), listener: listener}
		h.free = append(h.free, l)
		credentials = append(credentials, l.tenant+"/"+SecretEnv) // each may use what all have
		shared.made++
	}
	h.Server = Start(h.outlives,
		Set("CONNECTION_ORIGINS", strings.Join(origins, ",")),
		Set("SIGNING_ENV_ALLOWLIST", strings.Join(credentials, ",")), Env(SecretEnv, Secret),
		Set("MAX_ACTIVE_RUNS", "1000"),         // the runs of one test must not wait for another's
		Set("TRUSTED_PROXIES", "127.0.0.1/32")) // each test signs in from an address of its own
	h.Keep(Secret)
	return h
}

// leave checks what a test leaves: an intact log of its tenant, which like every
// answer is searched for secrets. What the server itself leaves is checked at the
// end of all tests.
func (s *Server) leave() {
	if s.Admin == nil {
		return
	}
	s.Admin.Get("/audit?limit=200").OK(s.t)
	s.Admin.Get("/audit/verify").OK(s.t).Is(s.t, "intact", true)
}

// own refuses to a test what would be about all who share its server.
func (s *Server) own(what string) {
	s.t.Helper()
	if s.house != nil {
		s.t.Fatalf("%s: the test shares its server with others; it must start one of its own", what)
	}
}

// EndShared stops the shared servers when all tests have run, and says what was wrong
// with what they leave: their logs, their files or rows, the realm's audit log.
func EndShared() error {
	shared.Lock()
	defer shared.Unlock()
	var wrong []string
	for _, h := range shared.all {
		for _, l := range h.free {
			_ = l.listener.Close()
		}
		wrong = append(wrong, h.outlives.end()...)
	}
	shared.all = nil
	if len(wrong) > 0 {
		return fmt.Errorf("a server that tests share:\n%s", strings.Join(wrong, "\n"))
	}
	return nil
}

// lasting is the testing.TB of a server that outlives the test that started it.
type lasting struct {
	testing.TB // nil: what is not below isn't used
	dir        string

	mu    sync.Mutex
	later []func()
	wrong []string
}

func (l *lasting) Helper()      {}
func (l *lasting) Name() string { return "shared" }

func (l *lasting) TempDir() string {
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		l.Fatal(err)
	}
	return l.dir
}

func (l *lasting) Cleanup(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.later = append(l.later, f)
}

func (l *lasting) Error(args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = append(l.wrong, fmt.Sprint(args...))
}

func (l *lasting) Errorf(format string, args ...any) { l.Error(fmt.Sprintf(format, args...)) }
func (l *lasting) Logf(format string, args ...any)   { l.Error(fmt.Sprintf(format, args...)) }

// stopped is what Fatal panics with: in a test it fails that test, at the end it is
// caught.
type stopped string

func (l *lasting) Fatal(args ...any) {
	l.Error(args...)
	panic(stopped(fmt.Sprint(args...)))
}
func (l *lasting) Fatalf(format string, args ...any) { l.Fatal(fmt.Sprintf(format, args...)) }

func (l *lasting) Failed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.wrong) > 0
}

// end does what was left for later, the latest first, and gives what was wrong.
func (l *lasting) end() []string {
	for i := len(l.later) - 1; i >= 0; i-- {
		l.last(l.later[i])
	}
	return l.wrong
}

func (l *lasting) last(f func()) {
	defer func() {
		if v := recover(); v != nil {
			if _, known := v.(stopped); !known {
				panic(v)
			}
		}
	}()
	f()
}
