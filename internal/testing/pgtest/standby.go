package pgtest

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/testing/testport"
)

// standbyName is the application_name of the standby, for which the primary waits.
const standbyName = "standby"

// Standby starts a standby of s for the test. From then on s acknowledges a commit only when the
// standby has it on disk.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	standby := &Server{programs: s.programs, as: s.as}
	var err error
	if standby.dir, err = makeDirectory(""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(standby.remove)
	if err := standby.follow(s); err != nil {
		t.Fatalf("make a standby: %v", err)
	}
	standby.Start(t)
	if err := s.waitFor(standbyName); err != nil {
		t.Fatalf("let the primary wait for its standby: %v", err)
	}
	return standby
}

// waitFor makes commits synchronous, and returns when they are. It is called after the standby's data
// were copied: otherwise the copied setting would make the standby, once promoted, wait for itself.
func (s *Server) waitFor(standby string) error {
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '" + standby + "'", "SELECT pg_reload_conf()"} {
		if err := execute(s.url(), statement); err != nil {
			return err
		}
	}
	return s.until("SELECT 1 / COUNT(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
}

// until repeats a statement until it succeeds.
func (s *Server) until(statement string) error {
	for deadline := time.Now().Add(hangs); ; {
		err := execute(s.url(), statement)
		if err == nil || time.Now().After(deadline) {
			return err
		}
		<-time.After(20 * time.Millisecond)
	}
}

// follow makes the data directory of a standby.
func (s *Server) follow(primary *Server) (err error) {
	if err := s.own(s.dir); err != nil {
		return err
	}
	if s.port, s.release, err = testport.Claim(); err != nil {
		return err
	}
	from := fmt.Sprintf("host=127.0.0.1 port=%d user=postgres application_name=%s", primary.port, standbyName)
	backup := s.command("pg_basebackup", "--pgdata="+s.data(), "--dbname="+from, "--write-recovery-conf",
		"--wal-method=stream", "--checkpoint=fast", "--no-sync")
	if out, err := backup.CombinedOutput(); err != nil {
		return fmt.Errorf("pg_basebackup: %w: %s", err, out)
	}
	return nil
}

// Promote makes the standby of a stopped primary writable, and waits until it is.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	if out, err := s.command("pg_ctl", "promote", "--wait", "--pgdata="+s.data()).CombinedOutput(); err != nil {
		t.Fatalf("pg_ctl promote: %v: %s", err, out)
	}
}

// Either is an address with two hosts, the database's server and s: clients connect to the one that
// answers.
func (s *Server) Either(t testing.TB, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	u.Host += "," + net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
	return u.String()
}
