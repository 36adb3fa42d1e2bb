package simulation

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
)

// reliable is what a receiver does that works but for the few cases in which it doesn't.
var reliable = func() (list []behaviour) {
	for _, b := range behaviours {
		if b.name == behaviours[0].name {
			b.weight = 1500
		}
		list = append(list, b)
	}
	return list
}()

// brisk is the pace of such a receiver: some calls are slower than their timeout.
func brisk(rng *rand.Rand) time.Duration {
	if rng.IntN(100) == 0 {
		return time.Duration(rng.IntN(20)) * time.Second
	}
	return time.Duration(1+rng.IntN(800)) * time.Millisecond
}

// perMinute is how many LIVE runs are started in a minute of each hour of the day.
var perMinute = [24]int{1, 1, 1, 1, 1, 1, 2, 4, 8, 10, 10, 8, 6, 8, 10, 10, 8, 5, 3, 2, 1, 1, 1, 1}

// asleep reports whether nobody decides anything.
func (d *day) asleep() bool { h := d.now().Hour(); return h < 6 || h >= 22 }

// office are the people of a tenant.
func office(tenant string) []person {
	of := func(name string, role countersign.Role) person {
		email := name + "@" + tenant + ".example"
		return person{access.Principal{ID: "user:" + email, Tenant: tenant, Roles: []countersign.Role{role}, Email: email, Person: email}, name}
	}
	return []person{of("ada", admin), of("ann", operator), of("amy", operator), of("bob", approver), of("fay", approver), of("fred", approver), of("dirk", approver), of("vic", countersign.RoleViewer)}
}

// who is the person of a tenant with a name.
func (d *day) who(tenant, name string) person {
	for _, p := range d.people[tenant] {
		if p.name == name {
			return p
		}
	}
	panic(name)
}

// work is what a tenant has at hand.
type work struct {
	plan   string // the plan that is started, "" if a new one is needed
	beat   int64
	keys   []started // some keys of runs, which are kept to be repeated
	number int
}

// started is a key and its run.
type started struct {
	key, run string
	content  func(a control.Actor, c *control.Service, key string) (control.Started, error)
}

func newWork() *work { return &work{} }

// drawMinute draws the work of a minute.
func (d *day) drawMinute() (acts []act) {
	for i, tenant := range tenants {
		p := d.seenLast[tenant]
		if p == nil { // figures were taken since
			now := d.look(tenant)
			p = &now
		}
		n := perMinute[d.now().Hour()]
		if i > 0 {
			n = (n + 4) / 5 // a small tenant
		}
		if d.quiet() {
			n = 0
		}
		for range n {
			acts = append(acts, d.drawStart(tenant, p)...)
		}
		acts = append(acts, d.drawBeats(tenant, p)...)
		acts = append(acts, d.drawDecisions(tenant, p)...)
		acts = append(acts, d.drawRecoveries(tenant, p)...)
		acts = append(acts, d.drawOther(tenant, p)...)
	}
	d.rng.Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
	return acts
}

// quiet reports that nothing is begun, in the last minutes of an hour: what is counted then is not the work's.
func (d *day) quiet() bool { return d.minute%d.period >= d.period-4 }

// amount draws what is paid: mostly little, some of it so much that two must approve, and more than anybody may.
func (d *day) amount() countersign.Value {
	switch n := d.rng.IntN(100); {
	case n < 60:
		return countersign.RawValue(fmt.Sprintf("%d.%02d", 1+d.rng.IntN(99), d.rng.IntN(100)))
	case n < 84:
		return countersign.RawValue(fmt.Sprint(101 + d.rng.IntN(900)))
	case n < 97:
		return countersign.RawValue(fmt.Sprint(1001 + d.rng.IntN(8000)))
	}
	return countersign.RawValue("10000.01")
}

