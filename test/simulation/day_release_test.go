package simulation

import (
	"archive/zip"
	"os"

	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/sqlite"
	"github.com/countersign/countersign/internal/storage/store"
)

// earlier is a store that commit a397e7d6 (23 November 2026) has written and closed: before commits went to a journal, before audit
// records were packed and before runs were counted. Each tenant has a model and a project that answers by itself, 31 runs that are
// completed, one approved, one rejected and two that wait for an approval, and the rehearsal of a plan.
const earlier = "testdata/release-a397e7d6.zip"

// What that release said of it.
const earlierRuns, earlierRecords = 35, 246

var earlierHeads = map[string]string{
	"acme":   "c1c179e5c3db0c0fe1c96e298ac0be16067a3ebc8507ce70b51b7d62d45318a9",
	"globex": "b34e6e4b8122af248b66cf9a785ea15662a99509d686e675de75edc5dda3244d",
}

// upgrade makes the earlier release's store one of this release, and checks what is in it before any process works on it.
func (d *day) upgrade() {
	from, err := zip.OpenReader(earlier)
	if err == nil {
		err = os.CopyFS(d.dir, from)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	_ = from.Close()
	rows, err := sqlite.Open(background(), d.dir)
	if err != nil {
		d.t.Fatalf("the store of an earlier release: %v", err)
	}
	d.disk.rows = rows
	for _, tenant := range tenants {
		p := d.look(tenant)
		d.checkTenant(tenant, &p)
		for i := range p.runs {
			d.count(tenant, &p.runs[i])
		}
		if len(p.runs) != earlierRuns {
			d.fail("A1: %s has %d runs after the upgrade; it had %d", tenant, len(p.runs), earlierRuns)
		}
		d.verifyLog(rows, tenant, "an earlier release")
		if head := d.headOf(rows, tenant); head != earlierHeads[tenant] {
			d.fail("A2: the audit log of %s has head %s after the upgrade; it had %s", tenant, head, earlierHeads[tenant])
		}
	}
	if err := rows.Close(); err != nil {
		d.t.Fatal(err)
	}
}

func (d *day) headOf(s viewer, tenant string) (head string) {
	err := s.View(background(), func(tx store.Tx) error {
		v, err := audit.Verify(tx, tenant)
		head = v.Head
		if err == nil && v.Records != earlierRecords {
			d.fail("A2: the audit log of %s has %d records after the upgrade; it had %d", tenant, v.Records, earlierRecords)
		}
		return err
	})
	if err != nil {
		d.fail("A2: %v", err)
	}
	return head
}
