package control

import (
	"sync"
	"time"

	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/telemetry"
	"github.com/countersign/countersign/internal/storage/store"
)

// storedCounts counts what a tenant has stored. A count reads a range of an index, which
// takes a while for a large tenant, so frequent callers get the latest count again.
type storedCounts struct {
	mu     sync.Mutex
	latest map[string]counted
}

type counted struct {
	figures []telemetry.Figure
	until   time.Time
}

// A count that took longer than countFreely is reused for countShare times as long as it
// took, so that scraping takes at most 1/countShare of a reader.
const (
	countFreely = 20 * time.Millisecond
	countShare  = 20
)

// of runs one count at a time. Callers that wait for it hold no reader of the store.
func (c *storedCounts) of(tenant string, take func() ([]telemetry.Figure, error)) ([]telemetry.Figure, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	began := time.Now()
	if known, ok := c.latest[tenant]; ok && began.Before(known.until) {
		return known.figures, nil
	}
	figures, err := take()
	if took := time.Since(began); err == nil && took > countFreely {
		if c.latest == nil {
			c.latest = map[string]counted{}
		}
		c.latest[tenant] = counted{figures, time.Now().Add(countShare * took)}
	}
	return figures, err
}

// countStored counts what a tenant has.
func countStored(tx store.Tx, tenant string) ([]telemetry.Figure, error) {
	records, err := audit.Size(tx, tenant)
	if err != nil {
		return nil, err
	}
	figures := []telemetry.Figure{{Name: "countersign_audit_records", Help: "Records of the tenant's audit log.", Value: float64(records)}}
	for _, count := range tenantCounts() {
		n, err := tx.Count(count.table, tenant, store.Query{Where: equals(map[string]string{"status": count.is})})
		if err != nil {
			return nil, err
		}
		figures = append(figures, telemetry.Figure{Name: count.name, Help: count.help, Label: count.label, Is: count.is, Value: float64(n)})
	}
	return figures, nil
}
