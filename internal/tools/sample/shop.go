package sample

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/countersign/countersign"
)

// Config has the settings of a shop.
type Config struct {
	Secret  []byte // secret of the HMAC signature
	Address string // listening address; default 127.0.0.1:0
	Log     string // file of the log; "" keeps the log in memory only
	Now     func() time.Time
	// Around wraps the shop's handler, for faults in tests.
	Around func(http.Handler) http.Handler
}

// Shop is the sample project API, serving on loopback. Its only state is its log, and a request
// is written to the log before it is answered. So after a kill -9 the shop has the same state
// as before.
type Shop struct {
	cfg      Config
	server   *http.Server
	listener net.Listener
	ended    chan struct{}

	mu      sync.Mutex // serializes requests: decide, log, answer
	log     *journal
	entries []Entry
	first   map[string]int // by key, the request whose answer the key repeats
}

// StartShop starts a shop, with the state of an earlier one if its log exists. Close stops it.
func StartShop(cfg Config) (*Shop, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Address == "" {
		cfg.Address = "127.0.0.1:0"
	}
	s := &Shop{cfg: cfg, ended: make(chan struct{}), first: map[string]int{}}
	if err := s.remember(); err != nil {
		return nil, err
	}
	if err := s.listen(); err != nil {
		return nil, errors.Join(err, s.log.close())
	}
	go s.serve()
	return s, nil
}

// remember reads the log of an earlier shop.
func (s *Shop) remember() error {
	var past []Entry
	var err error
	if s.log, past, err = openJournal(s.cfg.Log); err != nil {
		return fmt.Errorf("the shop's log: %w", err)
	}
	for _, e := range past {
		s.keep(e)
	}
	return nil
}

func (s *Shop) listen() (err error) {
	s.listener, err = net.Listen("tcp", s.cfg.Address)
	handler := http.Handler(http.HandlerFunc(s.handle))
	if s.cfg.Around != nil {
		handler = s.cfg.Around(handler)
	}
	s.server = &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	return err
}

func (s *Shop) serve() {
	defer close(s.ended)
	_ = s.server.Serve(s.listener) // ends with Close
}

// URL is the shop's origin.
func (s *Shop) URL() string { return "http://" + s.listener.Addr().String() }

// Close ends the shop at once.
func (s *Shop) Close() error {
	err := s.server.Close()
	<-s.ended
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(err, s.log.close())
}

// Received returns the log: every request as received, the oldest first.
func (s *Shop) Received() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Entry{}, s.entries...)
}

// handle writes a request to the log and then answers it. A request that can't be logged is
// not carried out.
func (s *Shop) handle(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, countersign.MaxBodyBytes))
	if err != nil {
		http.Error(w, `{"error":"the body could not be read"}`, http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.receive(r, body)
	s.answer(&e)
	if err := s.log.append(e); err != nil {
		http.Error(w, `{"error":"the shop's log can't be written"}`, http.StatusInternalServerError)
		return
	}
	s.keep(e)
	if e.losesAnswer() {
		hangUp(w)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if e.Replayed {
		h.Set("Idempotency-Replayed", "true")
	}
	w.WriteHeader(e.Status)
	_, _ = w.Write(e.Answer) // fails if the caller has disconnected
}

// hangUp closes the connection without an answer, as a network does that breaks.
func hangUp(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// keep adds an entry to the state. A key repeats the first answer to a side effect; a request
// that was refused before it was looked at doesn't use up its key.
func (s *Shop) keep(e Entry) {
	_, known := s.first[e.Key]
	if e.Signature == SignatureValid && e.Method != http.MethodGet && e.Key != "" && !known {
		s.first[e.Key] = len(s.entries)
	}
	s.entries = append(s.entries, e)
}
