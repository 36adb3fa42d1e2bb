package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/remind"
	"github.com/countersign/countersign/internal/background/webhook"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// fixture is a store with runs and webhooks, and a receiver that records notifications.
type fixture struct {
	t      *testing.T
	store  store.Store
	now    time.Time
	sender *webhook.Sender

	mu     sync.Mutex
	answer func(request.Notice) (int, string)
	got    []request.Notice
}

func newFixture(t *testing.T) *fixture {
	d := &fixture{t: t, store: rerun.Always(memory.New()), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	d.sender = d.process()
	d.answer = func(request.Notice) (int, string) { return 204, "" }
	return d
}

// process makes a sender with nothing in memory, as after a restart.
func (f *fixture) process() *webhook.Sender {
	return webhook.New(webhook.Config{
		BaseURL: "https://countersign.example", Backoff: []time.Duration{time.Minute, time.Hour}, Now: func() time.Time { return f.now }, Log: slog.New(slog.DiscardHandler),
	}, f.store, f)
}

func (f *fixture) Notify(_ context.Context, n request.Notice) (int, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got = append(f.got, n)
	return f.answer(n)
}

func failing(request.Notice) (int, string) { return 500, "the receiver answered 500" }

func (f *fixture) write(fn func(tx store.Tx) error) {
	f.t.Helper()
	if err := f.store.Update(context.Background(), fn); err != nil {
		f.t.Fatal(err)
	}
}

// hook makes a webhook whose cursor is at the beginning of the log.
func (f *fixture) hook(tenant, id string, projects []string, events ...string) {
	f.t.Helper()
	f.write(func(tx store.Tx) error {
		w := &records.Webhook{TenantID: tenant, Webhook: countersign.Webhook{
			ID: id, URL: "https://hooks.example/" + id, Events: events, Revision: 1, Enabled: true, ProjectIDs: projects,
		}}
		if _, err := records.Webhooks.Put(tx, store.Realm, records.WebhookID(tenant, id), w, 0); err != nil {
			return err
		}
		_, err := records.WebhookProgresses.Put(tx, store.Realm, records.WebhookProgressID(tenant, id), &records.WebhookProgress{}, 0)
		return err
	})
}

// ends stores COMPLETED runs of a project with their audit records.
func (f *fixture) ends(tenant, project string, runs ...string) {
	f.t.Helper()
	f.write(func(tx store.Tx) error {
		for _, id := range runs {
			r := &records.Run{Run: countersign.Run{ID: id, PlanID: "plan-1", Mode: countersign.ModeLive, CreatedAt: f.now}, Projects: []string{project}}
			if _, err := records.Runs.Put(tx, tenant, id, r, 0); err != nil {
				return err
			}
			log := []countersign.AuditRecord{
				{At: f.now, Actor: "token:t", Action: "runs.start", Subject: "run/" + id, Outcome: "done", Reason: "CANARY"},
				{At: f.now, Actor: "system", Action: "run.complete", Subject: "run/" + id, Outcome: "done", After: "COMPLETED", Reason: "CANARY"},
			}
			if err := audit.Append(tx, tenant, log); err != nil {
				return err
			}
		}
		return nil
	})
}

// numbered are ids of so many runs.
func numbered(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("run-%03d", i))
	}
	return ids
}

// look advances the clock and returns the webhook and the run of each notification.
func (f *fixture) look(later time.Duration) []string {
	f.t.Helper()
	f.now = f.now.Add(later)
	f.got = nil
	f.sender.Look(context.Background())
	out := []string{}
	for _, n := range f.got {
		var body countersign.Notification
		if err := json.Unmarshal(n.Body, &body); err != nil || strings.Contains(string(n.Body), "CANARY") {
			f.t.Errorf("%s: %v", n.Body, err)
		}
		out = append(out, strings.TrimPrefix(n.URL, "https://hooks.example/")+" "+body.Data.RunID)
	}
	slices.Sort(out)
	return out
}

