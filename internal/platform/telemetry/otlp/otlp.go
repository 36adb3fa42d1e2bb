// Package otlp exports spans by OTLP over HTTP to the endpoint that the standard OTEL_*
// environment variables name, if any.
package otlp

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/countersign/countersign/internal/platform/telemetry"
)

// stopBound is how long the process waits for unsent spans when it ends.
const stopBound = 5 * time.Second

// Exporter exports the spans of its Traces.
type Exporter struct{ provider *sdktrace.TracerProvider }

// Start starts an exporter if the environment names a collector; otherwise it returns nil,
// and no spans are made. The OpenTelemetry library reads the OTEL_* variables itself; getenv
// is used only to find out whether to export, and whether a variable asks for something
// that this binary can't do, which is an error.
func Start(ctx context.Context, getenv func(string) string, version string, log *slog.Logger) (*Exporter, error) {
	if !wanted(getenv) {
		return nil, nil
	}
	if err := unusable(getenv); err != nil {
		return nil, err
	}
	otel.SetErrorHandler(&complaints{log: log})
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	return &Exporter{sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(resourceOf(ctx, version)))}, nil
}

func wanted(getenv func(string) string) bool {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	return getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

func unusable(getenv func(string) string) error {
	if e := getenv("OTEL_TRACES_EXPORTER"); e != "" && e != "otlp" {
		return errors.New("OTEL_TRACES_EXPORTER: traces go out by otlp; set that, or none")
	}
	protocol := cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), "http/protobuf")
	if protocol != "http/protobuf" {
		return errors.New("OTEL_EXPORTER_OTLP_PROTOCOL: traces go out by http/protobuf, usually to port 4318; set that")
	}
	return nil
}

// resourceOf describes this process; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take
// precedence.
func resourceOf(ctx context.Context, version string) *resource.Resource {
	named := resource.WithAttributes(attribute.String("service.name", "countersign"), attribute.String("service.version", version))
	r, err := resource.New(ctx, resource.WithTelemetrySDK(), named, resource.WithFromEnv())
	if err != nil && r == nil {
		return resource.Default()
	}
	return r // the attributes that could be read
}

// Traces makes spans that are exported; for a nil Exporter it returns nil.
func (e *Exporter) Traces() *telemetry.Traces {
	if e == nil {
		return nil
	}
	return telemetry.NewTraces(e.provider)
}

// Stop sends the remaining spans, within stopBound.
func (e *Exporter) Stop() error {
	if e == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopBound)
	defer cancel()
	return e.provider.Shutdown(ctx)
}

// quiet is the time after a logged export error in which further ones are not logged.
const quiet = time.Minute

// complaints logs export errors at most once in quiet: a collector that is down must not
// fill the log.
type complaints struct {
	log  *slog.Logger
	last atomic.Int64
}

// Handle implements otel.ErrorHandler.
func (c *complaints) Handle(err error) {
	now, last := time.Now().UnixNano(), c.last.Load()
	if now-last < int64(quiet) || !c.last.CompareAndSwap(last, now) {
		return
	}
	c.log.Warn("traces not exported", "error", err)
}
