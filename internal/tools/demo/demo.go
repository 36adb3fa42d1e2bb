package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/tools/sample"
)

// Wiring is what the demo needs to know of the service.
type Wiring struct {
	Version      string
	API, Console string // path prefixes
	Open         func(context.Context, ServiceConfig) (Service, error)
}

// ServiceConfig is what the demo sets of the service.
type ServiceConfig struct {
	Store     string // directory
	Token     string // bootstrap token
	Origin    string // of the shop
	SecretEnv string // variable that holds the secret of the shop's signatures
	Secret    string
	StopGrace string
	Log       io.Writer
}

// Service is an open service. run serves until its context ends; close is called
// after it.
type Service struct {
	Address string
	Run     func(context.Context) error
	Close   func() error
}

// Options is what a demo is told. Without a person it decides by itself, as
// the second identity.
type Options struct {
	Directory string // "": a temporary one
	Keep      bool
	Person    io.Reader
	Colour    bool
	Out, Errs io.Writer
	Around    func(http.Handler) http.Handler // of the shop: a test's faults
}

// demo is one demonstration under way.
type demo struct {
	Options
	wiring  Wiring
	place   *place
	shop    *sample.Shop
	service Service    // its close is nil until it is open
	serving chan error // what ended the service
	log     *os.File   // the service's
	print   *printer
	lines   chan string // what the person typed; nil until asked

	admin, operator, reviewer, agent caller

	project    countersign.Project
	model      countersign.Model
	plans      plans
	agents     agents
	refundRun  countersign.Run
	closingRun countersign.Run
	teamRun    countersign.Run

	shown map[string]countersign.StepStatus // by run and step, the state that was printed
	broke []string                          // what should hold and doesn't
}

// plans are the plans of the story. Rehearsal and live are one plan in two
// modes.
type plans struct{ rehearsal, live, closing countersign.Plan }

// Run tells the whole story. It fails when a part of it fails, or when what
// it shows doesn't hold.
func Run(ctx context.Context, w Wiring, o Options) error {
	place, err := enterPlace(o.Directory)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	d := &demo{Options: o, wiring: w, place: place, print: &printer{w: o.Out, colour: o.Colour}, shown: map[string]countersign.StepStatus{}}
	err = d.run(ctx)
	if err != nil && ctx.Err() == nil && place.temporary {
		fmt.Fprintln(o.Errs, "countersign: demo: what it did is left in", place.dir)
		return err
	}
	return errors.Join(err, place.leave())
}

func (d *demo) run(ctx context.Context) error {
	told, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if err := d.open(told, stop); err != nil {
		return errors.Join(fmt.Errorf("demo: %w", err), d.close())
	}
	err := d.tell(told)
	if err == nil && d.Keep {
		d.stayUp(told)
	}
	switch {
	case err != nil && told.Err() != nil:
		err = fmt.Errorf("demo: %w", stopCause(told))
	case err != nil:
		err = fmt.Errorf("demo: %w; the service's log is %s", err, d.place.file(ServiceLog))
	case len(d.broke) > 0:
		err = fmt.Errorf("demo: what it shows does not hold (%d)", len(d.broke))
	}
	stop(nil)
	return errors.Join(err, d.close())
}

// stopCause says why a story ended early: somebody stopped it, or its service
// failed.
func stopCause(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return errors.New("stopped before its end")
}

// holds takes note of what should hold and doesn't; the demo goes on.
func (d *demo) holds(ok bool, format string, args ...any) {
	if !ok {
		d.broke = append(d.broke, fmt.Sprintf(format, args...))
	}
}
