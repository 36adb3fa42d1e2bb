package simulation

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/webhook"
	"github.com/countersign/countersign/internal/rules/request"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/testing/slacktest"
)

// checkMinute checks at the end of a minute every invariant of the simulation, and what a day has besides.
func (d *day) checkMinute() {
	active, present := 0, map[string]bool{}
	d.turn++
	for _, tenant := range tenants {
		p := d.look(tenant)
		d.seenLast[tenant] = &p
		active += d.checkTenant(tenant, &p)
		d.checkDriven(&p)
		d.checkLapses(&p)
		d.checkGroups(tenant, &p)
		d.checkPays(tenant, &p)
		d.checkTold(&p)
		if tenant == tenants[0] {
			d.checkMessages(&p)
		}
		d.checkArchived(tenant, &p)
		for i := range p.runs {
			present[p.runs[i].ID] = true
		}
		for i := range p.approvals {
			present[p.approvals[i].ID] = true
		}
	}
	d.checkLimit(active)
	d.prune(present)
}

// checkDriven: a run that holds a slot moves on, whatever became of the process that drove it. No call of the day takes 20 s, and a
// replica that dies is found out within 10 s.
func (d *day) checkDriven(p *picture) {
	const still = 75 * time.Second
	for i := range p.runs {
		if r := &p.runs[i]; holdsSlot(r) && d.now().Sub(r.UpdatedAt) > still {
			d.fail("D11: run %s is %s, and nobody has driven it since %s", r.ID, r.Status, r.UpdatedAt)
		}
	}
}

// checkLapses: what nobody has decided in time is decided by nobody any more.
func (d *day) checkLapses(p *picture) {
	for i := range p.approvals {
		a := &p.approvals[i]
		switch {
		case a.Status == countersign.ApprovalPending && d.now().Sub(a.ExpiresAt) > time.Second:
			d.fail("D5: approval %s has lapsed at %s and is PENDING", a.ID, a.ExpiresAt)
		case a.Status == countersign.ApprovalApproved && !a.DecidedAt.Before(a.ExpiresAt):
			d.fail("D5: approval %s was approved at %s and had lapsed at %s", a.ID, a.DecidedAt, a.ExpiresAt)
		}
	}
}

// checkGroups: what more than one must approve was approved by so many members, and by others only after it had escalated.
func (d *day) checkGroups(tenant string, p *picture) {
	for i := range p.approvals {
		a := &p.approvals[i]
		if a.Status != countersign.ApprovalApproved || len(a.Groups) == 0 {
			continue
		}
		by := map[string]bool{}
		for _, g := range a.Decisions {
			by[g.By] = true
			member := g.By == d.who(tenant, "fay").ID || g.By == d.who(tenant, "fred").ID
			if late := g.By == d.who(tenant, "dirk").ID && !g.At.Before(a.RequestedAt.Add(escalates)); !member && !late {
				d.fail("D5: approval %s of %v, asked for at %s, has a decision by %s at %s", a.ID, a.Groups, a.RequestedAt, g.By, g.At)
			}
		}
		if len(by) < 2 || by[a.RequestedBy] {
			d.fail("D5: approval %s has the decisions of %v, asked for by %s", a.ID, by, a.RequestedBy)
		}
	}
}

// paid is a LIVE payment whose intent was committed.
type paid struct {
	key    string
	at     time.Time
	amount float64 // exact to cents, which is all that is drawn
}

// checkPays judges each new intent to pay by a second, plain reading of rules and budgets.
func (d *day) checkPays(tenant string, p *picture) {
	l := d.seen.logs[tenant]
	var fresh []paid
	projectOf := map[string]string{}
	for i := range p.runs {
		for _, st := range p.runs[i].Steps {
			intents := l.intents[st.IdempotencyKey]
			if st.Capability != "pay" || len(intents) <= d.judged[st.IdempotencyKey] {
				continue
			}
			d.judged[st.IdempotencyKey] = len(intents)
			d.pays[st.ProjectID] = slices.DeleteFunc(d.pays[st.ProjectID], func(o paid) bool { return o.key == st.IdempotencyKey }) // a step counts at its last sending
			if neverLeftAtAll(&st) {
				continue
			}
			now := paid{key: st.IdempotencyKey, at: intents[len(intents)-1].at}
			if json.Unmarshal([]byte(st.Input["amount"].Raw()), &now.amount) != nil {
				d.fail("D5: %s was sent with amount %s", st.IdempotencyKey, st.Input["amount"].Raw())
			}
			d.judgeRules(p, &p.runs[i], &st, now.amount)
			fresh, projectOf[now.key] = append(fresh, now), st.ProjectID
		}
	}
	slices.SortFunc(fresh, func(a, b paid) int { return a.at.Compare(b.at) })
	for _, now := range fresh {
		project := projectOf[now.key]
		d.pays[project] = append(d.pays[project], now)
		n := 0
		for _, other := range d.pays[project] {
			if other.at.After(now.at.Add(-paysWithin)) && !other.at.After(now.at) {
				n++
			}
		}
		if n > paysAtMost {
			d.fail("D5: %s is payment %d of %s within %s; the budget is %d", now.key, n, project, paysWithin, paysAtMost)
		}
		d.pays[project] = slices.DeleteFunc(d.pays[project], func(o paid) bool { return now.at.Sub(o.at) > paysWithin })
	}
}

