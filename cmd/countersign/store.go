package main

import (
	"context"
	"net/url"
	"strings"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/postgres"
	"github.com/countersign/countersign/internal/store/sqlite"
)

// isShared reports a store that several replicas may use at once: a PostgreSQL
// database instead of a directory.
func isShared(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// openStore opens the store of the settings.
func openStore(ctx context.Context, address string) (store.Store, error) {
	if isShared(address) {
		return postgres.Open(ctx, address)
	}
	return sqlite.Open(ctx, address)
}

// shownStore is a store's address as it may be printed.
func shownStore(address string) string {
	if !isShared(address) {
		return address
	}
	u, err := url.Parse(address)
	if err != nil {
		return "postgres"
	}
	return u.Redacted()
}

// directoryOnly refuses what can be done with the embedded store alone.
func directoryOnly(address, instead string) error {
	if isShared(address) {
		return cli.Unusablef("the store is a PostgreSQL database: %s", instead)
	}
	return nil
}
