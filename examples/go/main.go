// Command shop is a project API for Countersign. A refund happens once however often
// its call arrives: refund, idempotency key and answer are one transaction.
//
//	SHOP_SECRET=... go run ./examples/go -listen 127.0.0.1:9090 -db shop.db
package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite"

	"github.com/countersign/countersign/receiver"
)

const schema = `
CREATE TABLE IF NOT EXISTS orders (
  id TEXT PRIMARY KEY, status TEXT NOT NULL, cents INTEGER NOT NULL, currency TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS refunds (
  id INTEGER PRIMARY KEY, order_id TEXT NOT NULL UNIQUE REFERENCES orders, cents INTEGER NOT NULL);
INSERT INTO orders VALUES ('A-48213', 'returned', 24900, 'EUR'), ('A-47902', 'delivered', 8990, 'EUR')
  ON CONFLICT DO NOTHING;`

func main() {
	listen := flag.String("listen", "127.0.0.1:9090", "address to listen on")
	file := flag.String("db", "shop.db", "the shop's SQLite database")
	flag.Parse()
	secret := os.Getenv("SHOP_SECRET")
	if secret == "" {
		log.Fatal("set SHOP_SECRET to the secret that Countersign signs with")
	}
	db, err := open(*file)
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprintf(os.Stderr, "listening on http://%s\n", l.Addr())
	server := &http.Server{Handler: api(db, []byte(secret)), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	log.Fatal(server.Serve(l))
}

func open(file string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(ON)")
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(receiver.Schema + ";" + schema)
	return db, err
}

type shop struct{ db *sql.DB }

// api is all of the shop's operations, behind the receiver kit.
func api(db *sql.DB, secret []byte) http.Handler {
	s, mux := shop{db}, http.NewServeMux()
	mux.HandleFunc("GET /health", answered(s.health))
	mux.HandleFunc("GET /orders/{id}", answered(s.readOrder))
	mux.HandleFunc("GET /refunds", answered(s.listRefunds))
	mux.HandleFunc("POST /refunds", answered(s.refund))
	return receiver.New(receiver.Config{
		Verifier: receiver.Verifier{Secrets: [][]byte{secret}}, // two while it is changed
		Store:    receiver.NewSQLTransactions(db, receiver.QuestionMarks),
	}).Handler(mux)
}

func (s shop) health(*http.Request) (any, error) {
	return map[string]string{"status": "open"}, s.db.Ping()
}

type order struct {
	ID       string      `json:"id"`
	Status   string      `json:"status"`
	Total    json.Number `json:"total"`
	Currency string      `json:"currency"`
	cents    int64
}

func (s shop) readOrder(r *http.Request) (any, error) {
	o, err := find(s.db.QueryRow, r.PathValue("id"))
	return map[string]order{"order": o}, err
}

// find reads an order, from the database or in the transaction of a refund.
func find(row func(query string, args ...any) *sql.Row, id string) (o order, err error) {
	err = row(`SELECT id, status, cents, currency FROM orders WHERE id = ?`, id).Scan(&o.ID, &o.Status, &o.cents, &o.Currency)
	o.Total = money(o.cents)
	return o, err
}

type refund struct {
	ID       string      `json:"id"`
	OrderID  string      `json:"orderId"`
	Amount   json.Number `json:"amount"`
	Currency string      `json:"currency"`
	Status   string      `json:"status"`
}

// listRefunds is what Countersign's probe asks after an uncertain outcome.
func (s shop) listRefunds(r *http.Request) (any, error) {
	o, err := find(s.db.QueryRow, r.URL.Query().Get("orderId"))
	if err != nil {
		return nil, err
	}
	list := []refund{} // an order is refunded once
	var id, paid int64
	err = s.db.QueryRow(`SELECT id, cents FROM refunds WHERE order_id = ?`, o.ID).Scan(&id, &paid)
	if err == nil {
		list = append(list, made(id, o, paid))
	} else if errors.Is(err, sql.ErrNoRows) {
		err = nil // not to be mistaken for any other failure: somebody will act on it
	}
	return map[string]any{"orderId": o.ID, "refunds": list}, err
}

// refund pays. Everything is in the receiver's transaction: a refusal, a failure or
// a crash leaves neither refund nor key behind.
func (s shop) refund(r *http.Request) (any, error) {
	tx, _ := receiver.TxFrom(r.Context())
	var asked refund
	if json.NewDecoder(r.Body).Decode(&asked) != nil {
		return nil, refusalError{400, "a refund is a JSON object with orderId, amount and currency"}
	}
	o, err := find(tx.QueryRow, asked.OrderID)
	if err != nil {
		return nil, err
	}
	paid, exact := cents(asked.Amount)
	if !exact || o.Status != "returned" || paid <= 0 || paid > o.cents || asked.Currency != o.Currency {
		return nil, refusalError{422, "a refund is for a returned order: more than 0, at most its total, in its currency"}
	}
	var id int64
	err = tx.QueryRow(`INSERT INTO refunds (order_id, cents) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING id`, o.ID, paid).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, refusalError{422, "the order is refunded already"}
	}
	return made(id, o, paid), err // the final state: the money is paid
}

func made(id int64, o order, paid int64) refund {
	return refund{"rf-" + strconv.FormatInt(id, 10), o.ID, money(paid), o.Currency, "succeeded"}
}

var amount = regexp.MustCompile(`^([0-9]{1,9})(?:\.([0-9]{1,2}))?$`)

// cents reads an amount exactly; floats would not.
func cents(n json.Number) (int64, bool) {
	m := amount.FindStringSubmatch(n.String())
	if m == nil {
		return 0, false
	}
	total, err := strconv.ParseInt(m[1]+m[2]+strings.Repeat("0", 2-len(m[2])), 10, 64)
	return total, err == nil
}

func money(cents int64) json.Number {
	return json.Number(fmt.Sprintf("%d.%02d", cents/100, cents%100))
}

// refusalError says that nothing happened, and why.
type refusalError struct {
	status int
	why    string
}

func (r refusalError) Error() string { return r.why }

// answered gives what an operation says as JSON.
func answered(operation func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		status, refused := http.StatusOK, refusalError{}
		body, err := operation(r)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			status, body = 404, map[string]string{"message": "there is no such order"}
		case errors.As(err, &refused):
			status, body = refused.status, map[string]string{"message": refused.why}
		case err != nil:
			log.Print(err)
			status, body = 500, map[string]string{"message": "the shop failed"}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body) // who has gone asks again
	}
}
