// Package telemetry reports what the service does: metrics for /metrics, spans for traces,
// and the ids that connect log lines to a request. It decides nothing and stores nothing;
// callers report facts to it. All of it is optional: a nil *Metrics counts nothing, a nil
// *Traces makes no span.
//
// Metrics, spans and log lines contain no secret, no input and no query of a URL. They do
// contain the names of tenants, projects, capabilities and runs.
package telemetry
