package slack

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/countersign/countersign/internal/background/chat"
)

// answering is a Slack of fixed answers, by method; its sockets begin with the texts of hello.
func answering(t *testing.T, answers map[string]string, hello ...string) *Slack {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("POST /api/{method}", func(res http.ResponseWriter, req *http.Request) {
		text := answers[req.PathValue("method")]
		_, _ = fmt.Fprint(res, strings.ReplaceAll(text, "SOCKET", strings.Replace(server.URL, "http", "ws", 1)+"/socket"))
	})
	mux.HandleFunc("GET /socket", func(res http.ResponseWriter, req *http.Request) {
		if len(hello) == 0 {
			res.WriteHeader(http.StatusForbidden)
			return
		}
		conn, err := websocket.Accept(res, req, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		for _, text := range hello {
			if conn.Write(req.Context(), websocket.MessageText, []byte(text)) != nil {
				return
			}
		}
		_, _, _ = conn.Read(req.Context())
	})
	return New(Config{URL: server.URL + "/api/", AppToken: "xapp-1-A1-1-x", BotToken: "xoxb-1"})
}

// TestAnAnswerThatSlackNeverGivesIsNamed in the log, as far as an operator can do something.
func TestAnAnswerThatSlackNeverGivesIsNamed(t *testing.T) {
	known, opened := `{"ok":true,"team_id":"T1"}`, `{"ok":true,"url":"SOCKET"}`
	hello := `{"type":"hello","connection_info":{"app_id":"A1"}}`
	for _, test := range []struct {
		want, team, ticket string
		hello              []string
	}{
		{"an error without a code", `{"ok":false}`, "", nil},
		{"auth.test: an answer without team_id", `{"ok":true}`, "", nil},
		{"apps.connections.open: the address is no wss address", known, `{"ok":true,"url":"https://example.com/"}`, nil},
		{"the socket can't be opened: ", known, opened, nil},
		{`the socket began with "disconnect" instead of hello`, known, opened, []string{`{"type":"disconnect"}`}},
		{"the hello is of another app than the app-level token", known, opened, []string{strings.Replace(hello, "A1", "A2", 1)}},
		{"the app has Socket Mode turned off", known, opened, []string{hello, `{"type":"disconnect","reason":"link_disabled"}`}},
	} {
		s := answering(t, map[string]string{"auth.test": test.team, "apps.connections.open": test.ticket}, test.hello...)
		var open sync.WaitGroup
		next := make(chan error, 2)
		err := s.connect(t.Context(), &open, nil, next)
		if err == nil {
			err = <-next
		}
		open.Wait()
		if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "ws://") {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
}

// TestAMessageWithoutItsNameIsNotTakenForSent: it could never be replaced.
func TestAMessageWithoutItsNameIsNotTakenForSent(t *testing.T) {
	s := answering(t, map[string]string{"chat.postMessage": `{"ok":true}`})
	ref, err := s.Post(context.Background(), "C1", chat.Message{})
	if err == nil || err.Error() != "chat.postMessage: an answer without ts" {
		t.Errorf("%q, %v", ref, err)
	}
}
