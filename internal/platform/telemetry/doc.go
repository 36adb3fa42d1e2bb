// Package telemetry reports what the service does: metrics for
// /metrics, spans for traces, and the ids that tie log lines to a request. It
// decides nothing and stores nothing; whoever acts tells it. All of it may be
// absent: a nil *Metrics counts nothing, a nil *Traces makes no span.
//
// No secret, no input and no query of a URL goes into any of them; what names
// something (a tenant, a project, a capability, a run) does.
package telemetry