func (d *day) inputs(capability string) map[string]countersign.Value {
	switch capability {
	case "look":
		return map[string]countersign.Value{"order": countersign.String(fmt.Sprintf("o-%d", d.rng.IntN(1000)))}
	case "pay":
		return map[string]countersign.Value{"amount": d.amount(), "iban": countersign.String("DE00-1234")}
	case "ship":
		return map[string]countersign.Value{"resourceId": countersign.String(fmt.Sprintf("o-%d", d.rng.IntN(1000)))}
	}
	return nil
}

var done = &countersign.Expectation{Field: "state", Equals: countersign.String("done")}

// drawStart draws the start of a run: of the tenant's plan, of an agent, of a team, or of a single call. Now and then the same start
// is sent twice at once, or one that was answered long ago is repeated.
func (d *day) drawStart(tenant string, p *picture) (acts []act) {
	w, who := d.work[tenant], d.who(tenant, pick(d.sim, "ann", "amy"))
	w.number++
	key := fmt.Sprintf("day-%s-%d", tenant, w.number)
	var content func(a control.Actor, c *control.Service, key string) (control.Started, error)
	var what string
	mode := countersign.ModeLive
	if d.chance(8) {
		mode = countersign.ModeDryRun
	}
	switch n := d.rng.IntN(10); {
	case n < 4 && w.plan != "":
		id := w.plan
		what, content = "start the plan", func(a control.Actor, c *control.Service, key string) (control.Started, error) {
			return c.StartRun(background(), a, countersign.RunStart{PlanID: id}, key)
		}
	case n < 6 && len(p.agents) > 0:
		agent := p.agents[d.rng.IntN(len(p.agents))]
		capability := pick(d.sim, "look", "pay", "note")
		start := countersign.AgentRunStart{ExpectedRevision: agent.Revision, Mode: mode, Capability: capability, Inputs: d.inputs(capability), Expectation: done}
		what, content = "agent run of "+capability, func(a control.Actor, c *control.Service, key string) (control.Started, error) {
			return c.StartAgentRun(background(), a, agent.ID, start, key)
		}
	case n < 7 && len(p.teams) > 0:
		team := p.teams[0]
		start := countersign.TeamRunStart{ExpectedRevision: team.Revision, Mode: mode}
		what, content = "team run", func(a control.Actor, c *control.Service, key string) (control.Started, error) {
			return c.StartTeamRun(background(), a, team.ID, start, key)
		}
	default:
		project, capability := tenant+"-one", pick(d.sim, "pay", "pay", "pay", "ship", "look", "note")
		if d.chance(10) {
			project, capability = tenant+"-two", "look"
		}
		start := countersign.ProjectRunStart{Capability: capability, Mode: mode, Inputs: d.inputs(capability), Expectation: done}
		what, content = "single call of "+capability, func(a control.Actor, c *control.Service, key string) (control.Started, error) {
			return c.StartProjectRun(background(), a, project, start, key)
		}
	}
	first := d.starting(tenant, who, key, what, content)
	acts = append(acts, first)
	if d.chance(12) {
		acts = append(acts, first)
	}
	if len(w.keys) > 0 && d.chance(15) {
		old := w.keys[d.rng.IntN(len(w.keys))]
		acts = append(acts, d.repeating(tenant, who, old))
	}
	return acts
}

func (d *day) starting(tenant string, who person, key, what string, content func(control.Actor, *control.Service, string) (control.Started, error)) act {
	return act{who, what + " with key " + key, func(a control.Actor) error {
		out, err := content(a, d.process.control, key)
		d.started(tenant, key, what, out, err)
		d.mu.Lock()
		defer d.mu.Unlock()
		if err != nil {
			d.tally.refusals++
			if countersign.ErrorCode(err) == countersign.CodeDrift {
				d.work[tenant].plan = ""
			}
			return err
		}
		d.tally.starts++
		if w := d.work[tenant]; out.Run.ID != "" && len(w.keys) < 200 && d.tally.starts%20 == 0 {
			w.keys = append(w.keys, started{key, out.Run.ID, content})
		}
		return nil
	}, "", ""}
}

