package control_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/amount"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// history is approvals and runs as they might have come to be, written without the use cases: what
// an approval is compared with is found in it by plain loops.
type history struct {
	*fixture
	plan      countersign.Plan
	approvals map[string]records.Approval
	runs      map[string]records.Run
	versions  map[string]int64
}

func newHistory(t fataler) *history {
	h := &history{fixture: open(t), approvals: map[string]records.Approval{}, runs: map[string]records.Run{}, versions: map[string]int64{}}
	number := countersign.InputField{Type: "number", Required: true}
	_, err := h.service.PutProject(background, as("acme"), "acme-pay", countersign.ProjectWrite{Name: "pay", Adapter: countersign.AdapterLocalEcho, Capabilities: []countersign.Capability{
		{Name: "pay", Method: "POST", Path: "/pay", SideEffect: new(true), Title: "Pay {amount}", InputSchema: map[string]countersign.InputField{"amount": number}},
		{Name: "hush", Method: "POST", Path: "/hush", SideEffect: new(true), Title: "Pay {amount}", Sensitive: []string{"amount"}, InputSchema: map[string]countersign.InputField{"amount": number}},
	}})
	h.must(err)
	h.plan, err = h.service.CreatePlan(background, as("acme"), countersign.PlanWrite{Name: "p", ModelID: "m1", ModelRevision: 1, Steps: []countersign.Step{
		{ID: "pay", ProjectID: "acme-pay", Capability: "pay", Input: values("amount", "1")},
		{ID: "hush", ProjectID: "acme-pay", Capability: "hush", Input: values("amount", "1")},
	}})
	h.must(err)
	return h
}

// write draws an approval with its run, or changes one that there is.
func (h *history) write(t *rapid.T, n int) {
	one := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	id := fmt.Sprint("ap-", n)
	at := time.Now().Add(-time.Duration(rapid.SampledFrom([]int{0, 1, 1, 2, 89 * 24, 91 * 24}).Draw(t, "hours")) * time.Hour).Truncate(time.Second)
	run := records.Run{Run: countersign.Run{
		ID: "run-of-" + id, PlanID: h.plan.ID, AgentID: one("agent", "", "acme-one--a", "acme-one--b"), RequestedBy: one("requester", "token:t1", "token:t2", "user:ada@acme"),
		Mode: one("mode", countersign.ModeLive, countersign.ModeLive, countersign.ModeDryRun), CreatedAt: at,
		Status: countersign.RunStatus(one("run", "READY", "COMPLETED", "COMPLETED", "FAILED", "RECOVERY_REQUIRED")), UnverifiedSteps: rapid.IntRange(0, 1).Draw(t, "unverified"),
	}}
	if run.Status == countersign.RunFailed {
		run.Error = one("error", "approval_rejected: no", "not_sent: no")
	}
	capability := one("capability", "pay", "pay", "hush")
	ap := records.Approval{Approval: countersign.Approval{
		ID: id, RunID: run.ID, PlanID: h.plan.ID, ProjectID: "acme-pay", Capability: capability, StepID: capability, RequestedBy: run.RequestedBy,
		Status: countersign.ApprovalStatus(one("status", "PENDING", "APPROVED", "APPROVED", "APPROVED", "REJECTED")), RequestedAt: at, ExpiresAt: at.Add(time.Hour),
		InputSnapshot: values("amount", one("amount", "1", "2", "7.5", `"many"`)),
	}}
	if ap.Status == countersign.ApprovalRejected {
		ap.DecidedBy = "user:ben@acme.example"
		if rapid.Bool().Draw(t, "suggests") {
			ap.SuggestedInput = values("amount", one("suggested", "1", "2"))
		}
	}
	if was, there := h.approvals[id]; there { // what is decided later keeps its place
		ap.RequestedAt, run.CreatedAt = was.RequestedAt, h.runs[run.ID].CreatedAt
	}
	h.must(h.store.Store.Update(background, func(tx store.Tx) error {
		if _, err := records.Approvals.Put(tx, "acme", id, &ap, h.versions[id]); err != nil {
			return err
		}
		_, err := records.Runs.Put(tx, "acme", run.ID, &run, h.versions[id])
		return err
	}))
	h.versions[id]++
	h.approvals[id], h.runs[run.ID] = ap, run
}

// plainly finds what an approval is compared with, by its definition.
func (h *history) plainly(id string, masked bool) (usual *countersign.Usual, record *countersign.RequesterRecord, from []string) {
	is, run := h.approvals[id], h.runs["run-of-"+id]
	now := time.Now()
	number := func(ap records.Approval) (countersign.Number, bool) {
		v := ap.InputSnapshot["amount"]
		return countersign.ParseNumber(v.Raw()), v.Kind() == countersign.KindNumber && !(masked && ap.Capability == "hush")
	}
	var numbers []countersign.Number
	var latest time.Time
	for _, other := range h.approvals {
		same := other.Capability == is.Capability
		if n, counts := number(other); same && counts && other.Status == countersign.ApprovalApproved && !other.RequestedAt.Before(now.Add(-90*24*time.Hour)) {
			numbers = append(numbers, n)
		}
		suggests := same && other.ID != id && other.Status == countersign.ApprovalRejected && other.SuggestedInput != nil && countersign.ObjectValue(other.SuggestedInput).Equal(countersign.ObjectValue(is.InputSnapshot))
		if suggests && !other.RequestedAt.After(is.RequestedAt) && !other.RequestedAt.Before(is.RequestedAt.Add(-90*24*time.Hour)) {
			if other.RequestedAt.After(latest) {
				latest, from = other.RequestedAt, nil
			}
			if other.RequestedAt.Equal(latest) {
				from = append(from, other.ID)
			}
		}
	}
	if _, has := number(is); has && len(numbers) >= 5 {
		usual = &countersign.Usual{Count: len(numbers), Field: "amount", Median: amount.Median(numbers)}
	}
	counted := countersign.RequesterRecord{}
	for _, r := range h.runs {
		ended := r.Status.IsTerminal() || r.Status == countersign.RunRecoveryRequired
		if !ended || r.Mode != countersign.ModeLive || run.AgentID != "" && r.AgentID != run.AgentID || run.AgentID == "" && r.RequestedBy != is.RequestedBy {
			continue
		}
		counted.Runs++
		switch {
		case r.Status == countersign.RunCompleted && r.UnverifiedSteps == 0:
			counted.Verified++
		case strings.HasPrefix(r.Error, "approval_rejected:"):
			counted.Rejected++
		}
	}
	if counted.Runs >= 5 && (run.AgentID != "" || strings.HasPrefix(is.RequestedBy, "token:")) {
		record = &counted
	}
	return usual, record, from
}

