package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// lastRows is how many rows of a tenant's table are read without --all, and namedRecords how
// many of those that can't be read are named.
const (
	lastRows     = 10_000
	namedRecords = 10
)

// checkRecords looks for records that can't be read: background work passes over them, and what
// rests on them waits. It reads each tenant's table in its own snapshot.
func checkRecords(ctx context.Context, address string, all bool) []finding {
	most := lastRows
	if all {
		most = math.MaxInt
	}
	var tenants []string
	there, err := peek(ctx, address, func(tx store.Tx) (err error) { tenants, err = records.TenantIDs(tx); return err })
	if !there || errors.Is(err, sqlite.ErrBehind) { // reported by other checks
		return nil
	}
	var broken []unreadable.Record
	looked, more := 0, false
	for _, tenant := range append([]string{store.Realm}, tenants...) {
		for _, t := range store.Tables() {
			if err != nil || t == store.Audit || t == store.AuditHeads { // checkAudit verifies them
				continue
			}
			_, err = peek(ctx, address, func(tx store.Tx) error {
				found, n, err := unreadable.Find(tx, t, tenant, most)
				broken, looked, more = append(broken, found...), looked+n, more || n >= most
				return err
			})
		}
	}
	switch {
	case err != nil:
		return []finding{bad("records", "look again; if it stays so, restore a backup", "they can't be read: %v", err)}
	case broken != nil:
		return []finding{bad("records", "keep the store as it is, and compare it with a backup; what rests on these records waits, all else goes on", "%d can't be read: %s", len(broken), named(broken))}
	case more:
		return []finding{fine("records", "the last %d of each kind can be read; --all reads the others", lastRows)}
	}
	return []finding{fine("records", "all %d can be read", looked)}
}

func named(broken []unreadable.Record) string {
	var out []string
	for _, r := range broken[:min(len(broken), namedRecords)] {
		out = append(out, fmt.Sprintf("%s %s of %s", r.Kind, r.ID, logName(r.Tenant)))
	}
	if len(broken) > namedRecords {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}