// repeating repeats a start by who made it or somebody else: it is the same run, also long after that was archived.
func (d *day) repeating(tenant string, who person, old started) act {
	return act{who, "repeat the start with key " + old.key, func(a control.Actor) error {
		out, err := old.content(a, d.process.control, old.key)
		if err == nil && out.Run.ID != old.run {
			d.fail("S3: key %s gave run %s and is answered with %s", old.key, old.run, out.Run.ID)
		}
		if err == nil {
			d.mu.Lock()
			d.tally.replayed++
			d.mu.Unlock()
		}
		return err
	}, "", ""}
}

// drawBeats is a heartbeat of each instance of each agent.
func (d *day) drawBeats(tenant string, p *picture) (acts []act) {
	w := d.work[tenant]
	w.beat++
	for _, agent := range p.agents {
		for _, instance := range []string{"i-1", "i-2"} {
			b := countersign.Heartbeat{InstanceID: instance, Sequence: w.beat, State: countersign.InstanceIdle}
			acts = append(acts, act{d.who(tenant, "ann"), "heartbeat of " + agent.ID, func(a control.Actor) error {
				b.Timestamp = d.now().Format(time.RFC3339)
				ack, err := d.process.control.Heartbeat(background(), a, agent.ID, b)
				if err == nil {
					d.heard(tenant, agent.ID, b, ack)
				}
				return err
			}, "", ""})
		}
	}
	return acts
}

// fate is a number that belongs to an id.
func fate(id string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return int(h.Sum32() >> 8)
}

// drawDecisions decides what waits: some at once, some after a while, some never, and those of groups one member after the other. Some
// of the first tenant's are left to Slack.
func (d *day) drawDecisions(tenant string, p *picture) (acts []act) {
	for i := range p.approvals {
		a := &p.approvals[i]
		n, waited := fate(a.ID), d.now().Sub(a.RequestedAt)
		switch {
		case a.Status != countersign.ApprovalPending:
			if a.DecidedBy == countersign.SystemPrincipal && d.now().Sub(a.DecidedAt) < 90*time.Second {
				acts = append(acts, d.deciding(d.who(tenant, "bob"), a, countersign.ApprovalApproved)) // too late
			}
		case n%40 == 1:
			acts = append(acts, d.deciding(d.who(tenant, "ann"), a, countersign.ApprovalApproved), d.deciding(d.who(tenant, "vic"), a, countersign.ApprovalApproved))
		case d.asleep() || n%8 == 0 || d.inSlack(tenant, a) || waited < time.Duration(n%10)*time.Minute:
		case len(a.Groups) == 0:
			acts = append(acts, d.deciding(d.who(tenant, "bob"), a, d.verdict(n)))
		default:
			acts = append(acts, d.deciding(d.member(tenant, a, n), a, countersign.ApprovalApproved))
		}
	}
	return acts
}

func (d *day) verdict(n int) countersign.ApprovalStatus {
	if n%7 == 3 {
		return countersign.ApprovalRejected
	}
	return countersign.ApprovalApproved
}

// member is who of the finance group decides next. For some nobody of it has the time but one, so that they escalate.
func (d *day) member(tenant string, a *records.Approval, n int) person {
	switch {
	case len(a.Decisions) == 0:
		return d.who(tenant, "fay")
	case n%5 == 2:
		return d.who(tenant, "dirk") // of the directors, who may once it has escalated
	default:
		return d.who(tenant, "fred")
	}
}

func (d *day) deciding(who person, a *records.Approval, verdict countersign.ApprovalStatus) act {
	return act{who, fmt.Sprintf("decide %s: %s", a.ID, verdict), func(actor control.Actor) error {
		_, err := d.process.control.Decide(background(), actor, a.ID, countersign.Decision{Decision: verdict, Reason: "seen"})
		return err
	}, "approvals.decide", ""}
}

