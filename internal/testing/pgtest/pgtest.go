// Package pgtest gives tests a PostgreSQL server: the one of TEST_POSTGRES_URL, or one that initdb
// makes in a temporary directory, with the programs of Debian's package postgresql. If the tests run
// as root, the server runs as another user, as PostgreSQL demands.
package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// shared is the server of all tests in a binary.
var shared struct {
	once   sync.Once
	server *Server
	err    error
}

// M is a testing.M that stops the shared server after all tests:
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.M{M: m}.Run()) }
type M struct{ M interface{ Run() int } }

// Run runs the tests.
func (m M) Run() int {
	removeAbandoned()
	pristine.dir, _ = makeDirectory(inMemory()) // without it each server needs its own initdb
	code := m.M.Run()
	if shared.server != nil {
		shared.server.remove()
	}
	removeDirectory(pristine.dir)
	return code
}

// pristine is the data directory of a server that never ran, for copies; its dir is "" in a binary
// that doesn't run its tests by M.
var pristine struct {
	sync.Mutex
	dir string
}

// Database makes a database for the test, on the server of TEST_POSTGRES_URL or on the shared one,
// and returns its URL.
func Database(t testing.TB) string {
	t.Helper()
	if given := os.Getenv("TEST_POSTGRES_URL"); given != "" {
		return passing(t, given)
	}
	shared.once.Do(func() {
		if shared.server, shared.err = prepare(inMemory(), (*Server).afresh); shared.err == nil {
			shared.server.careless = true
			shared.err = shared.server.start()
		}
	})
	if shared.err != nil {
		absent(t, shared.err)
	}
	return passing(t, shared.server.url())
}

// absent ends a test without a server: it skips the test if PostgreSQL is not installed, and fails
// it if CI is set.
func absent(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("CI") == "" && strings.Contains(err.Error(), missing) {
		t.Skipf("NOT RUN: %v; the Makefile's last line says so and fails with CI set", err)
	}
	t.Fatal(err)
}

// passing makes a database that is dropped at the end of the test.
func passing(t testing.TB, admin string) string {
	t.Helper()
	name, address := database(t, admin)
	t.Cleanup(func() {
		// The database is already gone if the test has stopped its server.
		_ = execute(admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	})
	return address
}

// database makes a database. Like most databases it has a collation that doesn't compare by bytes,
// if the server offers one.
func database(t testing.TB, admin string) (name, address string) {
	t.Helper()
	name = "test_" + strings.ToLower(rand.Text()[:12])
	create := "CREATE DATABASE " + name + " TEMPLATE template0 ENCODING 'UTF8'"
	if err := execute(admin, create+" LOCALE_PROVIDER icu ICU_LOCALE 'en'"); err != nil {
		if err := execute(admin, create); err != nil {
			t.Fatalf("make a database: %v", err)
		}
	}
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return name, u.String()
}

// Exec runs a statement on a new connection.
func Exec(t testing.TB, url, statement string) {
	t.Helper()
	if err := execute(url, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// Ask runs a query on a new connection and returns the only value of the first row, a text. It
// returns an error if the server doesn't answer within a minute.
func Ask(url, query string) (value string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return "", fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	err = conn.QueryRow(ctx, query).Scan(&value)
	return value, err
}

func execute(url, statement string) error {
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(context.Background(), statement)
	return err
}
