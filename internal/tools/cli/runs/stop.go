package runs

import (
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Stop is the command `stop`: it stops LIVE steps, not the service (contract 11).
type Stop struct {
	Reason string `required:"" help:"Why; everybody of the tenant sees it." placeholder:"TEXT"`
	Tenant string `help:"Another tenant, or * for all (realm administrators)." placeholder:"ID"`
	service.Asking
}

// Help explains what continues.
func (Stop) Help() string {
	return "Runs wait where their next LIVE step would begin, over restarts too, until 'countersign go'. Calls on their way end as they do; rehearsals run; approvals may be decided."
}

// Run stops.
func (s *Stop) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, s.Asking, func(c *client.Client) (*countersign.StopState, error) {
		return c.Stop(t.Context, countersign.StopWrite{Reason: s.Reason, TenantID: s.Tenant})
	}, printStop)
}

// Go is the command `go`: it lifts a stop.
type Go struct {
	Reason string `required:"" help:"Why it may go on; kept in the audit log." placeholder:"TEXT"`
	Tenant string `help:"Another tenant, or * for the stop of all (realm administrators)." placeholder:"ID"`
	service.Asking
}

// Run lifts the stop.
func (g *Go) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, g.Asking, func(c *client.Client) (*countersign.StopState, error) {
		return c.Go(t.Context, countersign.StopWrite{Reason: g.Reason, TenantID: g.Tenant})
	}, printStop)
}

// Stopped is the command `stopped`: it shows whether LIVE steps may begin.
type Stopped struct{ service.Asking }

// Run asks.
func (s *Stopped) Run(t *terminal.Terminal) error {
	return service.ShowRecord(t, s.Asking, func(c *client.Client) (*countersign.StopState, error) { return c.Stopped(t.Context) }, printStop)
}

func printStop(w io.Writer, s *countersign.StopState) {
	whose := "tenant " + s.TenantID
	if s.TenantID == countersign.AllTenants {
		whose = "all tenants"
	}
	if !s.Stopped {
		fmt.Fprintf(w, "LIVE steps of %s may begin\n", whose)
		return
	}
	fmt.Fprintf(w, "LIVE steps of %s are STOPPED\n", whose)
	for _, stop := range s.Stops {
		of := ""
		if stop.TenantID == countersign.AllTenants {
			of = ", of all tenants"
		}
		fmt.Fprintf(w, "since %s by %s%s: %s\n", words.Moment(stop.Since), words.Plain(words.Called(stop.By, stop.ByName)), of, words.Plain(stop.Reason))
	}
}
