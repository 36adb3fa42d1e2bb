package apply

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/client"
)

// Failure is a change that wasn't made, or not to its end, and why.
type Failure struct {
	Kind    string           `json:"kind"`
	ID      string           `json:"id"`
	Code    countersign.Code `json:"code,omitempty"`
	Message string           `json:"message"`
}

// errHeld is of a gate that stays as tight as it is.
var errHeld = errors.New("it loosens a gate and is left as it is, since another could not be tightened before it")

// Make makes the changes in their order, each once, and tells of each that is made. One that
// can't be made keeps none of the others back, but for those that loosen a gate where another
// one could not be tightened. An error ends it: nobody knows then what the service did.
func Make(ctx context.Context, c *client.Client, changes []*Change, made func(*Change)) (failed []Failure, err error) {
	held := false
	for _, change := range changes {
		err := errHeld
		saved := false
		if !held || !change.Weakens {
			m := maker{ctx: ctx, c: c, Change: change}
			err = m.make()
			saved = m.saved
		}
		var lost *client.ConnectionError
		switch {
		case err == nil:
			made(change)
			continue
		case ctx.Err() != nil, errors.As(err, &lost), errors.Is(err, client.ErrUnauthenticated):
			return failed, fmt.Errorf("%s: %w", change.Name(), err)
		}
		held = held || change.tightens && !saved
		f := Failure{Kind: change.Kind, ID: change.ID, Code: countersign.ErrorCode(err), Message: err.Error()}
		failed = append(failed, f)
	}
	return failed, nil
}

type maker struct {
	ctx context.Context
	c   *client.Client
	*Change

	revision int64
	saved    bool // the content is as the file says
}

func (m *maker) make() error {
	m.revision, m.saved = m.stored.Revision, !m.put
	if m.record.Retired {
		return m.retire()
	}
	if m.stored.Retired {
		if err := m.restore(); err != nil {
			return err
		}
	}
	if m.put && m.Kind != agent {
		if err := m.save(); err != nil {
			return err
		}
		m.saved = true
	}
	switch w := m.record.write.(type) {
	case *countersign.ProjectWrite:
		return m.toggle()
	case *agentWrite:
		return m.register(w)
	}
	return nil
}

func (m *maker) retire() (err error) {
	id := m.record.serviceID()
	switch m.Kind {
	case group:
		_, err = m.c.DeleteGroup(m.ctx, id)
	case model:
		_, err = m.c.RetireModel(m.ctx, id, reason)
	case project:
		_, err = m.c.RetireProject(m.ctx, id, reason)
	case agent:
		_, err = m.c.RetireAgent(m.ctx, id, reason)
	case team:
		_, err = m.c.RetireTeam(m.ctx, id, reason)
	case webhook:
		_, err = m.c.DeleteWebhook(m.ctx, id)
	}
	return err
}

func (m *maker) restore() (err error) {
	id := m.record.serviceID()
	switch m.Kind {
	case model:
		_, err = m.c.RestoreModel(m.ctx, id, reason)
	case project:
		_, err = m.c.RestoreProject(m.ctx, id, reason)
	case agent:
		_, err = m.c.RestoreAgent(m.ctx, id, reason)
	case team:
		_, err = m.c.RestoreTeam(m.ctx, id, reason)
	}
	return err
}

// save sends the PUT, from the revision that was compared with.
func (m *maker) save() (err error) {
	switch w := m.record.write.(type) {
	case *countersign.TenantSettingsWrite:
		w.ExpectedRevision = m.revision
		_, err = m.c.SaveSettings(m.ctx, *w)
	case *countersign.GroupWrite:
		w.ExpectedRevision = m.revision
		_, err = m.c.SaveGroup(m.ctx, m.ID, *w)
	case *countersign.ModelWrite:
		w.ExpectedRevision = m.revision
		_, err = m.c.SaveModel(m.ctx, m.ID, *w)
	case *countersign.ProjectWrite:
		sent := *w
		sent.Enabled, sent.ExpectedRevision = nil, m.revision
		saved, err := m.c.SaveProject(m.ctx, m.ID, sent)
		if err == nil {
			m.revision = saved.Revision
		}
		return err
	case *countersign.TeamWrite:
		w.ExpectedRevision = m.revision
		_, err = m.c.SaveTeam(m.ctx, m.ID, *w)
	case *countersign.WebhookWrite:
		w.ExpectedRevision = m.revision
		_, err = m.c.SaveWebhook(m.ctx, m.ID, *w)
	}
	return err
}

// toggle enables the project's revision that was saved or compared with, once it is healthy.
func (m *maker) toggle() error {
	as := countersign.Toggle{ExpectedRevision: m.revision, Reason: reason}
	enabled := m.stored.Enabled && !m.put
	switch {
	case m.enables() == enabled:
		return nil
	case enabled:
		_, err := m.c.DisableProject(m.ctx, m.ID, as)
		return err
	}
	check, err := m.c.CheckProjectHealth(m.ctx, m.ID)
	switch {
	case err != nil:
		return err
	case !check.Healthy:
		return unhealthy(check)
	}
	_, err = m.c.EnableProject(m.ctx, m.ID, as)
	return err
}

func unhealthy(check *countersign.HealthCheck) error {
	return fmt.Errorf("it is not healthy, so it stays disabled: status %d, %s", check.StatusCode, check.Error)
}

// register syncs the agent and admits it. Its manifest's revision rises with what it says, and
// so a manifest that came meanwhile is in conflict with it.
func (m *maker) register(w *agentWrite) error {
	if m.put {
		item := w.ManifestAgent
		item.SourceRevision = max(item.SourceRevision, m.stored.Source+1)
		synced, err := m.c.SyncAgents(m.ctx, m.record.projectID(), countersign.Manifest{SchemaVersion: countersign.ManifestSchemaVersion, Agents: []countersign.ManifestAgent{item}})
		if err != nil {
			return err
		}
		m.saved = true
		if len(synced.Items) > 0 {
			m.revision = synced.Items[0].Revision
		}
	}
	if !w.Admitted {
		return nil
	}
	_, err := m.c.AdmitAgent(m.ctx, m.record.serviceID(), countersign.Admission{Reason: reason, ExpectedRevision: &m.revision, Budgets: append([]countersign.Budget{}, w.Budgets...)})
	return err
}
