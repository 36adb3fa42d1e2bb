package transfer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/store"
)

// Report describes a copy and its check.
type Report struct {
	Rows   int64
	Tables []Moved // tables with rows
	From   string  // the digest of the rows as read from the source
	To     string  // the digest of the rows as read back from the target
	Logs   []Log   // the target's audit logs
}

// Moved is the number of rows of a table.
type Moved struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
}

// Log is the verification of an audit log; tenant "" is the realm's log.
type Log struct {
	TenantID string
	countersign.AuditVerification
}

// Sound reports whether the target has what the source has, with intact audit logs.
func (r Report) Sound() bool {
	return r.From != "" && r.From == r.To && !slices.ContainsFunc(r.Logs, func(l Log) bool { return !l.Intact })
}

func logs(tx store.Tx, tenants []string) (found []Log, err error) {
	for _, tenant := range tenants {
		v, err := audit.Verify(tx, tenant)
		if err != nil {
			return nil, fmt.Errorf("audit log of %q: %w", tenant, err)
		}
		found = append(found, Log{TenantID: tenant, AuditVerification: v})
	}
	return found, nil
}

// digest is SHA-256 over rows in their canonical order. Each text is preceded by its length, so
// that two different stores never give the same bytes.
type digest struct {
	hash   hash.Hash
	tables []Moved
	rows   int64
	seen   map[string]bool
}

func newDigest() *digest {
	return &digest{hash: sha256.New(), seen: map[string]bool{store.Realm: true}}
}

func (d *digest) add(p page) {
	if n := len(d.tables); n == 0 || d.tables[n-1].Table != p.table.Name {
		d.tables = append(d.tables, Moved{Table: p.table.Name})
	}
	d.tables[len(d.tables)-1].Rows += int64(len(p.rows))
	d.rows += int64(len(p.rows))
	d.seen[p.tenant] = true
	for _, row := range p.rows {
		d.row(p, row)
	}
}

func (d *digest) row(p page, row store.Row) {
	d.text(p.table.Name)
	d.text(p.tenant)
	d.text(row.ID)
	d.number(row.Version)
	for _, key := range row.Keys {
		switch v := key.(type) {
		case int64:
			d.number(v)
		case string:
			d.text(v)
		}
	}
	d.number(int64(len(row.Doc)))
	d.hash.Write(row.Doc)
}

func (d *digest) text(s string) {
	d.number(int64(len(s)))
	d.hash.Write([]byte(s))
}

func (d *digest) number(n int64) {
	d.hash.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) // two's complement
}

func (d *digest) sum() string { return hex.EncodeToString(d.hash.Sum(nil)) }

// tenants are all tenants with rows in any table, the realm included.
func (d *digest) tenants() []string { return slices.Sorted(maps.Keys(d.seen)) }
