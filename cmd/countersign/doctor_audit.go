package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
)

// lastRecords is how many records of each log are verified without --all.
const lastRecords = 10_000

// checkAudit verifies the audit logs, or the end of each. It reads each log in its own snapshot, so
// that no snapshot is open for long.
func checkAudit(ctx context.Context, address string, all bool) []finding {
	most := int64(lastRecords)
	if all {
		most = math.MaxInt64
	}
	var names []string
	there, err := peek(ctx, address, func(tx store.Tx) error {
		tenants, err := records.TenantIDs(tx)
		names = append([]string{store.Realm}, tenants...)
		return err
	})
	if !there || errors.Is(err, sqlite.ErrBehind) { // reported by other checks
		return nil
	}
	var found []finding
	var records, read int64
	for _, name := range names {
		if err != nil {
			break
		}
		_, err = peek(ctx, address, func(tx store.Tx) error {
			v, n, err := audit.VerifyEnd(tx, name, most)
			if err == nil && !v.Intact {
				found = append(found, bad("audit log", "keep the store as it is, and compare it with a backup: a person or a disk fault changed the log", "the log of %s is not what was written: record %d", logName(name), *v.FirstBroken))
			}
			records, read = records+v.Records, read+n
			return err
		})
	}
	switch {
	case err != nil:
		return append(found, bad("audit log", "look again; if it stays so, restore a backup", "it can't be read: %v", err))
	case found != nil:
		return found
	}
	return []finding{fine("audit log", "%s", checkedRecords(len(names), records, read))}
}

func logName(tenant string) string {
	if tenant == store.Realm {
		return "the realm"
	}
	return "tenant " + tenant
}

// checkedRecords says how many records were verified, and how to verify the rest.
func checkedRecords(logs int, records, read int64) string {
	if read < records {
		return fmt.Sprintf("the last %d of %d records in %d logs are as they were written; --all verifies the others", read, records, logs)
	}
	return fmt.Sprintf("all %d records in %d logs are as they were written", records, logs)
}
