package sample

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/receiver"
)

// Config has the settings of a shop.
type Config struct {
	Secret []byte // secret of the HMAC signature
	// AnswerKey signs the shop's answers; it then also answers what became of a key, below
	// SettlementPath. Default: nothing is signed.
	AnswerKey ed25519.PrivateKey
	Address   string // listening address; default 127.0.0.1:0
	Log       string // file of the log; "" keeps the log in memory only
	Now       func() time.Time
	// Around wraps the shop's handler, for faults in tests.
	Around func(http.Handler) http.Handler
}

// SettlementPath is where a shop that signs its answers says what became of a key.
const SettlementPath = "/calls"

// Shop is the sample project API, serving on loopback. The receiver kit stands before it: it
// verifies calls, runs each once, signs answers and says what became of a key. The shop's only
// state is its log, and a request is written to the log before it is answered. So after a kill -9
// the shop has the same state as before.
type Shop struct {
	cfg      Config
	kit      *receiver.Receiver
	server   *http.Server
	listener net.Listener
	ended    chan struct{}

	mu      sync.Mutex // serializes requests: decide, log, answer
	log     *journal
	entries []Entry
	memory  memory
}

// StartShop starts a shop, with the state of an earlier one if its log exists. Close stops it.
func StartShop(cfg Config) (*Shop, error) {
	if len(cfg.Secret) == 0 {
		return nil, errors.New("the shop has no secret to verify calls with")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Address == "" {
		cfg.Address = "127.0.0.1:0"
	}
	s := &Shop{cfg: cfg, ended: make(chan struct{}), memory: memory{known: map[string]receiver.Entry{}}}
	s.memory.since = s.firstKept
	if err := s.remember(); err != nil {
		return nil, err
	}
	s.kit = receiver.New(s.kitConfig())
	if err := s.listen(); err != nil {
		return nil, errors.Join(err, s.log.close())
	}
	go s.serve()
	return s, nil
}

func (s *Shop) kitConfig() receiver.Config {
	c := receiver.Config{Verifier: s.verifier(), Store: &s.memory}
	if s.cfg.AnswerKey != nil {
		c.AnswerKey, c.Settlement = s.cfg.AnswerKey, SettlementPath
	}
	return c
}

func (s *Shop) verifier() receiver.Verifier {
	return receiver.Verifier{Secrets: [][]byte{s.cfg.Secret}, Now: s.cfg.Now}
}

// firstKept is the time of the first line, from which on the log has forgotten nothing.
func (s *Shop) firstKept() time.Time {
	if s.log == nil || len(s.entries) == 0 {
		return time.Time{}
	}
	return s.entries[0].At
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
	held := s.answer(r, &e)
	if err := s.write(e); err != nil {
		http.Error(w, `{"error":"the shop's log can't be written"}`, http.StatusInternalServerError)
		return
	}
	if e.losesAnswer() {
		hangUp(w)
		return
	}
	maps.Copy(w.Header(), held.header)
	w.WriteHeader(held.status)
	_, _ = w.Write(held.body.Bytes()) // fails if the caller has disconnected
}

// write adds a line to the log, and then to the state.
func (s *Shop) write(e Entry) error {
	err := s.log.append(e)
	if err == nil {
		s.keep(e)
	}
	return err
}

// hangUp closes the connection without an answer, as a network does that breaks.
func hangUp(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

func (s *Shop) keep(e Entry) {
	s.entries = append(s.entries, e)
	s.memory.keep(e)
}