func (f *fixture) is(what string, got []string, want ...string) {
	f.t.Helper()
	if !slices.Equal(got, want) {
		f.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func (f *fixture) progress(tenant, id string) (p *records.WebhookProgress) {
	f.t.Helper()
	err := f.store.View(context.Background(), func(tx store.Tx) (err error) {
		p, _, err = records.WebhookProgresses.Get(tx, store.Realm, records.WebhookProgressID(tenant, id))
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

func TestEachIsToldOnceOfWhatItAskedFor(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "all", nil, countersign.EventRunEnded)
	d.hook("acme", "shop", []string{"acme-shop"}, countersign.EventRunEnded)
	d.hook("acme", "asked", nil, countersign.EventApprovalRequested)
	d.hook("beta", "theirs", nil, countersign.EventRunEnded)
	d.ends("acme", "acme-shop", "one")
	d.ends("acme", "acme-desk", "two")
	d.is("at first", d.look(0), "all one", "all two", "shop one")
	d.is("again", d.look(time.Second))
	d.sender = d.process()
	d.is("after a restart", d.look(time.Second))
	d.ends("beta", "beta-shop", "three")
	d.is("the other tenant", d.look(time.Second), "theirs three")
}

func TestAWebhookIsToldOfAnApprovalThatExpiresSoon(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "lapsing", nil, countersign.EventApprovalLapsing)
	d.hook("acme", "elsewhere", []string{"acme-desk"}, countersign.EventApprovalLapsing)
	d.hook("acme", "asked", nil, countersign.EventApprovalRequested)
	d.ends("acme", "acme-shop", "one")
	d.write(func(tx store.Tx) error {
		a := &records.Approval{Approval: countersign.Approval{ID: "a", RunID: "one", StepID: "s", ProjectID: "acme-shop", Status: countersign.ApprovalPending}}
		if _, err := records.Approvals.Put(tx, "acme", "a", a, 0); err != nil {
			return err
		}
		return audit.Append(tx, "acme", []countersign.AuditRecord{{At: d.now, Actor: "system", Action: remind.Expiring, Subject: "approval/a", Step: "s", Outcome: countersign.AuditDone, After: "expires"}})
	})
	d.is("at first", d.look(0), "lapsing one")
	var body countersign.Notification
	if err := json.Unmarshal(d.got[0].Body, &body); err != nil || body.Type != "approval.lapsing" || body.Data.ApprovalID != "a" || body.Data.StepID != "s" || body.Data.ProjectID != "acme-shop" ||
		body.Data.Status != "WAITING_APPROVAL" || body.Data.Link != "https://countersign.example/console/approvals/a" {
		t.Errorf("%s: %v", d.got[0].Body, err)
	}
	d.is("again", d.look(time.Second))
}

func TestAFailureIsTriedAgainUnderOneIDAndDroppedAfterTheLast(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "h", nil, countersign.EventRunEnded)
	d.answer = failing
	d.ends("acme", "acme-shop", "one")
	d.is("first", d.look(0), "h one")
	id, body := d.got[0].ID, string(d.got[0].Body)
	d.is("too soon", d.look(59*time.Second))
	d.is("second", d.look(time.Second), "h one")
	d.is("too soon", d.look(59*time.Minute))
	if p := d.progress("acme", "h"); len(p.Pending) != 1 || p.LastError != "the receiver answered 500" || p.Dropped != 0 {
		t.Errorf("%+v", p)
	}
	d.is("third", d.look(time.Minute), "h one")
	if d.got[0].ID != id || string(d.got[0].Body) != body {
		t.Errorf("%s %s, at first %s %s", d.got[0].ID, d.got[0].Body, id, body)
	}
	d.is("no fourth", d.look(1000*time.Hour))
	if p := d.progress("acme", "h"); len(p.Pending) != 0 || p.Dropped != 1 || !p.LastSuccessAt.IsZero() {
		t.Errorf("%+v", p)
	}
}

func TestAFailingReceiverHoldsUpNoOther(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "bad", nil, countersign.EventRunEnded)
	d.hook("acme", "good", nil, countersign.EventRunEnded)
	d.answer = func(n request.Notice) (int, string) {
		if strings.HasSuffix(n.URL, "bad") {
			return failing(n)
		}
		return 200, ""
	}
	d.ends("acme", "acme-shop", "one")
	d.look(0)
	d.ends("acme", "acme-shop", "two")
	d.is("the next", d.look(time.Second), "bad two", "good two")
}

// TestWhatIsTriedIsBoundedAndTheLogKeepsTheRest: pending notifications are bounded.
func TestWhatIsTriedIsBoundedAndTheLogKeepsTheRest(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "h", nil, countersign.EventRunEnded)
	d.answer = failing
	d.ends("acme", "acme-shop", numbered(200)...)
	if n := len(d.look(0)); n != 64 || len(d.progress("acme", "h").Pending) != 64 {
		t.Errorf("%d were tried", n)
	}
	if n := len(d.look(time.Second)); n != 0 {
		t.Errorf("%d more were tried", n)
	}
	d.answer = func(request.Notice) (int, string) { return 204, "" }
	if n := len(d.look(time.Minute)); n != 200 {
		t.Errorf("%d were told in the end", n)
	}
	if p := d.progress("acme", "h"); len(p.Pending) != 0 || p.Dropped != 0 {
		t.Errorf("%+v", p)
	}
}

