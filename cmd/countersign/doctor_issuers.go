package main

import (
	"context"

	"github.com/countersign/countersign/internal/platform/issuer"
)

// checkIssuers asks each issuer of agents' tokens for its keys, and compares its clock with ours.
func checkIssuers(ctx context.Context, cfg config) (found []finding) {
	if len(cfg.TokenIssuers) == 0 {
		return nil
	}
	fetch := issuer.HTTP(cfg.TokenIssuers)
	for _, address := range issuer.New(issuer.Config{Entries: cfg.TokenIssuers}).Issuers() {
		found = append(found, issuerFinding(issuer.Examine(ctx, fetch, now, address)))
	}
	if cfg.PublicURL == "" {
		found = append(found, warn("issuers", "set SVC_PLATFORM_PUBLIC_URL to the address that agents use", "a token must name the address of this service as its audience, which is %s now", cfg.Listen))
	}
	return found
}

func issuerFinding(f issuer.Found) finding {
	switch {
	case f.Err != nil:
		return bad("issuer", "correct SVC_PLATFORM_TOKEN_ISSUERS, or look at the issuer and the network; no token of it is taken until then", "%s: %v", f.Issuer, f.Err)
	case f.Ahead > issuer.Skew || f.Ahead < -issuer.Skew:
		return bad("issuer", "set both clocks; tokens seem expired, or not begun", "%s: its clock is %s ahead of ours, and %s are allowed", f.Issuer, f.Ahead, issuer.Skew)
	case f.Ahead > issuer.Skew/2 || f.Ahead < -issuer.Skew/2:
		return warn("issuer", "set both clocks; beyond a minute no token is taken", "%s: its clock is %s ahead of ours", f.Issuer, f.Ahead)
	}
	return fine("issuer", "%s describes itself, with %d keys, and its clock is right", f.Issuer, f.Keys)
}