// neverLeftAtAll reports a step whose only sending never left: it gives its place in a budget back.
func neverLeftAtAll(st *countersign.StepRun) bool {
	return st.Status == countersign.StepFailed && st.Attempt == 1 && st.Error != nil && st.Error.Code == countersign.CodeNotSent
}

func (d *day) judgeRules(p *picture, r *records.Run, st *countersign.StepRun, amount float64) {
	switch {
	case amount > 10000:
		d.fail("D5: %s of %.2f was sent, which a rule denies", st.IdempotencyKey, amount)
	case amount > 100 && !st.ApprovalRequired:
		d.fail("D5: %s of %.2f was sent without an approval", st.IdempotencyKey, amount)
	case amount > 1000:
		for i := range p.approvals {
			if a := &p.approvals[i]; a.RunID == r.ID && a.StepID == st.ID && !slices.Contains(a.Groups, "finance") {
				d.fail("D5: the approval %s of %.2f is of groups %v", a.ID, amount, a.Groups)
			}
		}
	}
}

// hooks is the receiver of the tenants' webhooks. It takes nothing while it has its outage.
type hooks struct {
	day *day

	mu      sync.Mutex
	told    map[string]time.Time // when it first took what ended, by run, and what was asked for, by approval
	refused int
}

// Notify implements webhook.Caller.
func (h *hooks) Notify(_ context.Context, n request.Notice) (int, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.day.outage.has(h.day.now()) {
		h.refused++
		return http.StatusServiceUnavailable, "the receiver answered 503"
	}
	var body countersign.Notification
	if err := json.Unmarshal(n.Body, &body); err != nil || !strings.HasSuffix(n.URL, "/"+body.Data.TenantID) {
		h.day.fail("S13: %s was told %s: %v", n.URL, n.Body, err)
	}
	id := body.Data.RunID
	if body.Type == countersign.EventApprovalRequested {
		id = body.Data.ApprovalID
	}
	if _, twice := h.told[id]; !twice {
		h.told[id] = h.day.now()
	}
	return http.StatusNoContent, ""
}

// howDecided says how an approval ended, "" that it hasn't.
func howDecided(a *records.Approval) string {
	switch {
	case a.Status == countersign.ApprovalPending:
		return ""
	case a.DecidedBy == countersign.SystemPrincipal && !a.DecidedAt.Before(a.ExpiresAt):
		return "lapsed"
	case a.DecidedBy == countersign.SystemPrincipal:
		return "closed"
	}
	return string(a.Status)
}

// soon is how long a webhook may take, over a restart.
const soon = 2 * time.Minute

// tellBy is when the webhook has been told of what happened then: soon, and what falls into an outage or waits behind it, when the
// longest wait that began within the outage is over.
func (d *day) tellBy(happened time.Time) time.Time {
	lasted, longest := d.outage.until.Sub(d.outage.from), time.Duration(0)
	for _, wait := range webhook.Backoff {
		if lasted < 0 {
			break
		}
		longest, lasted = wait, lasted-wait
	}
	over := d.outage.until.Add(longest)
	if (span{d.outage.from.Add(-soon), over}).has(happened) {
		return over.Add(soon)
	}
	return happened.Add(soon)
}

func (d *day) checkTold(p *picture) {
	d.hooks.mu.Lock()
	defer d.hooks.mu.Unlock()
	owed := func(what, id string, happened time.Time) {
		if happened.Before(d.begins) {
			return // there was no webhook yet
		}
		at, told := d.hooks.told[id]
		if by := d.tellBy(happened); !told && d.now().After(by) {
			d.fail("A3: %s %s at %s and the webhook was not told by %s", id, what, happened, by)
		}
		switch {
		case told && happened.Before(d.outage.until):
			d.tally.slowest = max(d.tally.slowest, at.Sub(happened))
		case told:
			d.tally.behind = max(d.tally.behind, at.Sub(happened))
		}
	}
	for i := range p.runs {
		if r := &p.runs[i]; r.Status.IsTerminal() {
			owed("ended", r.ID, r.CompletedAt)
		}
	}
	for i := range p.approvals {
		a := &p.approvals[i]
		owed("was asked for", a.ID, a.RequestedAt)
		if how := howDecided(a); how != "" && !d.settled[a.ID] {
			d.settled[a.ID] = true
			d.tally.approvals[how]++
		}
	}
}

// checkMessages: each approval that waits has its message in Slack, and one that is decided has no buttons any more.
func (d *day) checkMessages(p *picture) {
	messages := map[string]slacktest.Message{}
	for _, m := range d.slack.Messages(channel) {
		messages[approvalOf(m)] = m
	}
	for i := range p.approvals {
		a := &p.approvals[i]
		m, posted := messages[a.ID]
		switch pending := a.Status == countersign.ApprovalPending; {
		case pending && d.now().Sub(a.RequestedAt) > soon && (!posted || !m.Open()):
			d.fail("approval %s waits since %s, and its message in Slack doesn't (posted: %t)", a.ID, a.RequestedAt, posted)
		case !pending && posted && m.Open() && d.now().Sub(a.DecidedAt) > soon:
			d.fail("approval %s was decided at %s, and its message in Slack still asks", a.ID, a.DecidedAt)
		}
	}
}