// TestAReceiverThatIsBackIsToldOfAllThatWaits as soon as it takes one.
func TestAReceiverThatIsBackIsToldOfAllThatWaits(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "h", nil, countersign.EventRunEnded)
	d.answer = failing
	d.ends("acme", "acme-shop", "one", "two")
	d.look(0)
	d.look(time.Minute) // the next attempt is an hour away
	d.answer = func(request.Notice) (int, string) { return 204, "" }
	d.is("nothing is due", d.look(10*time.Minute))
	d.ends("acme", "acme-shop", "three")
	d.is("with a new one", d.look(time.Second), "h one", "h three", "h two")
	if p := d.progress("acme", "h"); len(p.Pending) != 0 || p.Dropped != 0 {
		t.Errorf("%+v", p)
	}
}

// TestANotificationThatIsRefusedBesideOthersKeepsItsAttempts: it is sent before its time each
// five minutes at most, and such an attempt doesn't count.
func TestANotificationThatIsRefusedBesideOthersKeepsItsAttempts(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "h", nil, countersign.EventRunEnded)
	d.answer = func(n request.Notice) (int, string) {
		if strings.Contains(string(n.Body), `"bad"`) {
			return failing(n)
		}
		return 204, ""
	}
	d.ends("acme", "acme-shop", "bad")
	d.look(0)
	d.look(time.Minute) // the third and last attempt is due after an hour
	due := d.progress("acme", "h").Pending[0]
	tried := 0
	for i := range 50 {
		d.ends("acme", "acme-shop", fmt.Sprintf("good-%d", i))
		tried += len(d.look(time.Minute)) - 1
	}
	if p := d.progress("acme", "h"); len(p.Pending) != 1 || p.Pending[0] != due || tried != 10 {
		t.Errorf("it was tried %d times: %+v, before %+v", tried, p.Pending, due)
	}
	d.is("its last attempt", d.look(10*time.Minute), "h bad")
	if p := d.progress("acme", "h"); len(p.Pending) != 0 || p.Dropped != 1 {
		t.Errorf("%+v", p)
	}
}

// TestOneOfAFullWebhookIsSentEachFiveMinutes: newer notifications wait behind those that are
// pending, so the receiver is asked whether it is back.
func TestOneOfAFullWebhookIsSentEachFiveMinutes(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "h", nil, countersign.EventRunEnded)
	d.answer = failing
	d.ends("acme", "acme-shop", numbered(100)...)
	d.look(0)
	d.look(time.Minute) // the next attempts are an hour away
	for _, want := range []int{0, 1, 0, 1} {
		if n := len(d.look(150 * time.Second)); n != want {
			t.Errorf("%d were sent, want %d", n, want)
		}
	}
	d.answer = func(request.Notice) (int, string) { return 204, "" }
	if n := len(d.look(5 * time.Minute)); n != 100 {
		t.Errorf("%d were told when the receiver was back", n)
	}
}

