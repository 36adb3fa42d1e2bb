package remind_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/remind"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// clock is a store with approvals, and a time that passes when it is told to.
type clock struct {
	t     *testing.T
	store store.Store
	now   time.Time
	r     *remind.Reminder
}

func start(t *testing.T) *clock {
	c := &clock{t: t, store: rerun.Always(memory.New()), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	c.restart()
	return c
}

// restart is what a new process is: it remembers nothing but the store.
func (c *clock) restart() {
	c.r = remind.New(remind.Config{Now: func() time.Time { return c.now }, Log: slog.New(slog.DiscardHandler)}, c.store)
}

func (c *clock) write(fn func(tx store.Tx) error) {
	c.t.Helper()
	if err := c.store.Update(context.Background(), fn); err != nil {
		c.t.Fatal(err)
	}
}

func (c *clock) ask(id string, life time.Duration, escalations ...countersign.Escalation) {
	c.t.Helper()
	c.write(func(tx store.Tx) error {
		a := &records.Approval{Approval: countersign.Approval{ID: id, RunID: "run-" + id, StepID: "s", Status: countersign.ApprovalPending, ExpiresAt: c.now.Add(life), Escalations: escalations}}
		if _, err := records.Approvals.Put(tx, "acme", id, a, 0); err != nil {
			return err
		}
		f := &countersign.WaitingFor{Kind: countersign.WaitApproval, Since: c.now, ApprovalID: id, ExpiresAt: a.ExpiresAt}
		if len(escalations) > 0 {
			f.EscalatesAt = escalations[0].At
		}
		_, err := records.UnfinishedRuns.Put(tx, store.Realm, records.UnfinishedID("acme", a.RunID), &records.Unfinished{TenantID: "acme", RunID: a.RunID, State: records.Waiting, Since: c.now, Due: a.ExpiresAt, WaitingFor: f}, 0)
		return err
	})
}

// look lets time pass, looks, and gives what is recorded from before on.
func (c *clock) look(later time.Duration) (said []string) {
	c.t.Helper()
	count := func() (list []countersign.AuditRecord) {
		err := c.store.View(context.Background(), func(tx store.Tx) error {
			page, err := audit.List(tx, "acme", audit.Filter{}, 100, 0)
			list = page.Items
			return err
		})
		if err != nil {
			c.t.Fatal(err)
		}
		return list
	}
	before := len(count())
	c.now = c.now.Add(later)
	c.r.Look(context.Background())
	after := count()
	for _, rec := range after[:len(after)-before] {
		said = append(said, rec.Action+" "+rec.Subject+" "+rec.After)
	}
	slices.Sort(said)
	return said
}

func (c *clock) is(what string, got []string, want ...string) {
	c.t.Helper()
	if !slices.Equal(got, want) {
		c.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestAnApprovalThatLapsesSoonIsRecordedOnce(t *testing.T) {
	c := start(t)
	c.ask("long", 24*time.Hour)
	c.ask("short", 40*time.Minute)
	c.is("at once", c.look(0))
	c.is("in the last quarter of a short one", c.look(30*time.Minute), "approval.lapsing approval/short expires 2026-03-01T12:40:00Z")
	c.restart()
	c.is("again", c.look(time.Minute))
	c.is("before the last hour", c.look(22*time.Hour))
	c.is("within the last hour", c.look(30*time.Minute), "approval.lapsing approval/long expires 2026-03-02T12:00:00Z")
	c.restart()
	c.is("again", c.look(time.Minute))
}

func TestEachEscalationIsRecordedOnce(t *testing.T) {
	c := start(t)
	step := func(after time.Duration, group string) countersign.Escalation {
		return countersign.Escalation{At: c.now.Add(after), Groups: []string{group}, For: []string{"finance"}}
	}
	c.ask("a", 24*time.Hour, step(time.Hour, "board"), step(2*time.Hour, "owners"))
	c.is("before", c.look(59*time.Minute))
	c.is("the first", c.look(time.Minute), "approval.escalate approval/a board for finance")
	c.restart()
	c.is("the second", c.look(time.Hour), "approval.escalate approval/a owners for finance")
	c.is("no more", c.look(time.Hour))
}

func TestWhatIsDecidedIsNotRecorded(t *testing.T) {
	c := start(t)
	c.ask("a", 24*time.Hour)
	c.write(func(tx store.Tx) error {
		a, version, err := records.Approvals.Get(tx, "acme", "a")
		if err != nil {
			return err
		}
		next := *a
		next.Status = countersign.ApprovalApproved
		_, err = records.Approvals.Put(tx, "acme", "a", &next, version)
		return err
	})
	c.is("decided", c.look(23*time.Hour+30*time.Minute))
	c.ask("b", time.Hour)
	c.is("expired", c.look(2*time.Hour))
}
