package mcpup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/tools/adapter/file"
	up "github.com/countersign/countersign/internal/tools/adapter/upstream"
)

// session is a connection to a server that has introduced itself.
type session struct {
	*mcp.ClientSession
	tap   *tap
	child *child // nil over HTTP
	over  chan struct{}
	lists atomic.Int64
	says  func(text string) // writes down what the server says, as text of others
}

// connectTime is how long a server may take to start and introduce itself.
const connectTime = 45 * time.Second

// versions are tried in this order: a server that doesn't know the older handshake has a newer
// one, and some servers don't answer at all to what they don't know.
var versions = []string{"2025-11-25", ""}

// connect reaches a server, or starts it.
func connect(ctx context.Context, cfg *file.MCP, auth *up.Auth, secrets up.Secrets, client *http.Client, log *slog.Logger) (s *session, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	for _, version := range versions {
		s, err = introduce(ctx, version, cfg, auth, secrets, client, log)
		if err == nil || ctx.Err() != nil {
			return s, err
		}
	}
	return nil, err
}

func introduce(ctx context.Context, version string, cfg *file.MCP, auth *up.Auth, secrets up.Secrets, client *http.Client, log *slog.Logger) (*session, error) {
	s := &session{tap: newTap(), over: make(chan struct{}), says: func(text string) { saying(log, auth.Masker(), text) }}
	var t mcp.Transport
	if len(cfg.Command) > 0 {
		var err error
		if s.child, err = start(cfg, secrets, log, auth.Masker()); err != nil {
			return nil, fmt.Errorf("the command could not be started: %w", err)
		}
		t = &mcp.IOTransport{Reader: s.child.reader(s.tap), Writer: writes{s.tap, s.child.in}, MaxLineLength: maxMessage}
	} else {
		watched := *client
		watched.Transport = wire{s.tap, auth, cfg.Headers, client.Transport}
		t = &mcp.StreamableClientTransport{Endpoint: cfg.URL, HTTPClient: &watched, MaxEventSize: maxMessage, DisableStandaloneSSE: true}
	}
	var err error
	if s.ClientSession, err = newClient(log).Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: version}); err != nil {
		if s.child != nil {
			s.child.stop()
		}
		if ctx.Err() != nil {
			return nil, errors.New("the server did not introduce itself as one of MCP in time")
		}
		return nil, errors.New("the server did not introduce itself as one of MCP")
	}
	go func() {
		defer close(s.over)
		_ = s.Wait() // how it ended is nothing to us
		if s.child != nil {
			s.child.stop()
		}
	}()
	return s, nil
}

// newClient makes a client that has nothing to offer to a server: what it asks for is refused.
func newClient(log *slog.Logger) *mcp.Client {
	c := mcp.NewClient(&mcp.Implementation{Name: "countersign-adapter", Version: "1"}, &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			log.Info("a call goes on", "progress", r.Params.Progress, "of", r.Params.Total, "text", safetext.Text(r.Params.Message[:min(len(r.Params.Message), 300)]))
		},
	})
	c.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			switch method {
			case "sampling/createMessage", "elicitation/create", "roots/list":
				return nil, errors.New("the adapter answers no requests of a server")
			}
			return next(ctx, method, r)
		}
	})
	c.AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, r)
			if list, is := result.(*mcp.ListToolsResult); is && list != nil {
				list.TTLMs = 0 // the list is asked for before each call, however long a server says that it holds
			}
			return result, err
		}
	})
	return c
}

// ask makes one request and returns what was seen of it.
func (s *session) ask(ctx context.Context, token string, request func(ctx context.Context) error) *capture {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &capture{token: token, lost: cancel}
	s.tap.watch(c)
	defer s.tap.forget(c)
	_ = request(ctx) // the tap has seen more
	return c
}

// maxPages bounds a list of tools.
const maxPages = 50

// tools asks for all tools, as they are now.
func (s *session) tools(ctx context.Context) (all []Tool, err error) {
	cursor := ""
	for range maxPages {
		token := "list-" + strconv.FormatInt(s.lists.Add(1), 10)
		c := s.ask(ctx, token, func(ctx context.Context) error {
			_, err := s.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor, Meta: mcp.Meta{"progressToken": token}})
			return err
		})
		c.mu.Lock()
		result, failed := c.result, c.failed
		c.mu.Unlock()
		switch {
		case failed != nil:
			s.says(failed.Message)
			return nil, failed.problem()
		case result == nil:
			return nil, errors.New("the server did not answer which tools it has")
		}
		var some []Tool
		if some, cursor, err = page(result); err != nil || cursor == "" {
			return append(all, some...), err
		}
		all = append(all, some...)
	}
	return nil, errors.New("the server's list of tools has no end")
}
