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

// The paths of an agent's servers: calls of the one are LIVE, and of the other rehearsals.
const (
	Pattern          = "/mcp/agents/{id}"
	RehearsalPattern = Pattern + "/rehearsal"
)

// Config is the package's configuration.
type Config struct {
	Version string
	Rest    time.Duration // longest wait of a call for its run to end or to need a person
	BaseURL string
	Log     *slog.Logger
}

// Handler serves the protocol's messages.
type Handler struct {
	cfg     Config
	control *control.Service
	handler http.Handler
}

// New makes the handler.
func New(cfg Config, c *control.Service) *Handler {
	d := &Handler{cfg: cfg, control: c}
	d.handler = sdk.NewStreamableHTTPHandler(serverOf, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: countersign.MaxBodyBytes,
		// Off: it would refuse requests that a proxy on this machine passes on. The
		// API's agent route compares Origin with the public address instead.
		DisableLocalhostProtection: true,
	})
	return d
}

// Serve handles one authorized message, whose body is valid JSON, at Pattern. An error
// means that no response was written.
func (d *Handler) Serve(w http.ResponseWriter, r *http.Request, actor control.Actor, body []byte) error {
	return d.serve(w, r, actor, body, countersign.ModeLive)
}

// Rehearse is Serve at RehearsalPattern.
func (d *Handler) Rehearse(w http.ResponseWriter, r *http.Request, actor control.Actor, body []byte) error {
	return d.serve(w, r, actor, body, countersign.ModeDryRun)
}

func (d *Handler) serve(w http.ResponseWriter, r *http.Request, actor control.Actor, body []byte, mode string) error {
	m, err := readMessage(body)
	if err != nil {
		return err
	}
	v := &toolRequest{Handler: d, ctx: r.Context(), actor: actor, mode: mode}
	if v.offer, err = d.control.AgentOffer(v.ctx, actor, r.PathValue("id")); err != nil {
		return err
	}
	out := newAnswer(body)
	d.handler.ServeHTTP(out, out.request(r, v.server(m)))
	return out.send(w, m, v.own)
}

// toolRequest is one message. It holds resources for the duration of its HTTP request
// only.
type toolRequest struct {
	*Handler
	ctx   context.Context
	actor control.Actor
	offer control.Offer
	mode  string         // of the runs that calls start
	own   *jsonrpc.Error // our own refusal of the message, nil if none
}

// message is what has to be known before the library parses it.
type message struct {
	method string
	tool   string // the called tool
}

// readMessage reads the one message in a body. Batches, which could make one request as
// costly as many, left the protocol with 2025-06-18.
func readMessage(body []byte) (m message, err error) {
	var fields, params map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil || fields == nil {
		return m, countersign.Errorf(countersign.CodeInvalidRequest, "the body must be one JSON-RPC message, an object")
	}
	// The library refuses what doesn't parse here.
	_ = json.Unmarshal(fields["method"], &m.method)
	_ = json.Unmarshal(fields["params"], &params)
	_ = json.Unmarshal(params["name"], &m.tool)
	return m, nil
}
