package oidc

import (
	"context"
	"fmt"

	"github.com/coreos/go-oidc/v3/oidc"
)

// discovered is the provider's description. It is asked for once for all who wait for
// it: while the provider is slow they don't queue. A failure is not remembered.
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
