package webhook

import (
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// changeEvents are the events that actions on a proposed change may be.
var changeEvents = map[access.Operation][]string{
	access.ProposeChange:  {countersign.EventChangeProposed},
	access.DecideChange:   {countersign.EventChangeApproved, countersign.EventChangeEnded},
	access.MakeChange:     {countersign.EventChangeEnded},
	access.WithdrawChange: {countersign.EventChangeEnded},
	access.LapseChange:    {countersign.EventChangeEnded},
}

// change makes the notification of a change. One approval of several ends nothing, and isn't told.
func (s *Sender) change(tx store.Tx, tenant, id string, rec countersign.AuditRecord) (happened, error) {
	status, event := countersign.ChangeStatus(rec.After), countersign.EventChangeEnded
	switch {
	case rec.Action == string(access.ProposeChange):
		status, event = countersign.ChangeProposed, countersign.EventChangeProposed
	case status == countersign.ChangeApproved:
		event = countersign.EventChangeApproved
	case status.Open() || !slices.Contains(countersign.ChangeStatuses, status):
		return happened{}, store.ErrNotFound
	}
	c, _, err := records.Changes.Get(tx, tenant, records.ChangeID(id))
	if err != nil {
		return happened{}, err
	}
	h := happened{id: idOf(rec), Notification: countersign.Notification{
		Type: event, Timestamp: rec.At, Data: countersign.NotificationData{
			TenantID: tenant, ChangeID: id, ProjectID: c.ProjectID, Status: string(status), Link: s.cfg.BaseURL + "/console/changes/" + id,
		},
	}}
	return h, nil
}
