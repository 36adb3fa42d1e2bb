package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/countersign/countersign/internal/background/chat"
	"github.com/countersign/countersign/internal/platform/periodic"
)

// Bounds of a connection.
const (
	dialTimeout  = 20 * time.Second
	writeTimeout = 2 * time.Second
	pingEvery    = 30 * time.Second // a connection whose other end is gone is noticed by it
	pingTimeout  = 10 * time.Second
	maxEnvelope  = 1 << 20
	firstWait    = time.Second // before the next connection; doubled while none lasts
	longestWait  = time.Minute
	lasting      = 30 * time.Second // a connection that lives longer begins the waiting anew
)

// Listen keeps a connection open until the context ends. Slack ends each after some hours,
// and says so: then the next one is opened before the old one closes.
func (s *Slack) Listen(ctx context.Context, d *chat.Desk) {
	var open sync.WaitGroup
	defer open.Wait()
	wait := time.Duration(0)
	for periodic.Pause(ctx, wait) {
		began := time.Now()
		next := make(chan error, 1) // why another connection is needed
		if err := s.connect(ctx, &open, d, next); err != nil {
			next <- err
		}
		select {
		case err := <-next:
			wait = s.waitAfter(ctx, wait, time.Since(began), err)
		case <-ctx.Done():
		}
	}
}

// errRefresh says that Slack asks for a new connection.
var errRefresh = errors.New("Slack refreshes the connection")

// waitAfter is how long to wait before the next connection.
func (s *Slack) waitAfter(ctx context.Context, before, lived time.Duration, err error) time.Duration {
	if errors.Is(err, errRefresh) && lived > firstWait {
		return 0
	}
	if ctx.Err() == nil && !errors.Is(err, errRefresh) {
		s.cfg.Log.WarnContext(ctx, "no connection to Slack", "error", err)
	}
	var later chat.LaterError
	if errors.As(err, &later) {
		return min(max(later.After, firstWait), 10*longestWait)
	}
	if lived > lasting {
		return firstWait
	}
	return min(max(2*before, firstWait), longestWait)
}

// connect opens a connection and waits for its hello. From then on it is served in the
// background, until it ends or another one has taken its place.
func (s *Slack) connect(ctx context.Context, open *sync.WaitGroup, d *chat.Desk, next chan<- error) error {
	team, err := s.team(ctx)
	if err != nil {
		return err
	}
	address, err := s.ticket(ctx)
	if err != nil {
		return err
	}
	dialing, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, _, err := websocket.Dial(dialing, address, &websocket.DialOptions{HTTPClient: s.api.http, CompressionMode: websocket.CompressionDisabled}) //nolint:bodyclose // the library closes it
	if err != nil {
		return fmt.Errorf("the socket can't be opened: %s", strings.ReplaceAll(cause(err).Error(), address, "…"))
	}
	conn.SetReadLimit(maxEnvelope)
	hello, err := receive(dialing, conn)
	if err == nil && hello.Type != "hello" {
		err = fmt.Errorf("the socket began with %q instead of hello", hello.Type)
	}
	me := self{team: team, app: hello.Connection.AppID}
	if err == nil && (me.app == "" || !strings.Contains(s.cfg.AppToken, "-"+me.app+"-")) {
		err = errors.New("the hello is of another app than the app-level token")
	}
	if err != nil {
		_ = conn.CloseNow()
		return err
	}
	open.Go(func() { s.serve(ctx, conn, d, me, next) })
	return nil
}

func receive(ctx context.Context, conn *websocket.Conn) (e envelope, err error) {
	_, text, err := conn.Read(ctx)
	if err != nil {
		return e, err
	}
	if json.Unmarshal(text, &e) != nil {
		return envelope{}, nil // not for us: another one follows
	}
	return e, nil
}

// serve handles what comes until the connection ends. Envelopes are acknowledged on the
// connection that they came by.
func (s *Slack) serve(ctx context.Context, conn *websocket.Conn, d *chat.Desk, me self, next chan<- error) {
	life := ctx // answers outlive the connection that they came by
	ctx, cancel := context.WithCancel(ctx)
	var answers sync.WaitGroup
	defer func() {
		cancel()
		answers.Wait()
		_ = conn.CloseNow()
	}()
	replaced := false // another connection was asked for
	replace := func(why error) {
		if !replaced {
			replaced = true
			next <- why
		}
	}
	answers.Go(func() { keepAlive(ctx, conn, cancel) })
	room := make(chan struct{}, answersAtOnce)
	for {
		e, err := receive(ctx, conn)
		if err != nil {
			replace(err)
			return
		}
		switch {
		case e.Type == "disconnect" && e.Reason == "link_disabled":
			replace(errors.New("the app has Socket Mode turned off"))
			return
		case e.Type == "disconnect":
			replace(errRefresh) // and go on: what comes until it closes is handled
		case e.ID == "":
		case e.Type != "interactive":
			s.acknowledge(ctx, conn, e.ID, nil)
		default:
			room <- struct{}{}
			answers.Go(func() {
				defer func() { <-room }()
				s.handle(life, d, me, e, func(response object) { s.acknowledge(context.WithoutCancel(ctx), conn, e.ID, response) })
			})
		}
	}
}

// keepAlive ends a connection whose other end no longer answers.
func keepAlive(ctx context.Context, conn *websocket.Conn, end func()) {
	for periodic.Pause(ctx, pingEvery) {
		pinging, cancel := context.WithTimeout(ctx, pingTimeout)
		err := conn.Ping(pinging)
		cancel()
		if err != nil {
			end()
			return
		}
	}
}

// acknowledge writes the answer to an envelope. If that fails Slack sends the envelope
// again, which changes nothing.
func (s *Slack) acknowledge(ctx context.Context, conn *websocket.Conn, id string, response object) {
	text, err := json.Marshal(acknowledgment(id, response))
	if err != nil { // it has texts only
		panic(err)
	}
	writing, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if err := conn.Write(writing, websocket.MessageText, text); err != nil {
		s.cfg.Log.WarnContext(ctx, "an envelope of Slack could not be acknowledged", "error", err)
	}
}
