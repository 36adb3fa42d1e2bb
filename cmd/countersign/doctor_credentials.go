package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/rules/credential"
	"github.com/countersign/countersign/internal/runtime/credowner"
	"github.com/countersign/countersign/internal/storage/postgres"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// checkOwners finds projects and webhooks whose credential belongs to another tenant or is too
// short.
func checkOwners(ctx context.Context, cfg config) (found []finding) {
	var look credowner.Look
	there, err := peek(ctx, cfg.Store, func(tx store.Tx) (err error) {
		if _, _, err = records.CredentialMarks.Get(tx, store.Realm, records.CredentialsBoundID); err == nil {
			look, err = credowner.LookAt(tx, (*unreadable.Records)(nil).Pass) // others are named by checkRecords
		}
		return err
	})
	switch {
	case !there: // no store, or an unreadable one, which checkStore reports
		return nil
	case errors.Is(err, store.ErrNotFound), errors.Is(err, sqlite.ErrBehind):
		return []finding{warn("credential owners", "read the manual's page on upgrading, and look again after the start", "the first start of this release binds each variable in use to one tenant, and disables the projects of others that use it")}
	case err != nil:
		return []finding{bad("credential owners", "look again; if it stays so, restore a backup", "the owners of the projects' credentials are not known: %v", err)}
	}
	for _, u := range look.Foreign(cfg.Credentials) {
		do := fmt.Sprintf("list the variable for both tenants if they share it (%s/%s and the other's), or give this one its own", u.Tenant, u.Name)
		found = append(found, warn("credential owner", do, "%s of tenant %s uses %s, which is not its tenant's: nothing is sent for it", u.Subject(), u.Tenant, u.Name))
	}
	for _, s := range look.Shared(cfg.Credentials) {
		do := fmt.Sprintf("give each API a secret of its own; where one party runs them all, list %[1]s@https://origin for each", s.Name)
		found = append(found, warn("credential", do, "%s signs at %s: whoever holds it at one of them can sign for the others", s.Name, strings.Join(s.Origins, " and ")))
	}
	for _, u := range look.Uses {
		if credential.Weak(u.Kind, len(cfg.Secrets.Get(u.Name))) {
			found = append(found, warn("credential", "use a longer one, 32 random bytes say", "%s of tenant %s uses %s, which is shorter than %s", u.Subject(), u.Tenant, u.Name, credowner.AtLeast(u.Kind)))
		}
	}
	return found
}

// peek reads a store, also one in use; there is false if there is no readable store.
func peek(ctx context.Context, address string, fn func(store.Tx) error) (there bool, err error) {
	if !isShared(address) {
		sight, err := sqlite.Look(address)
		if err != nil || !sight.Exists {
			return false, nil
		}
		return true, sqlite.Peek(ctx, address, fn)
	}
	reader, err := postgres.OpenReader(address)
	if err != nil {
		return false, nil
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	sight, err := reader.Look(ctx)
	if err != nil || sight.Schema != sight.KnownSchema {
		return false, nil
	}
	return true, reader.View(ctx, fn)
}
