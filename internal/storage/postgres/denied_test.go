package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/pgtest"
)

// TestAMissingRightIsNoFaultOfTheStatement: who may not write one of the tables can't
// write, and that is told until the right is back, whatever else is committed.
func TestAMissingRightIsNoFaultOfTheStatement(t *testing.T) {
	address := pgtest.Database(t)
	mustDo(t, mustOpen(t, address).Close())
	role, limited := restricted(t, address)
	pgtest.Exec(t, address, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "+role)
	s := mustOpen(t, limited)
	mustIncrement(t, s)
	pgtest.Exec(t, address, "REVOKE INSERT, UPDATE ON steps FROM "+role)
	if err := s.Update(context.Background(), increment); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("Update: %v", err)
	}
	mustDo(t, s.Update(context.Background(), func(tx store.Tx) error { return putModel(tx, "x") }))
	if !s.Full() {
		t.Error("it says that it can write")
	}
	pgtest.Exec(t, address, "GRANT INSERT, UPDATE ON steps TO "+role)
	mustIncrement(t, s)
	if s.Full() {
		t.Error("it says that it can't write")
	}
	wantCount(t, s, 2)
}

// restricted is a role that owns nothing, and the address of a database for it.
func restricted(t *testing.T, address string) (role, limited string) {
	t.Helper()
	u, err := url.Parse(address)
	mustDo(t, err)
	role = "limited_" + strings.ToLower(rand.Text())
	pgtest.Exec(t, address, "CREATE ROLE "+role+" LOGIN PASSWORD 'limited'; GRANT USAGE ON SCHEMA public TO "+role)
	t.Cleanup(func() { pgtest.Exec(t, address, "DROP OWNED BY "+role+"; DROP ROLE "+role) })
	u.User = url.UserPassword(role, "limited")
	return role, u.String()
}

// What speaks of the server is unavailable, what speaks of the statement an error.
func TestWhatTheServerCannotDoNowIsNoFaultOfTheStatement(t *testing.T) {
	for _, c := range []string{"53000", "53100", "53200", "53300", "53400", "25006", "55000", "55006", "55P03", "57014", "57P01", "57P02", "57P03", "58000", "58030", "XX000", "XX001", "XX002", "08006", "42501", "F0000"} {
		if err := meaning(&pgconn.PgError{Code: c}); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: %v", c, err)
		}
	}
	if err := meaning(&pgconn.PgError{Severity: "ERROR", Message: "could not extend file", Code: "53100"}); !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), "free space for PostgreSQL, where its data directory, its write-ahead log or the tablespace is: ERROR: could not extend file (SQLSTATE 53100)") {
		t.Errorf("a full disk: %v", err)
	}
	for _, c := range []string{"23505", "22P02", "42601", "42P01"} {
		if err := meaning(&pgconn.PgError{Code: c}); errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: %v", c, err)
		}
	}
}
