package oidc

import (
	"context"
	"fmt"

	"github.com/coreos/go-oidc/v3/oidc"
)

// discovered returns the provider's description. Concurrent callers share one request, so
// that they don't queue while the provider is slow. A failure is not cached.
func (p *Provider) discovered(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	found := p.found
	p.mu.Unlock()
	if found != nil {
		return found, nil
	}
	select {
	case asked := <-p.asking.DoChan("", func() (any, error) { return p.discover(context.WithoutCancel(ctx)) }):
		found, _ = asked.Val.(*oidc.Provider)
		return found, asked.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.cfg.Issuer)
	if err != nil {
		return nil, fmt.Errorf("the provider's description: %w", clipped(err))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found = found
	return found, nil
}