// TestWhatAnApprovalIsComparedWithIsThatOfAllOthers, for who sees all and for who sees no sensitive
// values, whatever was kept of them before they changed.
func TestWhatAnApprovalIsComparedWithIsThatOfAllOthers(t *testing.T) {
	viewer := as("acme")
	viewer.ID, viewer.Roles = "user:vic@acme.example", []countersign.Role{countersign.RoleViewer}
	rapid.Check(t, func(rt *rapid.T) {
		inBubble(t, func() {
			h := newHistory(rt)
			defer h.service.Close()
			for n := range rapid.IntRange(10, 40).Draw(rt, "approvals") {
				h.write(rt, n)
			}
			for range 4 {
				for range rapid.IntRange(0, 3).Draw(rt, "changes") {
					h.write(rt, rapid.IntRange(0, len(h.approvals)).Draw(rt, "which"))
				}
				id := fmt.Sprint("ap-", rapid.IntRange(0, len(h.approvals)-1).Draw(rt, "asked"))
				for _, a := range []control.Actor{as("acme"), viewer} {
					usual, record, from := h.plainly(id, a.ID == viewer.ID)
					got, err := h.service.Approval(background, a, id)
					h.must(err)
					if !reflect.DeepEqual(shownUsual(got.Usual), shownUsual(usual)) || !reflect.DeepEqual(got.RequesterRecord, record) {
						rt.Fatalf("%s (%s %s) for %s: %s and %+v, not %s and %+v", id, got.Capability, got.InputSnapshot["amount"].Raw(), a.ID, shownUsual(got.Usual), got.RequesterRecord, shownUsual(usual), record)
					}
					if hidden := a.ID == viewer.ID && got.Capability == "hush"; (got.SuggestedFrom != nil) != (len(from) > 0) || got.SuggestedFrom != nil && !slices.Contains(from, got.SuggestedFrom.ApprovalID) {
						rt.Fatalf("%s for %s: suggested from %+v, not one of %v (hidden: %v)", id, a.ID, got.SuggestedFrom, from, hidden)
					}
				}
			}
		})
	})
}

func shownUsual(u *countersign.Usual) string {
	if u == nil {
		return "none"
	}
	return fmt.Sprint(u.Count, " ", u.Field, " ", u.Median.Raw())
}

// TestWhatAnApprovalIsComparedWithIsReadOnce: who looks again reads the records that are new or have
// changed, and ids of the others.
func TestWhatAnApprovalIsComparedWithIsReadOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		inBubble(t, func() {
			h := newHistory(rt)
			defer h.service.Close()
			for n := range 40 {
				h.write(rt, n)
			}
			read := &documents{Store: h.store.Store}
			h.service = h.on(read)
			look := func(id string) int {
				read.n = 0
				_, err := h.service.Approval(background, as("acme"), id)
				h.must(err)
				return read.n
			}
			look("ap-0")
			again := look("ap-0")
			h.write(rt, 7)
			after, suggestions := look("ap-0"), 1 // that of 7 before
			for _, ap := range h.approvals {
				if ap.SuggestedInput != nil {
					suggestions++
				}
			}
			// The approval and its run are read, and each rejection that suggests other inputs.
			if again > 15+suggestions || after > 15+suggestions {
				rt.Fatalf("%d documents are read again, %d once another one has changed; %d suggest", again, after, suggestions)
			}
		})
	})
}

// documents counts those that Views read of approvals and runs.
type documents struct {
	store.Store
	n int
}

func (d *documents) View(ctx context.Context, fn func(store.Tx) error) error {
	return d.Store.View(ctx, func(tx store.Tx) error { return fn(&countedDocuments{tx, d}) })
}

type countedDocuments struct {
	store.Tx
	of *documents
}

func (c *countedDocuments) count(t *store.Table, n int) {
	if t == store.Approvals || t == store.Runs {
		c.of.n += n
	}
}

func (c *countedDocuments) Get(t *store.Table, tenant, id string) (store.Row, error) {
	c.count(t, 1)
	return c.Tx.Get(t, tenant, id)
}

func (c *countedDocuments) List(t *store.Table, tenant string, q store.Query) ([]store.Row, error) {
	rows, err := c.Tx.List(t, tenant, q)
	if q.Bare {
		for i := range rows {
			rows[i].Doc = nil // as an engine may
		}
	} else {
		c.count(t, len(rows))
	}
	return rows, err
}
