package telemetry

import (
	"context"
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Traces makes the spans of the service. A nil one makes none: everybody who
// performs something may hold it without asking whether tracing is on.
//
// A request is the parent of its transactions, and of the steps of the run that
// it started, whenever and in whichever process they are carried out: the run
// keeps the request's traceparent. A step is the parent of its outbound call and
// of the transaction that keeps what became of it.
type Traces struct{ tracer trace.Tracer }

// NewTraces makes spans by a provider.
func NewTraces(p trace.TracerProvider) *Traces {
	return &Traces{p.Tracer("github.com/countersign/countersign")}
}

// Span is one span; a nil one takes everything and keeps nothing.
type Span struct{ span trace.Span }

// End ends the span, once.
func (s *Span) End() {
	if s != nil {
		s.span.End()
	}
}

// In puts the span into another context, for what is done under it.
func (s *Span) In(ctx context.Context) context.Context {
	if s == nil {
		return ctx
	}
	return trace.ContextWithSpan(ctx, s.span)
}

var format = propagation.TraceContext{}

// Traceparent is the W3C form of the context's span, "" where there is none.
// Whoever gets it can make children of that span.
func Traceparent(ctx context.Context) string {
	c := trace.SpanContextFromContext(ctx)
	if !c.IsValid() {
		return ""
	}
	return "00-" + c.TraceID().String() + "-" + c.SpanID().String() + "-" + c.TraceFlags().String()
}

// under makes the span that a traceparent names the context's parent.
func under(ctx context.Context, traceparent string) context.Context {
	if traceparent == "" {
		return ctx
	}
	return format.Extract(ctx, propagation.MapCarrier{"traceparent": traceparent})
}

// Request begins the span of an HTTP request. The caller's traceparent, if it is
// one, is its parent.
func (t *Traces) Request(r *http.Request) (context.Context, *Span) {
	if t == nil {
		return r.Context(), nil
	}
	ctx := r.Context()
	if parents := r.Header.Values("traceparent"); len(parents) == 1 {
		ctx = under(ctx, parents[0])
	}
	method := attribute.String("http.request.method", known(r.Method))
	ctx, span := t.tracer.Start(ctx, "HTTP", trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(method))
	return ctx, &Span{span}
}

// known keeps a caller from choosing what a label says.
func known(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "_OTHER"
}

// Answered names a request's span by its route and says what it was answered.
func (s *Span) Answered(route string, status int) {
	if s == nil {
		return
	}
	s.span.SetName(route)
	s.span.SetAttributes(attribute.String("http.route", route), attribute.Int("http.response.status_code", status))
	if status >= http.StatusInternalServerError {
		s.span.SetStatus(codes.Error, strconv.Itoa(status))
	}
}

// By says for whom a request's span is.
func By(ctx context.Context, tenant string) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(attribute.String("countersign.tenant", tenant))
	}
}

// Moved ties a request that moved a run, such as a decision, to the run's trace.
func Moved(ctx context.Context, runID, traceparent string) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.String("countersign.run.id", runID))
	if c := trace.SpanContextFromContext(under(context.Background(), traceparent)); c.IsValid() && c.SpanID() != span.SpanContext().SpanID() {
		span.AddLink(trace.Link{SpanContext: c})
	}
}

// Transaction begins the span of a change of the store, under whatever waits for
// it; none where that has no span.
func (t *Traces) Transaction(ctx context.Context) (context.Context, *Span) {
	if t == nil || !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, nil
	}
	ctx, span := t.tracer.Start(ctx, "transaction")
	return ctx, &Span{span}
}

// Failed marks a span whose work came to nothing.
func (s *Span) Failed() {
	if s != nil {
		s.span.SetStatus(codes.Error, "")
	}
}

// StepOf says which attempt of which step of which run a span is about.
type StepOf struct {
	Tenant, RunID, StepID, ProjectID, Capability string
	Attempt                                      int
}

// Step begins the span of carrying out one attempt of a step, under the request
// that started the run.
func (t *Traces) Step(traceparent string, of StepOf) *Span {
	if t == nil {
		return nil
	}
	ctx := under(context.Background(), traceparent)
	_, span := t.tracer.Start(ctx, "step "+of.Capability, trace.WithAttributes(
		attribute.String("countersign.tenant", of.Tenant), attribute.String("countersign.run.id", of.RunID), attribute.String("countersign.step.id", of.StepID),
		attribute.String("countersign.project.id", of.ProjectID), attribute.String("countersign.capability", of.Capability), attribute.Int("countersign.attempt", of.Attempt),
	))
	return &Span{span}
}

// Became says what became of a step; code is its error's, "" for none.
func (s *Span) Became(status, code string) {
	if s == nil {
		return
	}
	s.span.SetAttributes(attribute.String("countersign.step.status", status))
	if code != "" {
		s.span.SetAttributes(attribute.String("error.type", code))
		s.span.SetStatus(codes.Error, code)
	}
}

// Call begins the span of a request to a project API. Neither its path nor its
// query are in it: inputs are.
func (t *Traces) Call(ctx context.Context, method, origin, runID, stepID string) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	ctx, span := t.tracer.Start(ctx, method, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("http.request.method", method), attribute.String("server.address", origin),
		attribute.String("countersign.run.id", runID), attribute.String("countersign.step.id", stepID),
	))
	return ctx, &Span{span}
}

// Returned says how a call ended: what is known of it, and the status of its
// answer, 0 for none.
func (s *Span) Returned(certainty string, status int) {
	if s == nil {
		return
	}
	s.span.SetAttributes(attribute.String("countersign.certainty", certainty))
	if status > 0 {
		s.span.SetAttributes(attribute.Int("http.response.status_code", status))
	}
	if certainty != "Returned" || status >= http.StatusBadRequest {
		s.span.SetStatus(codes.Error, certainty)
	}
}
