package webhook

import (
	"errors"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/remind"
	"github.com/countersign/countersign/internal/background/tokenends"
	"github.com/countersign/countersign/internal/background/witnessing"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// events maps actions of the audit log to the events of webhooks.
var events = map[string]string{
	"approval.request":       countersign.EventApprovalRequested,
	remind.Expiring:          countersign.EventApprovalLapsing,
	"run.recovery_required":  countersign.EventRunRecoveryRequired,
	"run.complete":           countersign.EventRunEnded,
	"run.fail":               countersign.EventRunEnded,
	"run.cancel":             countersign.EventRunEnded,
	"tenants.stop":           countersign.EventStopped,
	"tenants.go":             countersign.EventGoing,
	witnessing.RewoundAction: countersign.EventAuditRewound,
	tokenends.Ending:         countersign.EventTokenLapsing,
}

// actionsOf returns the sorted audit actions that a webhook with these events needs.
func actionsOf(wanted []string) []string {
	var out []string
	for action, event := range events {
		if slices.Contains(wanted, event) {
			out = append(out, action)
		}
	}
	for action, told := range changeEvents {
		if slices.ContainsFunc(told, func(event string) bool { return slices.Contains(wanted, event) }) {
			out = append(out, string(action))
		}
	}
	slices.Sort(out)
	return out
}

// happened is a notification and the projects that it concerns.
type happened struct {
	countersign.Notification
	id       string
	projects []string // of the run
	whole    bool     // it concerns all projects of the tenant
}

// idOf is a notification's id. It is made from the hash of the audit record, so that every
// attempt has the same id.
func idOf(r countersign.AuditRecord) string { return "evt_" + r.Hash[:min(len(r.Hash), 32)] }

// tell makes the notification of an audit record. Its status is the one that the run had at
// the record; the other fields never change.
func (s *Sender) tell(tx store.Tx, tenant string, rec countersign.AuditRecord) (happened, error) {
	switch event := events[rec.Action]; {
	case rec.Outcome != countersign.AuditDone: // a refused request
		return happened{}, store.ErrNotFound
	case event == countersign.EventStopped || event == countersign.EventGoing:
		return happened{id: idOf(rec), whole: true, Notification: countersign.Notification{
			Type: event, Timestamp: rec.At, Data: countersign.NotificationData{TenantID: tenant, Status: rec.After, Link: s.cfg.BaseURL + "/console/settings"},
		}}, nil
	}
	if h, is := s.rewound(tenant, rec); is {
		return h, nil
	}
	if id, is := strings.CutPrefix(rec.Subject, "change/"); is {
		return s.change(tx, tenant, id, rec)
	}
	if id, is := strings.CutPrefix(rec.Subject, "token/"); is { // of the whole tenant: a webhook of some projects isn't told
		return happened{id: idOf(rec), Notification: countersign.Notification{
			Type: events[rec.Action], Timestamp: rec.At, Data: countersign.NotificationData{TenantID: tenant, TokenID: id, Status: "LAPSING", Link: s.cfg.BaseURL + "/console/access/tokens"},
		}}, nil
	}
	runID, asked := strings.TrimPrefix(rec.Subject, "run/"), (*records.Approval)(nil)
	if id, is := strings.CutPrefix(rec.Subject, "approval/"); is {
		var err error
		if asked, _, err = records.Approvals.Get(tx, tenant, id); err != nil {
			return happened{}, err
		}
		runID = asked.RunID
	}
	run, projects, err := runOf(tx, tenant, runID)
	if err != nil {
		return happened{}, err
	}
	h := happened{id: idOf(rec), projects: projects, Notification: countersign.Notification{
		Type: events[rec.Action], Timestamp: rec.At, Data: countersign.NotificationData{
			TenantID: tenant, RunID: runID, PlanID: run.PlanID, Status: rec.After, Mode: run.Mode, StepID: rec.Step,
			Link: s.cfg.BaseURL + "/console/runs/" + runID,
		},
	}}
	switch h.Type {
	case countersign.EventRunEnded:
		h.Data.MayHaveHappened = run.MayHaveHappened
	case countersign.EventApprovalRequested:
		err = s.tellApproval(tx, tenant, rec, &h.Data)
	case countersign.EventApprovalLapsing:
		s.about(asked, &h.Data)
	case countersign.EventRunRecoveryRequired:
		h.Data.ProjectID, err = projectOf(tx, tenant, runID, rec.Step)
	}
	return h, err
}

// rewound is what is told of an audit log that is not what a witness has cosigned.
func (s *Sender) rewound(tenant string, rec countersign.AuditRecord) (happened, bool) {
	if rec.Action != witnessing.RewoundAction {
		return happened{}, false
	}
	return happened{id: idOf(rec), whole: true, Notification: countersign.Notification{
		Type: countersign.EventAuditRewound, Timestamp: rec.At, Data: countersign.NotificationData{
			TenantID: tenant, Status: rec.After, Witness: strings.TrimPrefix(rec.Subject, "witness/"), Link: s.cfg.BaseURL + "/console/audit",
		},
	}}, true
}

// runOf finds a run, archived or not.
func runOf(tx store.Tx, tenant, id string) (*countersign.Run, []string, error) {
	rec, _, err := records.Runs.Get(tx, tenant, id)
	if err == nil {
		return &rec.Run, rec.Projects, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return nil, nil, err
	}
	left, _, err := records.ArchivedRuns.Get(tx, tenant, id)
	if err != nil {
		return nil, nil, err
	}
	return &left.Run, left.Projects, nil
}

// tellApproval adds the approval that was created in the same commit as the record.
func (s *Sender) tellApproval(tx store.Tx, tenant string, rec countersign.AuditRecord, d *countersign.NotificationData) error {
	d.Status = string(countersign.RunWaitingApproval)
	list, err := records.Approvals.List(tx, tenant, store.Query{Where: []store.Filter{store.Equal("run", d.RunID)}})
	for _, a := range list {
		if a.StepID == rec.Step && a.RequestedAt.Equal(rec.At) {
			s.about(&a, d)
		}
	}
	return err
}

// about describes the approval for which a run waits.
func (s *Sender) about(a *records.Approval, d *countersign.NotificationData) {
	d.Status, d.ApprovalID, d.ProjectID, d.Link = string(countersign.RunWaitingApproval), a.ID, a.ProjectID, s.cfg.BaseURL+"/console/approvals/"+a.ID
}

// projectOf is the project of a step, "" if the run is archived.
func projectOf(tx store.Tx, tenant, runID, stepID string) (string, error) {
	first, last := records.StepIDs(runID)
	rows, err := tx.List(store.Steps, tenant, store.Query{Where: []store.Filter{
		{Column: "id", Op: store.AtLeast, Values: []any{first}}, {Column: "id", Op: store.AtMost, Values: []any{last}},
	}})
	for _, row := range rows {
		var step countersign.StepRun
		if err := records.Decode(row, &step); err != nil {
			return "", err
		}
		if step.ID == stepID {
			return step.ProjectID, nil
		}
	}
	return "", err
}

// isFor reports whether a webhook gets the notification: one about a step by the step's
// project, one about a whole run by any of its projects.
func (h happened) isFor(w *records.Webhook) bool {
	if !slices.Contains(w.Events, h.Type) { // one action may be several events
		return false
	}
	if w.ProjectIDs == nil || h.whole {
		return true
	}
	projects := h.projects
	if h.Data.ProjectID != "" {
		projects = []string{h.Data.ProjectID}
	}
	return slices.ContainsFunc(projects, func(p string) bool { return slices.Contains(w.ProjectIDs, p) })
}
