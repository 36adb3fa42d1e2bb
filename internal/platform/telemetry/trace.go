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

// Traces makes the spans of the service. A nil *Traces makes none, so that callers need not
// ask whether tracing is on.
//
// A request's span is the parent of its transactions, and of the steps of the run that it
// started, whenever and in whichever process they are executed: the run keeps the request's
// traceparent. A step's span is the parent of its outbound call and of the transaction that
// stores its result.
type Traces struct{ tracer trace.Tracer }

// NewTraces makes spans with a provider.
func NewTraces(p trace.TracerProvider) *Traces {
	return &Traces{p.Tracer("github.com/countersign/countersign")}
}

// Span is one span. The methods of a nil Span do nothing.
type Span struct{ span trace.Span }

// End ends the span, once.
func (s *Span) End() {
	if s != nil {
		s.span.End()
	}
}

// In adds the span to another context, so that it becomes the parent of spans made there.
func (s *Span) In(ctx context.Context) context.Context {
	if s == nil {
		return ctx
	}
	return trace.ContextWithSpan(ctx, s.span)
}

var format = propagation.TraceContext{}

// Traceparent is the W3C traceparent of the context's span, "" if there is none. A receiver
// can make children of that span.
func Traceparent(ctx context.Context) string {
	c := trace.SpanContextFromContext(ctx)
	if !c.IsValid() {
		return ""
	}
	return "00-" + c.TraceID().String() + "-" + c.SpanID().String() + "-" + c.TraceFlags().String()
}

// under sets the span of a traceparent as the context's parent span.
func under(ctx context.Context, traceparent string) context.Context {
	if traceparent == "" {
		return ctx
	}
	return format.Extract(ctx, propagation.MapCarrier{"traceparent": traceparent})
}

// Request begins the span of an HTTP request. A valid traceparent of the caller becomes its
// parent.
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

// known returns _OTHER for unknown methods, so that callers can't choose the text of a label.
func known(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "_OTHER"
}

// Answered sets the route and the status on a request's span.
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

// By sets the tenant of a request's span.
func By(ctx context.Context, tenant string) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(attribute.String("countersign.tenant", tenant))
	}
}

// Moved links the span of a request that changed a run, such as a decision, to the run's
// trace.
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

// Transaction begins the span of a write transaction as a child of the context's span; it
// makes none if the context has no span.
func (t *Traces) Transaction(ctx context.Context) (context.Context, *Span) {
	if t == nil || !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, nil
	}
	ctx, span := t.tracer.Start(ctx, "transaction")
	return ctx, &Span{span}
}

// Failed marks the span as failed.
func (s *Span) Failed() {
	if s != nil {
		s.span.SetStatus(codes.Error, "")
	}
}

// StepOf identifies the attempt, the step and the run of a span.
type StepOf struct {
	Tenant, RunID, StepID, ProjectID, Capability string
	Attempt                                      int
}

// Step begins the span of one attempt of a step, as a child of the request that started the
// run.
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

// Became sets the step's status and the code of its error, "" for none.
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

// Call begins the span of a request to a project API. It contains neither path nor query,
// since inputs are in them.
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

// Returned sets the result of a call: how certain it is, and the status of the answer, 0
// for none.
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
