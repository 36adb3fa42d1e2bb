package receiver_test

import (
	"database/sql"
	"net/http"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/countersign/countersign/internal/testing/pgtest"
	"github.com/countersign/countersign/receiver"
	"github.com/countersign/countersign/receiver/receivertest"
)

func openPostgres(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Exec(receiver.Schema); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestASQLStoreOnPostgreSQLKeepsTheLawOfMemories(t *testing.T) {
	receivertest.TestMemory(t, func(t *testing.T) receiver.Memory { return receiver.NewSQLStore(openPostgres(t), receiver.Dollars) })
}

// TestOnPostgreSQLAWithdrawalWaitsForTheTransactionThatClaims: a snapshot would say that nobody
// has the key, and the effect would follow.
func TestOnPostgreSQLAWithdrawalWaitsForTheTransactionThatClaims(t *testing.T) {
	db := openPostgres(t)
	if _, err := db.Exec("CREATE TABLE effects (id TEXT)"); err != nil {
		t.Fatal(err)
	}
	store := receiver.NewSQLTransactions(db, receiver.Dollars)
	other := newSigningAPI(t, receiver.NewSQLTransactions(db, receiver.Dollars), ok) // another process
	asked := make(chan map[string]any, 1)
	a := newSigningAPI(t, store, func(w http.ResponseWriter, r *http.Request) {
		tx, _ := receiver.TxFrom(r.Context())
		if _, err := tx.Exec("INSERT INTO effects VALUES ('x')"); err != nil {
			t.Error(err)
		}
		go func() { asked <- other.withdraw("run-1.refund") }()
		ok(w, r)
	})
	a.send("POST", "/refunds", "run-1.refund", "1")
	other.knows(<-asked, "DONE")
	if n := count(t, db); n != 1 {
		t.Errorf("%d effects", n)
	}
}

func TestOnPostgreSQLAKeptRefusalHasNoEffect(t *testing.T) {
	db := openPostgres(t)
	if _, err := db.Exec("CREATE TABLE effects (id TEXT PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	a := newSigningAPI(t, receiver.NewSQLTransactions(db, receiver.Dollars), func(w http.ResponseWriter, r *http.Request) {
		tx, _ := receiver.TxFrom(r.Context())
		for range 2 { // the second breaks the transaction
			_, _ = tx.Exec("INSERT INTO effects VALUES ('x')")
		}
		w.WriteHeader(422)
	})
	for range 2 {
		if w, signed := a.send("POST", "/refunds", "run-1.refund", "1"); w.Code != 422 || !signed {
			t.Errorf("%d, signed %v: %s", w.Code, signed, w.Body)
		}
	}
	a.had(1)
	if n := count(t, db); n != 0 {
		t.Errorf("%d effects of a refused call", n)
	}
}
