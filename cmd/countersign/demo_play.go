package main

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

// demoWiring is what the demo needs to know of the service.
type demoWiring struct {
	version      string
	api, console string // path prefixes
	open         func(context.Context, serviceConfig) (demoService, error)
}

// serviceConfig is what the demo sets of the service.
type serviceConfig struct {
	store     string // directory
	token     string // bootstrap token
	origin    string // of the shop
	secretEnv string // variable that holds the secret of the shop's signatures
	secret    string
	stopGrace string
	log       io.Writer
}

// demoService is an open service. run serves until its context ends; close is called
// after it.
type demoService struct {
	address string
	run     func(context.Context) error
	close   func() error
}

// demoOptions is what a demo is told. Without a person it decides by itself, as
// the second identity.
type demoOptions struct {
	directory string // "": a temporary one
	keep      bool
	person    io.Reader
	colour    bool
	out, errs io.Writer
	around    func(http.Handler) http.Handler // of the shop: a test's faults
}

// demo is one demonstration under way.
type demo struct {
	demoOptions
	wiring  demoWiring
	place   *demoPlace
	shop    *sample.Shop
	service demoService // its close is nil until it is open
	serving chan error  // what ended the service
	log     *os.File    // the service's
	print   *printer
	lines   chan string // what the person typed; nil until asked

	admin, operator, reviewer, agent caller

	project    countersign.Project
	model      countersign.Model
	plans      demoPlans
	agents     demoAgents
	refundRun  countersign.Run
	closingRun countersign.Run
	teamRun    countersign.Run

	shown map[string]countersign.StepStatus // by run and step, the state that was printed
	broke []string                          // what should hold and doesn't
}

// demoPlans are the plans of the story. Rehearsal and live are one plan in two
// modes.
type demoPlans struct{ rehearsal, live, closing countersign.Plan }

// runDemo tells the whole story. It fails when a part of it fails, or when what
// it shows doesn't hold.
func runDemo(ctx context.Context, w demoWiring, o demoOptions) error {
	place, err := enterPlace(o.directory)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	d := &demo{demoOptions: o, wiring: w, place: place, print: &printer{w: o.out, colour: o.colour}, shown: map[string]countersign.StepStatus{}}
	err = d.run(ctx)
	if err != nil && ctx.Err() == nil && place.temporary {
		fmt.Fprintln(o.errs, "countersign: demo: what it did is left in", place.dir)
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
	if err == nil && d.keep {
		d.stayUp(told)
	}
	switch {
	case err != nil && told.Err() != nil:
		err = fmt.Errorf("demo: %w", stopCause(told))
	case err != nil:
		err = fmt.Errorf("demo: %w; the service's log is %s", err, d.place.file(serviceLog))
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
