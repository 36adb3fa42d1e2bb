package outbound

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// headerTrace carries the W3C trace context. It isn't signed: whoever changes it
// leads a trace astray and nothing else.
const headerTrace = "traceparent"

// follow makes a message say which trace it belongs to; where nobody traces, the
// bytes on the wire are what they would be without. A project whose credential
// travels under that very name keeps it.
func (m *message) follow(traceparent string) {
	if !slices.ContainsFunc(m.credential, func(a authentication) bool { return strings.EqualFold(a.HeaderName, headerTrace) }) {
		m.trace = traceparent
	}
}

// note logs a call that didn't end as calls do. A cause is safe to show,
// but for what it quotes of an answer.
func (c *Client) note(ctx context.Context, call request.Call, o request.Outcome) {
	if c.log == nil || o.Certainty == request.Returned {
		return
	}
	what := "call not sent"
	if o.Certainty == request.Unknown {
		what = "call's outcome not known"
	}
	c.log.LogAttrs(ctx, slog.LevelWarn, what, slog.String("run", call.RunID), slog.String("step", call.StepID),
		slog.String("project", call.Project.ID), slog.String("cause", countersign.WithoutQuote(o.Cause)))
}
