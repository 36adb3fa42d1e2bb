package simulation

import (
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
)

// event is something that happens once, in a minute of the day.
type event struct {
	what string
	do   func(d *day)
}

// schedule draws when what happens. Each hour has a restart, a kill, one in the middle of a commit, a stop of some minutes, and changes of
// a model, a project and a token; the day has an outage of the webhook's receiver.
func (d *day) schedule() {
	at := func(minute int, what string, do func(d *day)) {
		d.events[minute] = append(d.events[minute], event{what, do})
	}
	span := min(60, d.minutes)
	for hour := 0; hour < d.minutes; hour += span {
		in := func(before int) int { return hour + d.rng.IntN(max(1, span-before)) }
		at(in(10), "restart", func(d *day) {
			d.tally.restarts++
			if d.shared {
				d.goes(grace)
			} else {
				d.restart()
			}
		})
		at(in(10), "kill", func(d *day) {
			d.tally.kills++
			d.burst()
			if d.shared {
				d.goes(0)
			} else {
				d.kill()
			}
		})
		at(in(10), "kill in a commit", func(d *day) {
			f := []fault{dieBefore, dieAfter, dieAfter}[d.rng.IntN(3)]
			d.disk.plan(f, d.rng.IntN(30))
			d.say("planned: %s", f)
		})
		stop := in(15)
		at(stop, "stop", func(d *day) { d.stopping(true) })
		at(stop+2+d.rng.IntN(4), "go", func(d *day) { d.stopping(false) })
		at(in(10), "a model changes", (*day).revise)
		at(in(10), "a token is renewed", (*day).renewToken)
		for n := 3; n < span-10; n += 4 {
			at(hour+n, "a project may change", (*day).changeProject)
		}
	}
	d.outage.from = d.begins.Add(10 * time.Hour)
	d.outage.until = d.outage.from.Add(time.Hour)
	if d.minutes < 24*60 {
		d.outage.from = d.begins.Add(time.Duration(d.minutes) * time.Minute / 6)
		d.outage.until = d.outage.from.Add(4 * time.Minute)
	}
}

// burst begins some runs, so that calls are on their way at the next moment.
func (d *day) burst() {
	p := d.look(tenants[0])
	var acts []act
	for range 4 {
		acts = append(acts, d.drawStart(tenants[0], &p)...)
	}
	d.play(acts)
	time.Sleep(time.Duration(1+d.rng.IntN(50)) * time.Millisecond)
}

// asks makes a request beside the drawn ones.
func (d *day) asks(who person, what, main string, do func(a control.Actor) error) {
	d.play([]act{{who, what, do, main, ""}})
}

// stopping stops a tenant's LIVE steps, or lets them go.
func (d *day) stopping(stop bool) {
	tenant := pick(d.sim, tenants...)
	for _, other := range tenants {
		if stop && other != tenant {
			continue
		}
		d.asks(d.who(other, "ada"), fmt.Sprintf("stop: %t", stop), "", func(a control.Actor) (err error) {
			w := countersign.StopWrite{Reason: "to look"}
			if stop {
				_, err = d.process.control.Stop(background(), a, w)
			} else {
				_, err = d.process.control.Go(background(), a, w)
			}
			return err
		})
	}
}

// revise writes the model anew: runs of plans that know the earlier revision end with drift.
func (d *day) revise() {
	tenant := pick(d.sim, tenants...)
	revision := int64(0)
	for _, m := range d.look(tenant).models {
		if m.ID == "refund" {
			revision = m.Revision
		}
	}
	doc := startable(d.model("refund"))
	d.asks(d.who(tenant, "ann"), "put model refund", "models.write", func(a control.Actor) error {
		_, err := d.process.control.PutModel(background(), a, "refund", countersign.ModelWrite{Document: doc, ExpectedRevision: revision})
		return err
	})
}

// changeProject gives a project another credential and enables it again. One that unfinished runs use may not be changed: the next
// attempt comes in some minutes.
func (d *day) changeProject() {
	tenant := pick(d.sim, tenants...)
	id := tenant + "-" + pick(d.sim, "one", "two", "two")
	for _, h := range d.look(tenant).projects {
		if h.ID != id {
			continue
		}
		w := d.shop(int(h.Revision))
		w.ExpectedRevision = h.Revision
		changed := false
		d.asks(d.who(tenant, "ada"), "put project "+id, "projects.write", func(a control.Actor) error {
			_, err := d.process.control.PutProject(background(), a, id, w)
			changed = err == nil
			return err
		})
		for range 3 {
			if changed {
				d.asks(d.who(tenant, "ada"), "enable project "+id, "", func(a control.Actor) error {
					err := d.enable(a, id, h.Revision+1)
					changed = err != nil
					return err
				})
				d.startDead()
			}
		}
	}
}

// renewToken makes the reader's token anew and revokes the one before, which is refused from then on.
func (d *day) renewToken() {
	tenant := pick(d.sim, tenants...)
	before, id := d.token[tenant], ""
	d.asks(d.who(tenant, "ada"), "make a token", "", func(a control.Actor) error {
		made, err := d.process.control.CreateToken(background(), a, countersign.TokenWrite{Name: "reader", Roles: []countersign.Role{countersign.RoleViewer, admin}})
		if err == nil {
			d.token[tenant] = made.Secret
		}
		return err
	})
	if d.token[tenant] == before {
		return
	}
	p, err := d.process.control.Authenticate(background(), before)
	if err != nil {
		return // the process died
	}
	id = p.ID[len("token:"):]
	revoked := false
	d.asks(d.who(tenant, "ada"), "revoke a token", "", func(a control.Actor) error {
		_, err := d.process.control.RevokeToken(background(), a, id, "")
		revoked = err == nil
		return err
	})
	if _, err := d.process.control.Authenticate(background(), before); revoked && err == nil {
		d.fail("A1: token %s was revoked and is accepted", id)
	}
}
