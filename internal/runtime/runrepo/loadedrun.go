package runrepo

import (
	"fmt"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/rules/run"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// LoadedRun is a stored run in memory, with the versions it was read at. It is immutable:
// saving gives a new one.
type LoadedRun struct {
	Ref     Ref
	record  records.Run // with Steps
	version int64
	stamp   cache.Stamp // of the record without its steps
	stored  storedSteps
	probed  int // bytes of the probes that have records of their own
	plan    *countersign.Plan
}

// storedStep is what the store has of a step besides its record.
type storedStep struct {
	version int64
	size    int    // of its document, in bytes
	inline  int    // how many probes are in its document
	sent    string // what it is found by, see records.SentKey
}

// storedSteps are those of a run, in the order of its steps.
type storedSteps []storedStep

// size is how many bytes the documents have.
func (s storedSteps) size() (n int) {
	for _, step := range s {
		n += step.size
	}
	return n
}

// Run is the run with its steps. It must not be changed.
func (h *LoadedRun) Run() *countersign.Run { return &h.record.Run }

// Trace is the traceparent of the request that started the run, "" for none.
func (h *LoadedRun) Trace() string { return h.record.Trace }

// Plan is the plan that the run was started from, with its project snapshots.
func (h *LoadedRun) Plan() *countersign.Plan { return h.plan }

// Size is how many bytes the run's steps take in the store.
func (h *LoadedRun) Size() int { return h.stored.size() + h.probed }

// Load reads a run with its steps and plan, to apply events to it. Probes of more than
// MaxRemembered bytes are only counted.
func (l *Repository) Load(tx store.Tx, ref Ref) (*LoadedRun, error) {
	rec, version, err := records.Runs.Get(tx, ref.Tenant, ref.RunID)
	if err != nil {
		return nil, err
	}
	h := &LoadedRun{Ref: ref, record: *rec, version: version}
	if err := h.loadSteps(tx); err != nil {
		return nil, err
	}
	if h.plan, err = l.Plan(tx, ref.Tenant, rec.PlanID, rec.PlanDigest); err == nil && !run.IsOf(h.Run(), h.plan) {
		err = fmt.Errorf("run %s isn't one of plan %q and its steps: %w", ref.RunID, rec.PlanID, store.ErrDamaged)
	}
	return h, err
}

func (h *LoadedRun) loadSteps(tx store.Tx) error {
	probes := h.record.Probes
	if h.record.ProbeBytes > MaxRemembered {
		probes = 0
	}
	steps, err := loadSteps(tx, h.Ref, probes)
	h.record.Steps, h.stored, h.probed = steps.records, steps.stored, steps.probed
	if err == nil && probes < h.record.Probes {
		h.countProbes()
	}
	return err
}

// loadedSteps are the steps of a run, and what the store has of each.
type loadedSteps struct {
	records []countersign.StepRun
	stored  storedSteps
	probed  int // bytes of the probes that have records of their own
}

func loadSteps(tx store.Tx, ref Ref, probes int) (s loadedSteps, err error) {
	rows, err := tx.List(store.Steps, ref.Tenant, stepsOf(ref.RunID))
	if err != nil {
		return s, err
	}
	s = loadedSteps{records: make([]countersign.StepRun, len(rows)), stored: make(storedSteps, len(rows))}
	for i, row := range rows {
		if err := records.Decode(row, &s.records[i]); err != nil {
			return s, err
		}
		s.stored[i] = storedStep{version: row.Version, size: len(row.Doc), inline: len(s.records[i].Probes), sent: row.Keys[2].(string)}
	}
	err = eachProbe(tx, ref, probes, func(p *records.Probe, size int) {
		s.records[p.Step].Probes = append(s.records[p.Step].Probes, p.Probe)
		s.probed += size
	})
	return s, err
}

// stepsAtOnce is how many steps EachStep has in memory.
const stepsAtOnce = 16

// EachStep passes the steps of a run to each, a few in memory at a time: a step may have
// mebibytes, and a run a hundred steps. probes is how many probes have records of their
// own; they come as lists show them.
func EachStep(tx store.Tx, ref Ref, probes int, each func(*countersign.StepRun)) error {
	probesOf := map[int][]countersign.ProbeRecord{} // by step
	if err := eachProbe(tx, ref, probes, func(p *records.Probe, _ int) { probesOf[p.Step] = append(probesOf[p.Step], Listed(p.Probe)) }); err != nil {
		return err
	}
	i := 0
	return records.Steps(ref.RunID, 0, "").Each(tx, ref.Tenant, stepsOf(ref.RunID), stepsAtOnce, func(s *countersign.StepRun) error {
		s.Probes = append(s.Probes, probesOf[i]...)
		i++
		each(s)
		return nil
	})
}

// stepsOf asks for the steps of a run, in their order.
func stepsOf(runID string) store.Query {
	first, last := records.StepIDs(runID)
	return store.Query{Where: []store.Filter{
		{Column: "id", Op: store.AtLeast, Values: []any{first}}, {Column: "id", Op: store.AtMost, Values: []any{last}},
	}}
}

// Newer loads a run if it has a later revision than this, else nil.
func (l *Repository) Newer(tx store.Tx, ref Ref, than int64) (*LoadedRun, error) {
	rec, _, err := records.Runs.Get(tx, ref.Tenant, ref.RunID)
	if err != nil || rec.Revision <= than {
		return nil, err
	}
	return l.Load(tx, ref)
}

// refresh gives loaded if that is still what is stored, else loads the run.
func (l *Repository) refresh(tx store.Tx, ref Ref, loaded *LoadedRun) (*LoadedRun, error) {
	if loaded == nil {
		return l.Load(tx, ref)
	}
	row, err := store.Look(tx, store.Runs, ref.Tenant, ref.RunID)
	if err != nil {
		return nil, err
	}
	if row.Version == loaded.version {
		return loaded, nil
	}
	return l.Load(tx, ref)
}

// save writes the run and the steps that changed, each over the version that was read
// only. sent is what the step that is called is found by from now on, "" for no change.
func (h *LoadedRun) save(tx store.Tx, res run.Result, sent string) (*LoadedRun, error) {
	next := *h
	next.record.Run = *res.Run
	next.stored = slices.Clone(h.stored)
	if sent != "" {
		next.stored[res.Call.Step].sent = sent
	}
	for _, i := range res.Changed {
		if err := next.saveStep(tx, i); err != nil {
			return nil, err
		}
	}
	if res.Probe != nil {
		if err := next.saveProbe(tx, res.Probe.Step, &res.Probe.Probe); err != nil {
			return nil, err
		}
	}
	if res.ProbeAnswer != nil {
		if err := next.saveProbeAnswer(tx, res.ProbeAnswer); err != nil {
			return nil, err
		}
	}
	return &next, next.saveHeader(tx)
}

func (h *LoadedRun) saveAll(tx store.Tx) error {
	for i := range h.record.Steps {
		if err := h.saveStep(tx, i); err != nil {
			return err
		}
	}
	return h.saveHeader(tx)
}

func (h *LoadedRun) saveStep(tx store.Tx, i int) error {
	runID, step, stored := h.record.ID, &h.record.Steps[i], &h.stored[i]
	if len(step.Probes) > stored.inline { // the others have records of their own
		shown := *step
		shown.Probes = step.Probes[:stored.inline]
		step = &shown
	}
	doc, version, err := records.Steps(runID, i, stored.sent).PutDoc(tx, h.Ref.Tenant, records.StepID(runID, i), step, stored.version)
	if err != nil {
		return fmt.Errorf("step %d of run %s: %w", i, runID, err)
	}
	stored.version, stored.size = version, len(doc)
	return nil
}

// saveHeader writes the run's own record, without steps and plan. Nobody else has the run
// yet: it is being made.
func (h *LoadedRun) saveHeader(tx store.Tx) error {
	steps, snapshot := h.record.Steps, h.record.PlanSnapshot
	h.record.Steps, h.record.PlanSnapshot = nil, nil
	defer func() { h.record.Steps, h.record.PlanSnapshot = steps, snapshot }()
	var doc []byte
	var err error
	version := int64(1)
	if h.version == 0 {
		doc, err = records.Runs.Add(tx, h.Ref.Tenant, h.record.ID, &h.record)
	} else {
		doc, version, err = records.Runs.PutDoc(tx, h.Ref.Tenant, h.record.ID, &h.record, h.version)
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", h.record.ID, err)
	}
	h.version, h.stamp = version, cache.StampOf(h.Ref.Tenant, h.record.ID, version, doc)
	return nil
}
