// Package health asks a service whether it is well, and what a back end needs to know of it.
package health

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
	"github.com/countersign/countersign/internal/tools/cli/service"
	"github.com/countersign/countersign/internal/tools/cli/terminal"
	"github.com/countersign/countersign/internal/tools/cli/words"
)

// Health is the command `health`: it asks whether the service is well.
type Health struct {
	Wait time.Duration `help:"Ask again until it is well, for this long at most: for scripts that have just started it." placeholder:"10s"`
	service.Asking
}

// Run asks the service. A service that can't write is not well.
func (h *Health) Run(t *terminal.Terminal) error {
	last := time.Now().Add(h.Wait)
	err := h.ask(t)
	for err != nil && time.Now().Before(last) && pause(t, betweenAsking) == nil {
		err = h.ask(t)
	}
	return err
}

// betweenAsking is the pause between two questions to a service that isn't well yet.
const betweenAsking = 100 * time.Millisecond

// pause waits for d; it returns an error if the command is interrupted.
func pause(t *terminal.Terminal, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-t.Context.Done():
		return t.Context.Err()
	}
}

func (h *Health) ask(t *terminal.Terminal) error {
	var well bool
	err := service.ShowRecord(t, h.Asking, func(c *client.Client) (*client.Health, error) { return c.Health(t.Context) }, func(w io.Writer, x *client.Health) {
		terminal.Facts(w, [2]string{"status", x.Status}, [2]string{"version", x.Version}, [2]string{"store", x.Store})
	}, func(x *client.Health) { well = x.Status == "ok" })
	return terminal.VerdictOf(well, err)
}

// Contract reads the machine-readable contract.
type Contract struct{ service.Asking }

// Run prints what a back end needs to know, as the service publishes it.
func (x *Contract) Run(t *terminal.Terminal) error {
	c, err := x.Client(t)
	if err != nil {
		return err
	}
	contract, err := c.IntegrationContract(t.Context)
	if err != nil {
		return err
	}
	if x.Format != "json" {
		printContract(t.Out, contract)
		return nil
	}
	a, err := c.Send(t.Context, client.Request{Method: "GET", Path: "/integrations/contract"})
	if err != nil {
		return err
	}
	return x.Print(t, countersign.RawValue(string(a.Body)), nil)
}

func printContract(w io.Writer, c *client.Contract) {
	terminal.Facts(w, [2]string{"API version", c.APIVersion}, [2]string{"prefixes", words.Joined(c.Prefixes)}, [2]string{"SDK operations", words.Joined(c.SDKOperations)},
		[2]string{"signing", fmt.Sprintf("%s, within %d s", c.Signing.Algorithm, c.Signing.WindowSeconds)}, [2]string{"signed", words.Joined(c.Signing.Parts)})
	fmt.Fprintln(w)
	terminal.Table(w, []string{"header", "meaning"}, pairs(c.RuntimeHeaders, func(v string) string { return v }))
	fmt.Fprintln(w)
	terminal.Table(w, []string{"limit", "value"}, pairs(c.Limits, words.Sequence))
	fmt.Fprintln(w)
	terminal.Table(w, []string{"error", "status"}, pairs(c.ErrorCodes, words.Number[int]))
}

// pairs returns a map's entries, sorted by name.
func pairs[T any](m map[string]T, text func(T) string) [][]string {
	return service.Rows(slices.Sorted(maps.Keys(m)), func(name string) []string { return []string{name, text(m[name])} })
}
