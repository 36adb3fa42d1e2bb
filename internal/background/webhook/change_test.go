package webhook_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// changes stores a change of a project, "" for the tenant's, and what the audit log says of it.
func (f *fixture) changes(id, project string, log ...countersign.AuditRecord) {
	f.t.Helper()
	f.write(func(tx store.Tx) error {
		c := &records.Change{ProposedChange: countersign.ProposedChange{ID: id, Title: "CANARY"}, ProjectID: project}
		if _, err := records.Changes.Put(tx, "acme", records.ChangeID(id), c, 0); err != nil {
			return err
		}
		for i := range log {
			log[i].At, log[i].Actor, log[i].Subject, log[i].Reason = f.now, "user:a", "change/"+id, "CANARY"
			if log[i].Outcome == "" {
				log[i].Outcome = countersign.AuditDone
			}
		}
		return audit.Append(tx, "acme", log)
	})
}

// toldOf are the notifications that a webhook has got: event, change and status.
func (f *fixture) toldOf(hook string) []string {
	f.t.Helper()
	out := []string{}
	for _, n := range f.got {
		var body countersign.Notification
		if err := json.Unmarshal(n.Body, &body); err != nil {
			f.t.Fatal(err)
		}
		if n.URL == "https://hooks.example/"+hook {
			out = append(out, body.Type+" "+body.Data.ChangeID+" "+body.Data.Status+" "+body.Data.ProjectID)
			if body.Data.Link != "https://countersign.example/console/changes/"+body.Data.ChangeID || body.Data.RunID != "" {
				f.t.Errorf("%s", n.Body)
			}
		}
	}
	slices.Sort(out)
	return out
}

// TestAChangeIsToldFromItsProposalToItsEnd: each event to whoever asked for it, one approval of several and refusals to nobody, and to a
// webhook of some projects only what is of one of them.
func TestAChangeIsToldFromItsProposalToItsEnd(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "all", nil, countersign.EventChangeProposed, countersign.EventChangeApproved, countersign.EventChangeEnded)
	d.hook("acme", "approved", nil, countersign.EventChangeApproved)
	d.hook("acme", "shop", []string{"shop"}, countersign.EventChangeProposed, countersign.EventChangeEnded)
	d.hook("acme", "runs", nil, countersign.EventRunEnded)
	proposed := countersign.AuditRecord{Action: "changes.propose", After: "PROPOSED users.write of user/a, b"}
	d.changes("made", "shop", proposed, countersign.AuditRecord{Action: "changes.decide", After: "APPROVED, PROPOSED"}, countersign.AuditRecord{Action: "changes.decide", Outcome: "refused: self_approval"}, countersign.AuditRecord{Action: "changes.decide", After: "MADE"})
	d.changes("token", "", proposed, countersign.AuditRecord{Action: "changes.decide", After: "APPROVED"}, countersign.AuditRecord{Action: "changes.make", After: "MADE"})
	d.changes("rejected", "", countersign.AuditRecord{Action: "changes.decide", After: "REJECTED"})
	d.changes("withdrawn", "", countersign.AuditRecord{Action: "changes.withdraw", After: "WITHDRAWN"})
	d.changes("lapsed", "desk", countersign.AuditRecord{Action: "changes.lapse", After: "LAPSED"})
	d.look(0)
	d.is("all", d.toldOf("all"),
		"change.approved token APPROVED ", "change.ended lapsed LAPSED desk", "change.ended made MADE shop", "change.ended rejected REJECTED ", "change.ended token MADE ", "change.ended withdrawn WITHDRAWN ",
		"change.proposed made PROPOSED shop", "change.proposed token PROPOSED ")
	d.is("approved", d.toldOf("approved"), "change.approved token APPROVED ")
	d.is("of a project", d.toldOf("shop"), "change.ended made MADE shop", "change.proposed made PROPOSED shop")
	d.is("of runs", d.toldOf("runs"))
}
