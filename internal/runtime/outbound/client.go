// Package outbound makes one call to a project API: it signs, sends, bounds and
// says what is known of the outcome (specification 4 rule 7 and 5.2, contract 8).
//
// It speaks HTTP/1.1 over its own connections instead of through net/http's
// Transport, because that sends a request again by itself when a reused
// connection dies. Here a request is written by exactly one call of exchange, on
// one connection, and whether a byte of it left is counted below TLS; so
// [request.NotSent] and [request.Unknown] are facts, not guesses.
package outbound

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/rules/request"
)

// Config is what the operator's settings and the program give a Client.
type Config struct {
	// Origins that projects may be called at, as [request.NormalizeOrigin]
	// writes them. The list is asked on every call.
	Origins []string
	// MayUse says why a tenant may not use a credential variable that is bound to a
	// tenant, nil that it may. It is asked on every call that needs one. Required.
	MayUse func(u credential.Use, boundTo string) error
	// Getenv reads a credential at the moment of the call; os.Getenv when nil.
	Getenv func(string) string
	// Now is the wall clock of timestamps; time.Now when nil. Timeouts are
	// monotonic and don't ask it.
	Now func() time.Time
	// UserAgent is sent with every call; "countersign" when empty.
	UserAgent string
	// Calls is how many calls may be under way at once; 64 when fewer. As many idle
	// connections are kept for an origin.
	Calls int
	// Traces makes a span of each call and lets the receiver make its own below it;
	// nil: neither.
	Traces *telemetry.Traces
	// Log is told of calls that were not sent or whose outcome isn't known; nil:
	// nobody is.
	Log *slog.Logger
}

// Client calls project APIs. It is safe for concurrent use and keeps a few idle
// connections, which Close gives up.
type Client struct {
	origins     map[string]bool
	parsed      map[string]origin // those of origins, by their text
	credentials credentials
	now         func() time.Time
	userAgent   string
	traces      *telemetry.Traces
	log         *slog.Logger
	dialer      dialer
	pool        *pool
	closers     closers
}

// New makes a Client. A Config without MayUse is a mistake in the program.
func New(cfg Config) *Client {
	if cfg.MayUse == nil {
		panic("outbound: Config.MayUse is required")
	}
	c := &Client{
		origins:     names(cfg.Origins),
		parsed:      parseOrigins(cfg.Origins),
		credentials: newCredentials(cfg),
		now:         cfg.Now,
		userAgent:   cfg.UserAgent,
		traces:      cfg.Traces,
		log:         cfg.Log,
		pool:        newPool(cfg.Calls),
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.userAgent == "" {
		c.userAgent = "countersign"
	}
	return c
}

// Close gives up the idle connections. Calls in flight go on and keep none.
func (c *Client) Close() { c.pool.close() }

// Call sends one request, at most once, and reports what became of it. It
// returns when the answer is complete, the call's timeout is over or ctx ends,
// whichever comes first; nothing of it goes on afterwards.
func (c *Client) Call(ctx context.Context, call request.Call) request.Outcome {
	if call.Project.Adapter == countersign.AdapterLocalEcho {
		return echo(call.Input)
	}
	ctx, span := c.traces.Call(ctx, call.Request.Method, call.Project.BaseURL, call.RunID, call.StepID)
	defer span.End()
	o := c.send(ctx, call)
	status := 0
	if o.Response != nil {
		status = o.Response.StatusCode
	}
	span.Returned(o.Certainty.String(), status)
	c.note(ctx, call, o)
	return o
}

func (c *Client) send(ctx context.Context, call request.Call) request.Outcome {
	m, err := c.message(call)
	if err != nil {
		return request.Outcome{Certainty: request.NotSent, Cause: causeOf(err)}
	}
	if c.traces != nil {
		m.follow(telemetry.Traceparent(ctx))
	}
	a := c.perform(ctx, m, timeoutOf(call))
	secrets := maskerOf(m.credential)
	o := judge(a, secrets)
	signedBy(&o, a, m, call, secrets)
	return o
}

// errTimeout is the context's cause when a call's own time is over.
var errTimeout = errors.New("timeout")

func timeoutOf(call request.Call) time.Duration {
	if call.Timeout <= 0 {
		return countersign.DefaultCapabilityTimeoutMs * time.Millisecond
	}
	return call.Timeout
}

// perform exchanges the message within its time, from dialing to the last byte of the
// answer.
func (c *Client) perform(ctx context.Context, m message, timeout time.Duration) answer {
	start := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	defer cancel()
	a := c.deliver(ctx, m)
	a.took = time.Since(start)
	var known cause
	if a.err != nil && ctx.Err() != nil && !errors.As(a.err, &known) {
		a.err = stopped(context.Cause(ctx), a, timeout)
	}
	return a
}

// deliver writes the message on an idle connection, or on a new one. An idle
// connection that turns out to be dead before it took a single byte is replaced:
// nothing was sent, so nothing is sent twice.
func (c *Client) deliver(ctx context.Context, m message) answer {
	for {
		var conn *conn
		if !m.onceOnly || !c.closers.includes(m.origin.text, time.Now()) {
			conn = c.pool.take(m.origin.text)
		}
		reused := conn != nil
		if !reused {
			var err error
			if conn, err = c.dialer.dial(ctx, m.origin); err != nil {
				return answer{err: err}
			}
		}
		crashpoint.At("outbound.connected", m.method)
		now := c.now()
		a := conn.exchange(ctx, m, m.append(conn.scratch[:0], now, c.userAgent))
		a.timestamp = timestampOf(now)
		if reused && a.sent && a.unheard {
			c.closers.add(m.origin.text, time.Now())
		}
		if a.reusable {
			c.pool.put(m.origin.text, conn)
		} else {
			conn.close()
		}
		if a.sent || !reused || ctx.Err() != nil {
			return a
		}
	}
}

// echo is LOCAL_ECHO: the resolved input is the answer, without a network.
func echo(input map[string]countersign.Value) request.Outcome {
	body := countersign.ObjectValue(input)
	return request.Outcome{
		Certainty: request.Returned,
		Response:  &countersign.Response{StatusCode: 200, Bytes: countersign.ByteCount(len(body.Raw())), BodySHA256: countersign.BodyDigest(countersign.SHA256Hex([]byte(body.Raw())))},
		Body:      body,
	}
}

func names(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, name := range list {
		set[name] = true
	}
	return set
}
