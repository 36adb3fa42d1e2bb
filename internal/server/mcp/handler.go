package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// Pattern is where an agent's server is.
const Pattern = "/mcp/agents/{id}"

// Config holds the settings of a Handler.
type Config struct {
	Version string
	Rest    time.Duration // how long a call waits, at most, for its run to come to rest
	NewID   func(prefix string) string
	Log     *slog.Logger
}

// Handler answers what clients of the protocol ask.
type Handler struct {
	cfg     Config
	control *control.Service
	handler http.Handler
}

// New makes a Handler.
func New(cfg Config, c *control.Service) *Handler {
	d := &Handler{cfg: cfg, control: c}
	d.handler = sdk.NewStreamableHTTPHandler(serverOf, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: countersign.MaxBodyBytes,
		// It would refuse whatever a proxy on this machine passes on. The gate before
		// this handler compares Origin with the public address instead.
		DisableLocalhostProtection: true,
	})
	return d
}

// Serve answers one message of a client whom the gate has let in; its body is checked
// JSON. An error means that nothing of the protocol was answered.
func (d *Handler) Serve(w http.ResponseWriter, r *http.Request, actor control.Actor, body []byte) error {
	m, err := readMessage(body)
	if err != nil {
		return err
	}
	v := &toolRequest{Handler: d, ctx: r.Context(), actor: actor}
	if v.offer, err = d.control.AgentOffer(v.ctx, actor, r.PathValue("id")); err != nil {
		return err
	}
	out := newAnswer(body)
	d.handler.ServeHTTP(out, out.request(r, v.server(m)))
	return out.send(w, m, v.own)
}

// toolRequest is one message on its way. What it may cost ends with its request.
type toolRequest struct {
	*Handler
	ctx   context.Context
	actor control.Actor
	offer control.Offer
	own   *jsonrpc.Error // with which the message was refused, nil for none
}

// message is what has to be known of a message before the library reads it.
type message struct {
	method string
	tool   string // that it calls
}

// readMessage reads the one message in a body. Several at once would make one request
// cost as much as many; the protocol gave them up with 2025-06-18.
func readMessage(body []byte) (m message, err error) {
	var fields, params map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil || fields == nil {
		return m, countersign.Errorf(countersign.CodeInvalidRequest, "the body must be one JSON-RPC message, an object")
	}
	// What doesn't fit here is the library's to refuse.
	_ = json.Unmarshal(fields["method"], &m.method)
	_ = json.Unmarshal(fields["params"], &params)
	_ = json.Unmarshal(params["name"], &m.tool)
	return m, nil
}
