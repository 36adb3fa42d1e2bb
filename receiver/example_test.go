package receiver_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	_ "modernc.org/sqlite"

	"github.com/countersign/countersign/receiver"
	"github.com/countersign/countersign/receiver/receivertest"
)

// shared is the secret that Countersign signs with. Read a real secret from the
// environment.
var shared = []byte("the secret of the examples")

// deliver signs a call as Countersign does and passes it to a handler.
func deliver(h http.Handler, method, target, key, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	err := receivertest.Sign(r, []byte(body), shared, receiver.Call{RunID: "run-1", StepID: "refund", IdempotencyKey: key, SentAt: time.Now()})
	if err != nil {
		panic(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// A handler behind a Receiver gets only genuine calls, and runs once for each side effect.
func ExampleReceiver_Handler() {
	rc := receiver.New(receiver.Config{
		Verifier: receiver.Verifier{Secrets: [][]byte{shared}},
		Store:    &receiver.MemoryStore{}, // only to try it out: the keys are lost when the process ends
	})
	paid := 0
	api := rc.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paid++
		call, _ := receiver.CallFrom(r.Context())
		_, _ = fmt.Fprintf(w, `{"status":"succeeded","key":%q}`, call.IdempotencyKey)
	}))
	for _, body := range []string{`{"amount":12.50}`, `{"amount":12.50}`, `{"amount":99}`} {
		w := deliver(api, "POST", "/refunds", "run-1.refund", body)
		fmt.Println(w.Code, w.Header().Get("Idempotency-Replayed"), w.Body)
	}
	fmt.Println("paid", paid)
	// Output:
	// 200  {"status":"succeeded","key":"run-1.refund"}
	// 200 true {"status":"succeeded","key":"run-1.refund"}
	// 409  {"error":"idempotency_conflict","message":"this idempotency key came with another method, target or body"}
	// paid 1
}

// While a secret is being changed both are accepted; the new one comes first.
func ExampleVerifier_Verify() {
	v := receiver.Verifier{Secrets: [][]byte{[]byte("the new secret"), shared}}
	body := []byte(`{"amount":12.50}`)
	r := httptest.NewRequest("POST", "/refunds?notify=true", nil)
	err := receivertest.Sign(r, body, shared, receiver.Call{RunID: "run-1", StepID: "refund", IdempotencyKey: "run-1.refund", SentAt: time.Now()})
	if err != nil {
		fmt.Println(err)
		return
	}
	call, err := v.Verify(r, body)
	fmt.Println(call.Method, call.Target, call.IdempotencyKey, err)
	_, err = v.Verify(r, []byte(`{"amount":12.5}`))
	fmt.Println(err)
	// Output:
	// POST /refunds?notify=true run-1.refund <nil>
	// signature: the signature doesn't match: compare the secrets, and sign the target and the raw body as they are sent
}

// Effect, key and answer are committed in one transaction, so the effect happens exactly
// once. Here the handler panics after it has made the effect and before the commit.
func ExampleSQLTransactions() {
	db := exampleDatabase("CREATE TABLE refunds (order_id TEXT, cents INTEGER)")
	defer func() { _ = db.Close() }()
	dies := true
	refund := func(w http.ResponseWriter, r *http.Request) {
		tx, _ := receiver.TxFrom(r.Context())
		if _, err := tx.ExecContext(r.Context(), `INSERT INTO refunds VALUES ('A-48213', 1250)`); err != nil {
			http.Error(w, "the database failed", http.StatusInternalServerError) // the Receiver rolls back
			return
		}
		if dies {
			panic("out of memory")
		}
		_, _ = io.WriteString(w, `{"status":"succeeded"}`) // the answer is committed with the refund
	}
	api := receiver.New(receiver.Config{
		Verifier: receiver.Verifier{Secrets: [][]byte{shared}},
		Store:    receiver.NewSQLTransactions(db, receiver.QuestionMarks), // PostgreSQL: Dollars
	}).Handler(http.HandlerFunc(refund))

	func() {
		defer func() { fmt.Println("died:", recover()) }()
		deliver(api, "POST", "/refunds", "run-1.refund", `{}`)
	}()
	dies = false
	for range 2 {
		w := deliver(api, "POST", "/refunds", "run-1.refund", `{}`)
		fmt.Println(w.Code, w.Header().Get("Idempotency-Replayed"), w.Body)
	}
	var refunds int
	fmt.Println(db.QueryRow(`SELECT count(*) FROM refunds`).Scan(&refunds), refunds)
	// Output:
	// died: out of memory
	// 200  {"status":"succeeded"}
	// 200 true {"status":"succeeded"}
	// <nil> 1
}

// Without net/http you make the transaction: claim the key first, perform the effect, finish
// the key with the answer, and commit.
func ExampleSQLStore_In() {
	db := exampleDatabase("CREATE TABLE refunds (order_id TEXT, cents INTEGER)")
	defer func() { _ = db.Close() }()
	store, ctx := receiver.NewSQLStore(db, receiver.QuestionMarks), context.Background()
	refund := func(key, payload string) (string, error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return "", err
		}
		defer func() { _ = tx.Rollback() }() // has no effect after the commit
		keys := store.In(tx)
		e, claimed, err := keys.Claim(ctx, receiver.Claim{Key: key, Payload: payload, At: time.Now()})
		switch {
		case err != nil:
			return "", err
		case !claimed && e.Payload != payload:
			return "another payload: 409", nil
		case !claimed:
			return "again: " + string(e.Answer.Body), nil
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO refunds VALUES ('A-48213', 1250)`); err != nil {
			return "", err
		}
		answer := receiver.Answer{Status: 200, ContentType: "text/plain", Body: []byte("refunded")}
		if err := keys.Finish(ctx, key, answer); err != nil {
			return "", err
		}
		return string(answer.Body), tx.Commit()
	}
	for _, payload := range []string{"one", "one", "two"} {
		fmt.Println(refund("run-1.refund", payload))
	}
	// Output:
	// refunded <nil>
	// again: refunded <nil>
	// another payload: 409 <nil>
}

// exampleDatabase opens an in-memory database with the schema and one more table. It has a
// single connection, since each connection would have a database of its own.
func exampleDatabase(table string) *sql.DB {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(receiver.Schema + ";" + table); err != nil {
		panic(err)
	}
	return db
}