// drawRecoveries resolves what is uncertain by what the receiver says has happened.
func (d *day) drawRecoveries(tenant string, p *picture) (acts []act) {
	for i := range p.runs {
		r := &p.runs[i]
		if r.Status != countersign.RunRecoveryRequired || d.asleep() || !d.chance(3) {
			continue
		}
		for _, st := range r.Steps {
			if st.Status == countersign.StepRecoveryRequired {
				acts = append(acts, d.resolving(tenant, r.ID, &st))
			}
		}
	}
	return acts
}

func (d *day) resolving(tenant, run string, st *countersign.StepRun) act {
	acted := false
	for _, at := range d.receiver.deliveries() {
		acted = acted || at.call.IdempotencyKey == st.IdempotencyKey && at.acted
	}
	rec := countersign.Reconcile{Resolution: countersign.ConfirmedNotExecuted, Evidence: "asked the shop"}
	switch {
	case fate(run)%6 == 0:
		rec.Resolution = countersign.Abandon
	case acted:
		rec.Resolution, rec.Output = countersign.ConfirmedCompleted, map[string]countersign.Value{"state": countersign.String("done"), "id": countersign.String("x")}
	}
	if len(st.Probes) == 0 && st.Capability == "pay" && d.chance(2) {
		return act{d.who(tenant, "bob"), "probe " + run, func(a control.Actor) error {
			_, err := d.process.control.Probe(background(), a, run, st.ID)
			return err
		}, "", ""}
	}
	return act{d.who(tenant, "bob"), "reconcile " + run + ": " + rec.Resolution, func(a control.Actor) error {
		_, err := d.process.control.ReconcileRun(background(), a, run, rec)
		if err == nil {
			d.mu.Lock()
			d.tally.reconciled++
			d.mu.Unlock()
		}
		return err
	}, "runs.reconcile", ""}
}

// drawOther makes a new plan where one is needed, cancels now and then a run that waits, and reads lists.
func (d *day) drawOther(tenant string, p *picture) (acts []act) {
	if d.work[tenant].plan == "" {
		acts = append(acts, d.planning(tenant, p))
	}
	if r, ok := d.unfinished(p, countersign.RunWaitingApproval); ok && d.chance(20) {
		acts = append(acts, act{d.who(tenant, "ann"), "cancel " + r.ID, func(a control.Actor) error {
			_, err := d.process.control.CancelRun(background(), a, r.ID, "not wanted")
			return err
		}, "", ""})
	}
	if a, ok := drawReads(d.sim, tenant, p); ok && d.chance(4) {
		acts = append(acts, a)
	}
	return acts
}

// planning makes the plan that is started from now on: it reads, pays what it read says, and notes it.
func (d *day) planning(tenant string, p *picture) act {
	project, revision := tenant+"-one", int64(0)
	for _, m := range p.models {
		if m.ID == "refund" {
			revision = m.Revision
		}
	}
	w := countersign.PlanWrite{Name: "of the day", ModelID: "refund", ModelRevision: revision, Mode: countersign.ModeLive, Steps: []countersign.Step{
		{ID: "read", Name: "read", ProjectID: project, Capability: "look", Input: map[string]countersign.Value{"order": countersign.String("o-1")}, Expectation: done},
		{ID: "pay", Name: "pay", ProjectID: project, Capability: "pay", Input: map[string]countersign.Value{"iban": countersign.String("DE00-1234")}, DependsOn: []string{"read"}, InputBindings: map[string]countersign.Binding{"amount": {StepID: "read", Field: "amount"}}, Expectation: done},
		{ID: "note", Name: "note", ProjectID: project, Capability: "note", DependsOn: []string{"pay"}, Expectation: done},
	}}
	return act{d.who(tenant, "ann"), "make the plan", func(a control.Actor) error {
		made, err := d.process.control.CreatePlan(background(), a, w)
		if err == nil && made.Status == countersign.PlanReady { // else the model has changed meanwhile
			d.mu.Lock()
			d.work[tenant].plan = made.ID
			d.mu.Unlock()
		}
		return err
	}, "", ""}
}
