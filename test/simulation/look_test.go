package simulation

import (
	"errors"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
)

// picture is a tenant's content of the store, read without the service.
type picture struct {
	models    []records.ModelHead
	projects  []records.ProjectHead
	plans     []records.Plan
	runs      []records.Run // with steps
	approvals []records.Approval
	agents    []records.AgentHead
	teams     []records.TeamHead

	planAt, runAt map[string]int   // by id
	versions      map[string]int64 // of a run's rows together: they rise with each change of one
}

// lastLook is a picture, and the writes to the tenant's rows before it was taken.
type lastLook struct {
	of      *memory.Store
	writes  int64
	picture picture
}

// look reads a tenant's rows directly from the disk. While nobody writes any, it is the same picture.
func (s *sim) look(tenant string) picture {
	rows, counts := s.disk.rows.(*memory.Store)
	if !counts {
		return s.read(tenant)
	}
	s.rowsMu.Lock()
	last := s.looks[tenant]
	s.rowsMu.Unlock()
	if writes := rows.Writes(tenant); last.of != rows || last.writes != writes {
		last = lastLook{rows, writes, s.read(tenant)}
		s.rowsMu.Lock()
		s.looks[tenant] = last
		s.rowsMu.Unlock()
	}
	return last.picture
}

func (s *sim) read(tenant string) (p picture) {
	err := s.disk.rows.View(background(), func(tx store.Tx) (err error) {
		p = picture{
			models: all(s, tx, records.Models, tenant, &err), projects: all(s, tx, records.Projects, tenant, &err), plans: all(s, tx, records.Plans, tenant, &err),
			approvals: all(s, tx, records.Approvals, tenant, &err),
			agents:    all(s, tx, records.Agents, tenant, &err), teams: all(s, tx, records.Teams, tenant, &err),
		}
		runs, stepRows := list(tx, store.Runs, tenant, store.Query{}, &err), list(tx, store.Steps, tenant, store.Query{}, &err)
		p.runs = decodeAll[records.Run](s, store.Runs, tenant, runs, &err)
		steps := s.steps(tenant, stepRows, &err)
		p.planAt, p.runAt, p.versions = map[string]int{}, map[string]int{}, map[string]int64{}
		for _, row := range runs {
			p.versions[row.ID] += row.Version
		}
		for _, row := range stepRows {
			p.versions[row.Keys[0].(string)] += row.Version
		}
		for i := range p.plans {
			p.planAt[p.plans[i].ID] = i
		}
		for i := range p.runs {
			p.runs[i].Steps = steps[p.runs[i].ID]
			p.runAt[p.runs[i].ID] = i
		}
		return err
	})
	if err != nil {
		s.fail("the store can't be read: %v", err)
	}
	return p
}

// lookAt reads one run with its steps; nil if the tenant has none with this id.
func (s *sim) lookAt(tenant, id string) (r *records.Run) {
	err := s.disk.rows.View(background(), func(tx store.Tx) (err error) {
		r, _, err = records.Runs.Get(tx, tenant, id)
		if errors.Is(err, store.ErrNotFound) {
			r = nil
			return nil
		}
		if err == nil {
			r.Steps = s.steps(tenant, list(tx, store.Steps, tenant, store.Query{Where: []store.Filter{store.Equal("run", id)}}, &err), &err)[id]
		}
		return err
	})
	if err != nil {
		s.fail("the store can't be read: %v", err)
	}
	return r
}

// archived reports whether a run went into a file.
func (s *sim) archived(tenant, id string) (is bool) {
	err := s.disk.rows.View(background(), func(tx store.Tx) error {
		_, _, err := records.ArchivedRuns.Get(tx, tenant, id)
		is = err == nil
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	if err != nil {
		s.fail("the store can't be read: %v", err)
	}
	return is
}

func all[T any](s *sim, tx store.Tx, c store.Collection[T], tenant string, failed *error) []T {
	return decodeAll[T](s, c.Table, tenant, list(tx, c.Table, tenant, store.Query{}, failed), failed)
}

func list(tx store.Tx, t *store.Table, tenant string, q store.Query, failed *error) []store.Row {
	rows, err := tx.List(t, tenant, q)
	if err != nil && *failed == nil {
		*failed = err
	}
	return rows
}

func decodeAll[T any](s *sim, t *store.Table, tenant string, rows []store.Row, failed *error) []T {
	all := make([]T, len(rows))
	for i, row := range rows {
		all[i] = decoded[T](s, t, tenant, row, failed)
	}
	return all
}

// decoded decodes a row, once for each version of it.
func decoded[T any](s *sim, t *store.Table, tenant string, row store.Row, failed *error) T {
	at := rowAt{t.Name, tenant, row.ID, row.Version}
	s.rowsMu.Lock()
	v, known := s.rows[at].(T)
	if !known {
		if v, known = s.olderRows[at].(T); known {
			s.rows[at] = v
		}
	}
	s.rowsMu.Unlock()
	if known {
		return v
	}
	if err := records.Decode(row, &v); err != nil && *failed == nil {
		*failed = err
	}
	s.rowsMu.Lock()
	s.rows[at] = v
	s.rowsMu.Unlock()
	return v
}

// rowAt is one version of a row.
type rowAt struct {
	table, tenant, id string
	version           int64
}

// steps decodes steps of runs, in the order of their ids. A run's probes follow its steps.
func (s *sim) steps(tenant string, rows []store.Row, failed *error) map[string][]countersign.StepRun {
	lists := map[string][]countersign.StepRun{}
	for _, row := range rows {
		run, _ := row.Keys[0].(string)
		if strings.HasPrefix(row.ID, run+"/probe/") {
			kept := decoded[records.Probe](s, store.Steps, tenant, row, failed)
			step := &lists[run][kept.Step]
			step.Probes = append(step.Probes, kept.Probe)
			continue
		}
		lists[run] = append(lists[run], decoded[countersign.StepRun](s, store.Steps, tenant, row, failed))
	}
	return lists
}

func (p *picture) plan(id string) *records.Plan {
	if i, is := p.planAt[id]; is {
		return &p.plans[i]
	}
	return nil
}

func (p *picture) run(id string) *records.Run {
	if i, is := p.runAt[id]; is {
		return &p.runs[i]
	}
	return nil
}

func stepOf(r *countersign.Run, id string) *countersign.StepRun {
	for i := range r.Steps {
		if r.Steps[i].ID == id {
			return &r.Steps[i]
		}
	}
	return nil
}
