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
	waits   waits
	life    context.Context // its end ends all waits
	end     func()
}

// New makes the handler.
func New(cfg Config, c *control.Service) *Handler {
	d := &Handler{cfg: cfg, control: c}
	d.life, d.end = context.WithCancel(context.Background())
	d.handler = sdk.NewStreamableHTTPHandler(serverOf, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: countersign.MaxBodyBytes,
		// Off: it would refuse requests that a proxy on this machine passes on. The
		// API's agent route compares Origin with the public address instead.
		DisableLocalhostProtection: true,
	})
	return d
}

// Stop has every call that waits answer at once, and all later ones.
func (h *Handler) Stop() { h.end() }

// Serve handles one authorized message, whose body is valid JSON, at Pattern. An error
// means that no response was written.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, actor control.Actor, body []byte) error {
	return h.serve(w, r, actor, body, countersign.ModeLive)
}

// Rehearse is Serve at RehearsalPattern.
func (h *Handler) Rehearse(w http.ResponseWriter, r *http.Request, actor control.Actor, body []byte) error {
	return h.serve(w, r, actor, body, countersign.ModeDryRun)
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request, actor control.Actor, body []byte, mode string) error {
	m, params, err := readMessage(r.Header, body)
	if err != nil {
		return err
	}
	v := &toolRequest{Handler: h, ctx: r.Context(), actor: actor, mode: mode, msg: m}
	if v.offer, err = h.control.AgentOffer(v.ctx, actor, r.PathValue("id")); err != nil {
		return err
	}
	if m.method == "" && params == nil { // an answer to an elicitation, which decides nothing
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	if declaresElicitation(m, params) {
		w.Header().Set(sessionHeader, sessionElicits)
	}
	out := newAnswer(body)
	if call, is := v.plain(r.Header, params); is {
		if err := v.call(call, out); err != nil {
			return err
		}
	} else {
		h.handler.ServeHTTP(out, out.request(r, v.server(m)))
	}
	return out.send(w, m, v)
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

	msg     message
	instead any       // what is answered instead of the library's result, nil for that
	shown   *runState // of the call whose page the client's person is shown, nil if none
}

// readMessage reads the one message in a body. Batches, which could make one request as
// costly as many, left the protocol with 2025-06-18. An answer to a request of ours has neither
// method nor params.
func readMessage(h http.Header, body []byte) (m message, params map[string]json.RawMessage, err error) {
	var fields map[string]json.RawMessage
	var failed struct{ Code int } // of an answer
	if json.Unmarshal(body, &fields) != nil || fields == nil || fields["error"] != nil && json.Unmarshal(fields["error"], &failed) != nil {
		return m, nil, countersign.Errorf(countersign.CodeInvalidRequest, "the body must be one JSON-RPC message, an object")
	}
	// The library refuses what doesn't parse here.
	_ = json.Unmarshal(fields["method"], &m.method)
	_ = json.Unmarshal(fields["params"], &params)
	_ = json.Unmarshal(params["name"], &m.tool)
	m.of(h, params)
	m.id, m.bare = fields["id"], len(fields) == 4 && string(fields["jsonrpc"]) == `"2.0"`
	if _, isMethod := fields["method"]; params == nil && (isMethod || fields["result"] == nil && fields["error"] == nil) {
		params = map[string]json.RawMessage{}
	}
	return m, params, nil
}
