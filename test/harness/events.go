package harness

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
)

// Event is one server-sent event.
type Event struct {
	ID   string
	Name string
	Data JSON
}

// Stream is a stream of server-sent events, read as it arrives.
type Stream struct {
	server *Server
	lines  *bufio.Scanner
	cancel context.CancelFunc
}

// Events opens the event stream at a path. The caller must read it to its end or close it.
func (c *Client) Events(t testing.TB, path string, headers ...Header) *Stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.server.URL+c.prefix+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	for name, values := range changed(headers) {
		req.Header[name] = values
	}
	res, err := c.server.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("GET %s: %s, %s", path, res.Status, res.Header.Get("Content-Type"))
	}
	operation := "runEvents"
	if path == "/events" {
		operation = "events"
	}
	cover(c.server.document, operation, res.StatusCode)
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 16<<20)
	return &Stream{server: c.server, lines: lines, cancel: cancel}
}

// Next reads the next event; ok is false when the stream has ended.
func (s *Stream) Next(t testing.TB) (e Event, ok bool) {
	t.Helper()
	for s.lines.Scan() {
		if secret := s.server.leaked(s.lines.Text()); secret != "" {
			t.Errorf("an event holds the secret %s", secret)
		}
		field, v, _ := strings.Cut(s.lines.Text(), ": ")
		switch field {
		case "id":
			e.ID = v
		case "event":
			e.Name = v
		case "data":
			var err error
			if e.Data, err = Parse([]byte(v)); err != nil {
				t.Fatalf("the data of an event is no JSON: %v\n%s", err, v)
			}
			ok = true
		case "":
			if ok {
				return e, true
			}
		}
	}
	return e, false
}

// AwaitComment reads up to the next comment, a line that only keeps the stream open; false
// if the stream ends before one.
func (s *Stream) AwaitComment() bool {
	for s.lines.Scan() {
		if strings.HasPrefix(s.lines.Text(), ":") {
			return true
		}
	}
	return false
}

// Rest reads all events up to the end of the stream.
func (s *Stream) Rest(t testing.TB) (events []Event) {
	t.Helper()
	for {
		e, ok := s.Next(t)
		if !ok {
			return events
		}
		events = append(events, e)
	}
}

// Close stops reading.
func (s *Stream) Close() { s.cancel() }
