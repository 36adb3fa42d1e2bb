package oidc

import (
	"context"
	"fmt"
	"sync"

	"github.com/coreos/go-oidc/v3/oidc"
)

// discovery is the provider's description. It is read once for all who wait for it: one
// request with one bound, whose failure is all of theirs and is not remembered.
type discovery struct {
	mu       sync.Mutex
	found    *oidc.Provider
	underway *reading // nil: nobody waits
}

// reading is one request for the description; what it holds is good once done is closed.
type reading struct {
	done  chan struct{}
	found *oidc.Provider
	err   error
}

// discovered is the provider's description. Who asked first may go: the others get it.
func (p *Provider) discovered(ctx context.Context) (*oidc.Provider, error) {
	found, r := p.join()
	if found != nil {
		return found, nil
	}
	select {
	case <-r.done:
		return r.found, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// join gives the description, or the request for it that is under way.
func (p *Provider) join() (*oidc.Provider, *reading) {
	d := &p.discovery
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.found == nil && d.underway == nil {
		d.underway = &reading{done: make(chan struct{})}
		go p.read(d.underway)
	}
	return d.found, d.underway
}

func (p *Provider) read(r *reading) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.cfg.Issuer)
	if err != nil {
		r.err = fmt.Errorf("the provider's description: %w", clipped(err))
	} else {
		r.found = found
	}
	p.discovery.mu.Lock()
	p.discovery.found, p.discovery.underway = r.found, nil
	p.discovery.mu.Unlock()
	close(r.done)
}
