package conformance

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/request"
)

// Config has the parameters of a check.
type Config struct {
	// Project is the definition to check; its BaseURL is the sandbox.
	Project    countersign.Project
	Capability string
	Secrets    []string // the HMAC secret, the token, the key or the password of each way to authenticate, in the project's order; none for NONE
	// Inputs are the inputs of up to three effects: the first call, the call whose connection
	// is closed, and the two concurrent calls. The last input is used for the remaining ones.
	Inputs []map[string]countersign.Value
	// Other is an input with another payload; nil derives one from the first input.
	Other     map[string]countersign.Value
	RunID     string // an id with which every idempotency key begins
	UserAgent string
	Now       func() time.Time // the clock of timestamps
}

// Check is a prepared check.
type Check struct {
	cfg        Config
	capability *countersign.Capability
	auths      []countersign.Auth
	target     string // normalized origin
	wire       wire
	requests   []countersign.Request
	other      countersign.Request
	otherless  string // why there is no other request; "" if there is one
	probe      countersign.Request
	probeless  string // why there is no probe
}

// New prepares a check and sends nothing. Its error names the parameter that can't be used.
func New(cfg Config) (*Check, error) {
	c := &Check{cfg: cfg, capability: cfg.Project.Capability(cfg.Capability), auths: cfg.Project.EffectiveAuths()}
	if err := c.usable(); err != nil {
		return nil, err
	}
	base, err := url.Parse(c.target)
	if err != nil {
		return nil, fmt.Errorf("the address: %w", err)
	}
	c.wire = newWire(base)
	for i, input := range cfg.Inputs {
		r, err := request.Build(nil, &c.cfg.Project, c.capability, input)
		if err != nil {
			return nil, fmt.Errorf("input %d: %w", i+1, err)
		}
		c.requests = append(c.requests, r)
	}
	if err := c.buildOther(); err != nil {
		return nil, err
	}
	c.buildProbe()
	return c, nil
}

func (c *Check) usable() error {
	p := &c.cfg.Project
	origin, err := request.NormalizeOrigin(p.BaseURL)
	switch {
	case p.Adapter != countersign.AdapterHTTPJSON:
		return fmt.Errorf("the project's adapter is %s: only %s has a receiver", p.Adapter, countersign.AdapterHTTPJSON)
	case err != nil:
		return fmt.Errorf("the address %w", err)
	case c.capability == nil:
		return fmt.Errorf("the project has no capability %s; it has %s", c.cfg.Capability, strings.Join(capabilityNames(p), ", "))
	case len(c.auths) == 0 && c.capability.Method != "GET":
		return errors.New("without authentication (NONE) only GET is called")
	case len(c.cfg.Secrets) != len(c.auths):
		return fmt.Errorf("the project authenticates in %d ways: give as many secrets, not %d", len(c.auths), len(c.cfg.Secrets))
	case len(c.cfg.Inputs) == 0:
		return errors.New("give an input, {} for none")
	}
	c.target = origin
	for i, a := range c.auths {
		switch secret := c.cfg.Secrets[i]; {
		case secret == "":
			return fmt.Errorf("the project authenticates by %s: give its secret", a.Type)
		case a.Type != countersign.AuthHMAC && !isHeaderValue(secret):
			return errors.New("the secret can't be sent in a header: control characters or white space around it")
		}
	}
	return nil
}

func capabilityNames(p *countersign.Project) []string {
	names := make([]string, len(p.Capabilities))
	for i, c := range p.Capabilities {
		names[i] = c.Name
	}
	return names
}

func isHeaderValue(s string) bool {
	return s == strings.TrimSpace(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// Effects reports whether the check causes effects at the receiver.
func (c *Check) Effects() bool { return c.capability.HasSideEffect() }

// RunID is the id with which every idempotency key begins.
func (c *Check) RunID() string { return c.cfg.RunID }

// Target is the origin of the sandbox.
func (c *Check) Target() string { return c.target }

// buildProbe builds the request that shows the effect, if the capability has a probe.
func (c *Check) buildProbe() {
	read := c.cfg.Project.Capability(c.capability.Probe)
	if c.capability.Probe == "" || read == nil {
		c.probeless = "the capability names no probe to read its effect with"
		return
	}
	r, err := request.Build(nil, &c.cfg.Project, read, request.ForProbe(read, c.cfg.Inputs[0]))
	if err != nil {
		c.probeless = "the probe can't be made of the input"
		return
	}
	c.probe = r
}
