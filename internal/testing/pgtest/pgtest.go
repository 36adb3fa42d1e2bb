// Package pgtest gives tests a PostgreSQL server: the one of TEST_POSTGRES_URL, or
// one of their own, made by initdb in a temporary directory with the programs that
// Debian's package postgresql installs. As root it runs as another user, as
// PostgreSQL demands.
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

// shared is the server that the tests of a binary have in common.
var shared struct {
	once   sync.Once
	server *Server
	err    error
}

// M is a testing.M that ends the shared server when all tests have run:
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.M{M: m}.Run()) }
type M struct{ M interface{ Run() int } }

// Run runs the tests.
func (m M) Run() int {
	removeAbandoned()
	pristine.dir, _ = makeDirectory(inMemory()) // without it each server is made anew
	code := m.M.Run()
	if shared.server != nil {
		shared.server.remove()
	}
	removeDirectory(pristine.dir)
	return code
}

// pristine is where the data of a server that never ran are kept, for copies; "" in a
// binary that doesn't run its tests by M.
var pristine struct {
	sync.Mutex
	dir string
}

// Database makes a database for the test, on the server of TEST_POSTGRES_URL or on
// the one that the tests of this binary share, and returns its URL.
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

// absent ends a test that has no server: without PostgreSQL installed it isn't run,
// and with CI set it fails.
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
		// A server that a test has ended takes its databases with it.
		_ = execute(admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	})
	return address
}

// database makes a database. Its collation is not by bytes where that can be had,
// as in most databases.
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

// Exec runs a statement on a connection of its own.
func Exec(t testing.TB, url, statement string) {
	t.Helper()
	if err := execute(url, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// Ask runs a query on a connection of its own and returns the only value, a text,
// of the first row. A server that says nothing for a minute is an error.
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
