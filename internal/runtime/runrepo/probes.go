package runrepo

import (
	"fmt"
	"maps"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// probesAtOnce is how many probes, of up to a mebibyte each, are in memory at a time.
const probesAtOnce = 8

// eachProbe passes the first n probes of a run that have records of their own to each, in
// order, with the sizes of these records.
func eachProbe(tx store.Tx, ref Ref, n int, each func(p *records.Probe, size int)) error {
	for first := 1; first <= n; first += probesAtOnce {
		rows, err := tx.List(store.Steps, ref.Tenant, store.Query{Where: []store.Filter{
			{Column: "id", Op: store.AtLeast, Values: []any{records.ProbeID(ref.RunID, first)}},
			{Column: "id", Op: store.AtMost, Values: []any{records.ProbeID(ref.RunID, min(n, first+probesAtOnce-1))}},
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
	}
	return nil
}

// Listed is a probe as lists show it: without request, response and output.
func Listed(p countersign.ProbeRecord) countersign.ProbeRecord {
	p.Request, p.Response, p.Output = nil, nil, countersign.Value{}
	return p
}

// countProbes adds empty probes in place of those that are too large to be read for each
// event, which needs only their number.
func (h *LoadedRun) countProbes() {
	for i, n := range h.record.StepProbes {
		s := &h.record.Steps[i]
		for range n {
			s.Probes = append(s.Probes, countersign.ProbeRecord{N: len(s.Probes) + 1})
		}
	}
	h.probed = h.record.ProbeBytes
}

// WasRead reports a probe that was read, and not only counted.
func WasRead(p countersign.ProbeRecord) bool { return p.By != "" }

// saveProbeAnswer writes what came of a probe over its intent. It is one of the latest.
func (h *LoadedRun) saveProbeAnswer(tx store.Tx, a *run.Probed) error {
	for n := h.record.Probes; n > 0; n-- {
		known, version, err := records.Probes(h.record.ID, n).Get(tx, h.Ref.Tenant, records.ProbeID(h.record.ID, n))
		if err != nil {
			return fmt.Errorf("probe %d of run %s: %w", n, h.record.ID, err)
		}
		if known.Step != a.Step || known.Probe.N != a.Probe.N {
			continue
		}
		was, err := countersign.Marshal(known)
		if err != nil {
			return err
		}
		doc, _, err := records.Probes(h.record.ID, n).PutDoc(tx, h.Ref.Tenant, records.ProbeID(h.record.ID, n), &records.Probe{Step: a.Step, Probe: a.Probe}, version)
		if err != nil {
			return fmt.Errorf("probe %d of run %s: %w", n, h.record.ID, err)
		}
		h.record.ProbeBytes += len(doc) - len(was)
		h.probed += len(doc) - len(was)
		return nil
	}
	return fmt.Errorf("probe %d of step %d of run %s: %w", a.Probe.N, a.Step, h.record.ID, store.ErrNotFound)
}

// saveProbe writes a probe that was added to a step, and not the step.
func (h *LoadedRun) saveProbe(tx store.Tx, step int, p *countersign.ProbeRecord) error {
	h.record.Probes++
	n := h.record.Probes
	doc, _, err := records.Probes(h.record.ID, n).PutDoc(tx, h.Ref.Tenant, records.ProbeID(h.record.ID, n), &records.Probe{Step: step, Probe: *p}, 0)
	if err != nil {
		return fmt.Errorf("probe %d of run %s: %w", n, h.record.ID, err)
	}
	h.record.StepProbes = maps.Clone(h.record.StepProbes)
	if h.record.StepProbes == nil {
		h.record.StepProbes = map[int]int{}
	}
	h.record.StepProbes[step]++
	h.record.ProbeBytes += len(doc)
	h.probed += len(doc)
	return nil
}