// TestAnAttemptThatDiedWithItsProcessIsMadeAgain after its time has passed, not before.
func TestAnAttemptThatDiedWithItsProcessIsMadeAgain(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "h", nil, countersign.EventRunEnded)
	d.ends("acme", "acme-shop", "one")
	ctx, die := context.WithCancel(context.Background())
	d.answer = func(request.Notice) (int, string) { die(); return 0, "stopped" }
	d.sender.Look(ctx)
	id := d.got[0].ID
	d.answer = func(request.Notice) (int, string) { return 204, "" }
	d.sender = d.process()
	d.is("meanwhile", d.look(14*time.Second))
	d.is("later", d.look(time.Second), "h one")
	if d.got[0].ID != id {
		t.Errorf("ids %s and %s", id, d.got[0].ID)
	}
	d.is("again", d.look(1000*time.Hour))
}

func TestTwoProcessesShareTheWork(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "h", nil, countersign.EventRunEnded)
	d.ends("acme", "acme-shop", numbered(50)...)
	var both sync.WaitGroup
	for range 2 {
		sender := d.process()
		both.Go(func() {
			for range 50 {
				sender.Look(context.Background())
			}
		})
	}
	both.Wait()
	if len(d.got) != 50 {
		t.Errorf("%d were told of 50", len(d.got))
	}
}

func TestAReceiverThatIsGoneEndsItsWebhook(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "h", nil, countersign.EventRunEnded)
	d.answer = func(request.Notice) (int, string) { return 410, "the receiver answered 410" }
	d.ends("acme", "acme-shop", "one", "two")
	d.look(0)
	d.ends("acme", "acme-shop", "three")
	d.is("later", d.look(1000*time.Hour))
	d.write(func(tx store.Tx) error {
		w, _, err := records.Webhooks.Get(tx, store.Realm, records.WebhookID("acme", "h"))
		page, err2 := audit.List(tx, "acme", audit.Filter{Action: "webhooks.disable"}, 10, 0)
		if err != nil || err2 != nil || w.Enabled || w.Revision != 2 || page.Total != 1 || page.Items[0].Subject != "webhook/h" {
			t.Errorf("%v, %v, %+v, %+v", err, err2, w, page)
		}
		return nil
	})
}

// TestAStopKeepsWhatArrived: delivered notifications are stored, canceled attempts do not
// count as failed.
func TestAStopKeepsWhatArrived(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "h", nil, countersign.EventRunEnded)
	d.ends("acme", "acme-shop", "one", "two")
	ctx, stop := context.WithCancel(context.Background())
	d.answer = func(n request.Notice) (int, string) {
		if stop(); strings.Contains(string(n.Body), `"one"`) {
			return 204, ""
		}
		return 0, "the call was stopped"
	}
	d.sender.Look(ctx)
	if p := d.progress("acme", "h"); len(p.Pending) != 1 || p.LastError != "" || p.LastSuccessAt.IsZero() {
		t.Errorf("%+v", p)
	}
}

// TestALongLogIsLookedThroughToItsEnd also if none of its records is for the webhook.
func TestALongLogIsLookedThroughToItsEnd(t *testing.T) {
	d := newFixture(t)
	d.hook("acme", "h", nil, countersign.EventRunEnded)
	d.write(func(tx store.Tx) error {
		log := make([]countersign.AuditRecord, 25000)
		for i := range log {
			log[i] = countersign.AuditRecord{At: d.now, Actor: "a", Action: "step.send", Subject: "run/x", Outcome: "done"}
		}
		return audit.Append(tx, "acme", log)
	})
	d.ends("acme", "acme-shop", "one")
	d.is("behind it", d.look(0), "h one")
}
