package harness

import (
	"crypto/rand"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/evidence/receipt"
)

// Most tests are about what a tenant can do. Such a test gets a tenant of its own on
// a server that others use at the same time: to start a server for each costs more
// than the test. A test about the process, its settings, its log, its store, or the
// realm starts a server of its own with Start.

// tenantsPerServer is how many tenants a shared server takes before the next is
// started.
const tenantsPerServer = 60

// sharedServers are those of this run of tests.
var sharedServers struct {
	sync.Mutex
	all     []*sharedServer
	dir     string // for their stores
	tenants int    // of all of them
}

// sharedServer is a server that tests share.
type sharedServer struct {
	*Server
	tb   *lastingTB
	free []slot
}

// slot is what one test gets: a tenant, and an address that the server may call.
type slot struct {
	tenant   string
	listener net.Listener
}

// Tenant gives a test a tenant of its own on a shared server, and a receiver that
// projects of the tenant may be registered with. Admin has ADMIN in the tenant and
// no right over the realm. Whatever the test says of the tenant `default` is about
// its own: see tenantNames.
func Tenant(t testing.TB) (*Server, *Receiver) {
	t.Helper()
	on, own := reserve()
	receiver := receiverAt(t, own.listener)
	s := &Server{URL: on.URL, t: t, sharedServer: on, http: on.clientFor(own.tenant), document: on.document}
	t.Cleanup(s.checkTenantAudit)
	s.Keep(on.Admin.token)
	on.Admin.Put("/tenants/"+own.tenant, Doc{"name": own.tenant}).OK(t)
	made := on.Admin.Post("/tokens", Doc{"name": "test", "roles": []string{"ADMIN"}, "tenantId": own.tenant}).OK(t)
	s.Admin = s.As(made.At("token").Text())
	s.Keep(s.Admin.token)
	return s, receiver
}

// reserve takes a free slot of a shared server, and starts one where none is free.
func reserve() (*sharedServer, slot) {
	sharedServers.Lock()
	defer sharedServers.Unlock()
	last := len(sharedServers.all) - 1
	if last < 0 || len(sharedServers.all[last].free) == 0 {
		sharedServers.all = append(sharedServers.all, startShared())
		last++
	}
	s := sharedServers.all[last]
	first := s.free[0]
	s.free = s.free[1:]
	return s, first
}

// startShared starts a shared server. The origins that it may call are settings, so
// the receivers' addresses are taken beforehand.
func startShared() *sharedServer {
	s := &sharedServer{tb: &lastingTB{dir: filepath.Join(sharedServers.dir, rand.Text())}}
	var origins, credentials []string
	for range tenantsPerServer {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.tb.Fatal(err)
		}
		origins = append(origins, origin(listener))
		tenant := tenantName(sharedServers.tenants)
		s.free = append(s.free, slot{tenant, listener})
		credentials = append(credentials, tenant+"/"+SecretEnv) // each may use what all have
		sharedServers.tenants++
	}
	s.Server = Start(s.tb,
		Set("CONNECTION_ORIGINS", strings.Join(origins, ",")),
		Set("SIGNING_ENV_ALLOWLIST", strings.Join(credentials, ",")), Env(SecretEnv, Secret),
		Set("MAX_ACTIVE_RUNS", "1000"),         // the runs of one test must not wait for another's
		Set("TRUSTED_PROXIES", "127.0.0.1/32")) // each test signs in from an address of its own
	s.Keep(Secret)
	return s
}

// checkTenantAudit checks at the end of a test that the audit log of its tenant is
// intact; like every answer it is searched for secrets. What the server itself leaves
// is checked at the end of all tests.
func (s *Server) checkTenantAudit() {
	if s.Admin == nil {
		return
	}
	s.Admin.Get("/audit?limit=200").OK(s.t)
	s.Admin.Get("/audit/verify").OK(s.t).Is(s.t, "intact", true)
	s.checkReceipts()
}

// checkReceipts verifies the receipts of runs that have ended, with the names that the
// server knows.
func (s *Server) checkReceipts() {
	named := s.sharedServer.As(s.Admin.token)
	for _, status := range []string{"COMPLETED", "FAILED", "CANCELLED"} {
		runs := s.Admin.Get("/runs?limit=10&status=" + status).OK(s.t)
		for _, run := range runs.At("items").Items() {
			id := run.At("id").Text()
			if v := receipt.Verify([]byte(named.Get("/runs/"+id+"/receipt").Raw), nil); !v.OK {
				s.t.Errorf("the receipt of run %s, which is %s, does not verify: %+v", id, status, v)
			}
		}
	}
}

// own refuses to a test what would be about all who share its server.
func (s *Server) own(what string) {
	s.t.Helper()
	if s.sharedServer != nil {
		s.t.Fatalf("%s: the test shares its server with others; it must start one of its own", what)
	}
}

// EndShared stops the shared servers when all tests have run, and says what was wrong
// with what they leave: their logs, their files or rows, the realm's audit log.
func EndShared() error {
	sharedServers.Lock()
	defer sharedServers.Unlock()
	var wrong []string
	for _, s := range sharedServers.all {
		for _, unused := range s.free {
			_ = unused.listener.Close()
		}
		wrong = append(wrong, s.tb.end()...)
	}
	sharedServers.all = nil
	if len(wrong) > 0 {
		return fmt.Errorf("a server that tests share:\n%s", strings.Join(wrong, "\n"))
	}
	return nil
}
