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

// Most tests are about what a tenant can do. Such a test gets its own tenant on a server that other tests
// use at the same time, since starting a server costs more than the test. A test about the process, its
// settings, its log, its store or the realm starts its own server with Start.

// tenantsPerServer is how many tenants a shared server gets before the next server is started.
const tenantsPerServer = 60

// sharedServers are the shared servers of this test process.
var sharedServers struct {
	sync.Mutex
	all     []*sharedServer
	dir     string // directory of their stores
	tenants int    // number of tenants on all of them
}

// sharedServer is a server that tests share.
type sharedServer struct {
	*Server
	tb   *lastingTB
	free []slot
}

// slot is the share of one test: a tenant, and an address that the server may call.
type slot struct {
	tenant   string
	listener net.Listener
}

// Tenant gives a test its own tenant on a shared server, and a receiver that projects of the tenant may
// be registered with. Admin has ADMIN in the tenant and no right over the realm. In the test the tenant
// is called `default`: see tenantNames.
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

// reserve takes a free slot of a shared server, and starts a server if none is free.
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

// startShared starts a shared server. The origins that it may call are settings, so the receivers'
// addresses are reserved beforehand.
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
		credentials = append(credentials, tenant+"/"+SecretEnv) // each tenant may use the same variable
		sharedServers.tenants++
	}
	s.Server = Start(s.tb,
		Set("CONNECTION_ORIGINS", strings.Join(origins, ",")),
		Set("SIGNING_ENV_ALLOWLIST", strings.Join(credentials, ",")), Env(SecretEnv, Secret),
		Set("MAX_ACTIVE_RUNS", "1000"),         // the runs of one test must not wait for another's
		Set("TRUSTED_PROXIES", "127.0.0.1/32")) // each test signs in from its own address
	s.Keep(Secret)
	return s
}

// checkTenantAudit checks at the end of a test that its tenant's audit log is intact; like every answer
// it is searched for secrets. The server itself is checked after all tests.
func (s *Server) checkTenantAudit() {
	if s.Admin == nil {
		return
	}
	s.Admin.Get("/audit?limit=200").OK(s.t)
	s.Admin.Get("/audit/verify").OK(s.t).Is(s.t, "intact", true)
	s.checkReceipts()
}

// checkReceipts verifies the receipts of ended runs, with the server's names.
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

// own refuses an operation that would affect all tests on the shared server.
func (s *Server) own(what string) {
	s.t.Helper()
	if s.sharedServer != nil {
		s.t.Fatalf("%s: the test shares its server with others; it must start one of its own", what)
	}
}

// EndShared stops the shared servers after all tests, and returns what is wrong in their logs, their
// files or rows, and the realm's audit log.
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
