package ledger

import (
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/records"
	"github.com/countersign/countersign/internal/store"
)

// eachProbe hands over the first n probes of a run that have records of their own, in
// their order, with the sizes of these.
func eachProbe(tx store.Tx, ref Ref, n int, each func(p *records.Probe, size int)) error {
	if n == 0 {
		return nil
	}
	rows, err := tx.List(store.Steps, ref.Tenant, store.Query{Where: []store.Filter{
		{Column: "id", Op: store.AtLeast, Values: []any{records.ProbeID(ref.RunID, 1)}}, {Column: "id", Op: store.AtMost, Values: []any{records.ProbeID(ref.RunID, n)}},
	}})
	if err != nil {
		return err
	}
	for _, row := range rows {
		var p records.Probe
		if err := records.Decode(row, &p); err != nil {
			return err
		}
		each(&p, len(row.Doc))
	}
	return nil
}

// saveProbe writes a probe that was added to a step, and nothing of the step.
func (h *Held) saveProbe(tx store.Tx, step int, p *countersign.ProbeRecord) error {
	h.record.Probes++
	n := h.record.Probes
	doc, _, err := records.Probes(h.record.ID, n).PutDoc(tx, h.Ref.Tenant, records.ProbeID(h.record.ID, n), &records.Probe{Step: step, Probe: *p}, 0)
	if err != nil {
		return fmt.Errorf("probe %d of run %s: %w", n, h.record.ID, err)
	}
	h.probed += len(doc)
	return nil
}
