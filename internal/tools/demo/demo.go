package demo

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/tools/sample"
)

// Wiring connects the demo to the service.
type Wiring struct {
	Version      string
	API, Console string // path prefixes
	Open         func(context.Context, ServiceConfig) (Service, error)
}

// ServiceConfig has the settings of the service that the demo chooses.
type ServiceConfig struct {
	Store     string // directory
	Token     string // bootstrap token
	Origin    string // origin of the shop
	SecretEnv string // variable that holds the secret of the shop's signatures
	Secret    string
	StopGrace string
	Log       io.Writer
}

// Service is an open service. run serves until its context ends; close is called afterwards.
type Service struct {
	Address string
	Run     func(context.Context) error
	Close   func() error
}

// Options are the options of a demo. Without a person the demo decides itself, as the
// reviewer.
type Options struct {
	Directory string // "": a temporary one
	Keep      bool
	Person    io.Reader
	Colour    bool
	Out, Errs io.Writer
	Around    func(http.Handler) http.Handler // wraps the shop's handler, for faults in tests
}

// demo is a running demo.
type demo struct {
	Options
	wiring    Wiring
	place     *place
	shop      *sample.Shop
	answerKey ed25519.PrivateKey // the shop's
	service   Service            // its close is nil until it is open
	serving   chan error         // the error with which the service ended
	log       *os.File           // the log of the service
	print     *printer
	lines     chan string // lines that the person typed; nil before the first question

	admin, operator, reviewer, agent caller

	project    countersign.Project
	model      countersign.Model
	plans      plans
	agents     agents
	refundRun  countersign.Run
	closingRun countersign.Run
	lostRun    countersign.Run
	payoutRun  countersign.Run
	teamRun    countersign.Run

	shown map[string]countersign.StepStatus // the printed state, by run and step
	broke []string                          // expectations that did not hold
}

// plans are the plans of the story. rehearsal and live are the same plan in two modes.
type plans struct{ rehearsal, live, closing countersign.Plan }

// Run plays the whole story. It fails if a part fails, or if an expectation doesn't hold.
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

// stopCause returns why a story ended early: the caller stopped it, or its service failed.
func stopCause(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return errors.New("stopped before its end")
}

// holds records an expectation that doesn't hold; the demo continues.
func (d *demo) holds(ok bool, format string, args ...any) {
	if !ok {
		d.broke = append(d.broke, fmt.Sprintf(format, args...))
	}
}