func approvalOf(m slacktest.Message) string { return m.Link()[strings.LastIndex(m.Link(), "/")+1:] }

// inSlack reports whether an approval is left to be decided in Slack.
func (d *day) inSlack(tenant string, a *records.Approval) bool {
	return tenant == tenants[0] && len(a.Groups) == 0 && fate(a.ID)%4 == 1
}

// answerInSlack has a person press the buttons of one message and give the reason.
func (d *day) answerInSlack() {
	if d.asleep() || d.process.session.isDead() || d.slack.Connections() == 0 {
		return
	}
	for _, m := range d.slack.Messages(channel) {
		id := approvalOf(m)
		if n := fate(id); !m.Open() || n%4 != 1 || n%8 == 0 || n%40 == 1 || strings.Contains(m.Says(), "finance") || d.pressed[id] {
			continue
		}
		d.pressed[id] = true
		modal := d.slack.Press(slackBob, m, "approve")
		if modal.View["submit"] != nil {
			d.slack.Send(d.slack.Submitted(modal, "seen in Slack"), 1)
			d.tally.bySlack++
		}
		return
	}
}

// checkArchived: a run that is not in the store any more is in a file.
func (d *day) checkArchived(tenant string, p *picture) {
	for id := range d.present {
		if runOf, is := strings.CutPrefix(id, tenant+"/"); is && p.run(runOf) == nil {
			delete(d.present, id)
			d.tally.archived++
			if !d.archived(tenant, runOf) {
				d.fail("A1: run %s is gone and in no archive", runOf)
			}
		}
	}
	for i := range p.runs {
		d.count(tenant, &p.runs[i])
	}
}

// count counts a run once, and once how it ended.
func (d *day) count(tenant string, r *records.Run) {
	id := tenant + "/" + r.ID
	ended, known := d.present[id]
	if !known {
		d.tally.runs++
		d.present[id] = false
	}
	if !ended && r.Status.IsTerminal() {
		d.present[id] = true
		code, _, _ := strings.Cut(r.Error, ":")
		d.tally.ends[strings.TrimSpace(string(r.Status)+" "+code)]++
	}
}

// prune forgets what concerns runs that were archived, so that the day's own books don't grow. That such a run is never sent again is
// checked when a request arrives: its run must be there.
func (d *day) prune(present map[string]bool) {
	r := d.receiver
	r.mu.Lock()
	r.log = slices.DeleteFunc(r.log, func(x *delivery) bool { return !present[x.call.RunID] })
	for key := range r.attempts {
		if id, _, _ := strings.Cut(key, "."); !present[id] {
			delete(r.attempts, key)
		}
	}
	r.mu.Unlock()
	d.hooks.mu.Lock()
	for id := range d.hooks.told {
		if !present[id] {
			delete(d.hooks.told, id)
		}
	}
	d.hooks.mu.Unlock()
	for _, tenant := range tenants {
		l := d.seen.logs[tenant]
		for key := range l.intents {
			if id, _, _ := strings.Cut(key, "."); !present[id] {
				delete(l.intents, key)
				delete(l.reopened, key)
				delete(l.approved, key)
				delete(d.judged, key)
			}
		}
	}
	gone := func(id string) bool {
		_, own, _ := strings.Cut(id, "/")
		return !present[own]
	}
	maps.DeleteFunc(d.seen.terminal, func(id, _ string) bool { return gone(id) })
	maps.DeleteFunc(d.seen.versions, func(id string, _ int64) bool { return gone(id) })
	maps.DeleteFunc(d.seen.decided, func(id, _ string) bool { return gone(id) })
	for key, id := range d.known.runs {
		if !present[id] && d.isArchived(key, id) {
			delete(d.known.runs, key)
			delete(d.known.content, key)
		}
	}
	for a, at := range d.known.firsts {
		if time.Since(at) > 2*foldedWithin {
			delete(d.known.firsts, a)
		}
	}
	for _, ids := range []map[string]bool{d.pressed, d.settled} {
		for id := range ids {
			if !present[id] {
				delete(ids, id)
			}
		}
	}
	d.slack.Forget(channel, func(m slacktest.Message) bool { return !present[approvalOf(m)] })
}

func (d *day) isArchived(key, id string) bool {
	tenant, _, _ := strings.Cut(key, "/")
	return d.archived(tenant, id)
}

// forget drops the decoded rows that nobody asked for in the last minute, and the beginning of a long script.
func (d *day) forget() {
	d.rowsMu.Lock()
	d.rows, d.olderRows = map[rowAt]any{}, d.rows
	d.rowsMu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if most := 400; len(d.script) > most {
		d.script = slices.Clone(d.script[len(d.script)-most:])
	}
}
