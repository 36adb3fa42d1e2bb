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

// Config is what a shop is started with.
type Config struct {
	Secret  []byte // of the HMAC signature
	Address string // where to listen; default 127.0.0.1:0
	Log     string // file that keeps the log; "" keeps it in memory only
	Now     func() time.Time
	// Around stands, when set, between the wire and the shop: a test's faults.
	Around func(http.Handler) http.Handler
}

// Shop is the sample project API, serving on loopback. Its log is its only
// memory: what it did is what the log says it did, and a line stands in the log
// before its request is answered. So it knows after a kill -9 what it knew before.
type Shop struct {
	cfg      Config
	server   *http.Server
	listener net.Listener
	ended    chan struct{}

	mu      sync.Mutex // one request at a time: decided, logged, answered
	log     *journal
	entries []Entry
	first   map[string]int // by key, the request that decides what the key answers
}

// StartShop starts a shop, with the memory of an earlier one where its log is
// there. Close ends it.
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

// Received is the log: every request as it came, the oldest first.
func (s *Shop) Received() []Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Entry{}, s.entries...)
}

// handle answers one request and logs it first. A request that can't be logged
// isn't carried out.
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
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if e.Replayed {
		h.Set("Idempotency-Replayed", "true")
	}
	w.WriteHeader(e.Status)
	_, _ = w.Write(e.Answer) // a caller that has gone reads nothing
}

// keep remembers an entry. The first answer to a side effect is what its key
// answers from then on; what was refused before it was looked at decides nothing.
func (s *Shop) keep(e Entry) {
	_, known := s.first[e.Key]
	if e.Signature == SignatureValid && e.Method != http.MethodGet && e.Key != "" && !known {
		s.first[e.Key] = len(s.entries)
	}
	s.entries = append(s.entries, e)
}
