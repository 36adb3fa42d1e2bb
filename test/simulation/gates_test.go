package simulation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Rules with a range between them that none names, over a member that may be spelt in several ways; budgets, whose windows go by a clock that
// is ahead for a while; and approvals by two people, who are demoted, removed and added again meanwhile. Each is judged here anew by a plain
// reading of what was sent.

// Amounts at which the rules over deep.sum begin to hold, and what a budget of pay lets out within its window.
const (
	littleSum, largeSum = 100, 1000
	budgetCount         = 2
	budgetWindow        = 10 * time.Minute
)

func sumIs(operator string, than int) countersign.Condition {
	return countersign.Condition{Predicate: &countersign.Predicate{Kind: "predicate", VariableID: "deep.sum", Operator: operator, Value: countersign.Scalar{Value: countersign.RawValue(fmt.Sprint(than))}}}
}

// rules draws approval rules. What lies between them is named by none.
func (s *sim) rules() []countersign.ApprovalRule {
	little := countersign.ApprovalRule{When: sumIs("lte", littleSum), Then: countersign.RuleAllow, Reason: "little"}
	much := countersign.ApprovalRule{When: sumIs("gt", largeSum), Then: countersign.RuleAsk, Approvals: 2, Reason: "much"}
	never := countersign.ApprovalRule{When: sumIs("gt", largeSum), Then: countersign.RuleDeny, Reason: "too much"}
	return pick(s, nil, []countersign.ApprovalRule{little, much}, []countersign.ApprovalRule{little, much}, []countersign.ApprovalRule{little, never}, []countersign.ApprovalRule{much})
}

// deep draws values of the object over which they judge: one spelling, another one, several.
func (s *sim) deep() countersign.Value {
	names := pick(s, []string{"sum"}, []string{"sum"}, []string{"sum"}, []string{"sum", "Sum"}, []string{"SUM"}, []string{"sum", "\u017fum"}, []string{})
	doc, same := map[string]int{}, s.chance(2)
	n := pick(s, 5, littleSum, 500, largeSum, 5000)
	for _, name := range names {
		doc[name] = n
		if !same {
			n = pick(s, 5, 500, 5000)
		}
	}
	return countersign.RawValue(encode(doc))
}

// verdict reads the rules plainly: what they say of a value, and how many must approve.
func verdict(c *countersign.Capability, deep countersign.Value) (then string, approvals int) {
	var doc map[string]any
	_ = json.Unmarshal([]byte(deep.Raw()), &doc)
	known := map[float64]bool{}
	_, exact := doc["sum"]
	for name, v := range doc {
		if n, is := v.(float64); is && strings.EqualFold(name, "sum") {
			known[n] = true
		}
	}
	if len(c.ApprovalRules) == 0 {
		return countersign.RuleAllow, 1 // not judged here
	}
	then = countersign.RuleAsk // a side effect that no rule names, unless nobody is ever asked
	if c.ApprovalPolicy() == countersign.ApprovalNone {
		then = countersign.RuleAllow
	}
	if len(known) != 1 || !exact {
		return countersign.RuleAsk, 1
	}
	for n := range known {
		for _, r := range c.ApprovalRules {
			holds := r.Then == countersign.RuleAllow && n <= littleSum || r.Then != countersign.RuleAllow && n > largeSum
			if holds {
				return r.Then, max(1, int(r.Approvals))
			}
		}
	}
	return then, 1
}

// judgeGate judges what was sent.
func (s *sim) judgeGate(tenant string, l *log, p *picture, r *records.Run, made *records.Plan, rec countersign.AuditRecord) {
	st := stepOf(&r.Run, rec.Step)
	for _, h := range s.projectsOf(made) {
		c := h.Capability(st.Capability)
		if h.ID != st.ProjectID || c == nil || r.Mode != countersign.ModeLive {
			continue
		}
		then, approvals := verdict(c, st.Input["deep"])
		if len(c.ApprovalRules) > 0 {
			switch {
			case then == countersign.RuleDeny:
				s.fail("D5: %s was sent with deep = %s, which a rule denies", st.IdempotencyKey, st.Input["deep"].Raw())
			case then == countersign.RuleAsk && !st.ApprovalRequired:
				s.fail("D5: %s was sent unasked with deep = %s", st.IdempotencyKey, st.Input["deep"].Raw())
			}
			for i := range p.approvals {
				if a := &p.approvals[i]; a.RunID == r.ID && a.StepID == st.ID && a.Needed() < approvals {
					s.fail("D5: approval %s of deep = %s needs %d; a rule asks for %d", a.ID, st.Input["deep"].Raw(), a.Needed(), approvals)
				}
			}
		}
		if len(c.Budgets) > 0 {
			s.spend(l, p, h.ID+"/"+c.Name, st.IdempotencyKey, rec.At)
		}
	}
}

// sending is a place in a budget: the times between which the service may take it to have been sent. They differ once the clock was ahead.
type sending struct {
	key           string
	first, latest time.Time
}

// spend takes a sending in: the budget had room for it, whatever the clock said meanwhile.
func (s *sim) spend(l *log, p *picture, of, key string, at time.Time) {
	l.look(of, at)
	l.spent[of] = slices.DeleteFunc(l.spent[of], func(x sending) bool { return x.key == key })
	n := 1
	for _, x := range l.spent[of] {
		run, step, _ := strings.Cut(x.key, ".")
		if r := p.run(run); r != nil && !neverLeftAtAll(stepOf(&r.Run, step)) && x.first.After(at.Add(-budgetWindow)) {
			n++
		}
	}
	if n > budgetCount {
		s.fail("D5: %s is sending %d of %s within %s; the budget is %d", key, n, of, budgetWindow, budgetCount)
	}
	l.spent[of] = append(l.spent[of], sending{key, at, at})
}

// deny judges a step that a budget has denied: so many sendings may have been within its window.
func (s *sim) deny(l *log, of, key string, at time.Time) {
	l.look(of, at)
	n := 0
	for _, x := range l.spent[of] {
		if x.key != key && x.latest.After(at.Add(-budgetWindow-clockSkew)) {
			n++
		}
	}
	if n < budgetCount {
		s.fail("D5: %s was denied by the budget of %s at %s, of which %d were used: %+v", key, of, at, n, l.spent[of])
	}
}

// clockSkew is how much a clock may be corrected before it counts as one that was ahead.
const clockSkew = 5 * time.Second

// look has the service look at a budget: what was sent later than now was sent by now.
func (l *log) look(of string, now time.Time) {
	for i := range l.spent[of] {
		if x := &l.spent[of][i]; x.latest.After(now.Add(clockSkew)) {
			x.latest = now.Add(clockSkew)
		}
	}
}

// clockBack notes that the clock stands earlier now than it did.
func (s *sim) clockBack() {
	for _, l := range s.seen.logs {
		for _, list := range l.spent {
			for i := range list {
				if now := s.now(); list[i].first.After(now) {
					list[i].first = now
				}
			}
		}
	}
}

// setClock sets the clock by so much.
func (s *sim) setClock(by time.Duration) {
	s.highest = max(s.highest, s.clock.Add(int64(by)))
	s.clockBack()
}

// perhapsAhead sometimes sets the clock ahead for some rounds.
func (s *sim) perhapsAhead() {
	switch {
	case s.abreast > 0:
	case s.ahead > 0:
		if s.comesBack--; s.comesBack == 0 {
			s.setClock(-s.ahead)
			s.say("the clock was ahead by %s and is right again", s.ahead)
			s.ahead = 0
		}
	case s.chance(20):
		s.ahead, s.comesBack = pick(s, time.Minute, 11*time.Minute, 3*time.Hour), 1+s.rng.IntN(6)
		s.setClock(s.ahead)
		s.say("the clock is ahead by %s for %d rounds", s.ahead, s.comesBack)
	}
}

// deciders are those of a tenant who may be demoted and removed, and their roles.
var deciders = map[string][]countersign.Role{
	"bob": {approver}, "bob2": {approver, admin}, "eve": {operator, approver, admin},
}

func (s *sim) emailOf(tenant, name string) string { return name + "@" + tenant + ".example" }

// hire makes the deciders users with their rights, those who have lost them too.
func (s *sim) hire(tenant string) {
	s.play([]act{{s.people[tenant][0], "make the deciders users", func(a control.Actor) error {
		for _, name := range []string{"bob", "bob2", "eve"} {
			if _, err := s.process.control.PutUser(background(), a, s.emailOf(tenant, name), countersign.UserWrite{Roles: deciders[name]}); err != nil {
				return err
			}
		}
		return nil
	}, "", ""}})
	s.rights(tenant)
}

// perhapsRights sometimes changes what a decider may do, between two rounds.
func (s *sim) perhapsRights() {
	if !s.chance(10) {
		return
	}
	tenant, name := pick(s, tenants...), pick(s, "bob", "bob2", "eve")
	email, to := s.emailOf(tenant, name), pick(s, []countersign.Role{countersign.RoleViewer}, nil, deciders[name], deciders[name])
	a := act{s.people[tenant][0], fmt.Sprintf("give %s %v", email, to), func(a control.Actor) error {
		_, err := s.process.control.PutUser(background(), a, email, countersign.UserWrite{Roles: to})
		return err
	}, "users.write", access.WriteUser}
	if to == nil {
		a = act{s.people[tenant][0], "remove " + email, func(a control.Actor) error {
			_, err := s.process.control.DeleteUser(background(), a, email, "")
			return err
		}, "users.delete", access.DeleteUser}
	}
	s.play([]act{a})
	s.revive()
	s.rights(tenant)
}

// rights gives the deciders the rights that the store says they have.
func (s *sim) rights(tenant string) {
	users := s.users(tenant)
	for i := range s.people[tenant] {
		if p := &s.people[tenant][i]; deciders[p.name] != nil {
			p.Roles = users[p.Email].Roles
		}
	}
}

// users are a tenant's users by address, read without the service, and anew each time: who is removed and added again is another row of the
// same version.
func (s *sim) users(tenant string) map[string]records.User {
	by := map[string]records.User{}
	err := s.disk.rows.View(background(), func(tx store.Tx) error {
		list, err := records.Users.List(tx, tenant, store.Query{})
		for _, u := range list {
			by[u.Email] = u
		}
		return err
	})
	if err != nil {
		s.fail("the users can't be read: %v", err)
	}
	return by
}

// checkDeciders: whoever counts for an approval that has just been given may give it now, and there are enough of them. Rights change between
// rounds only. The last one's own were asked for with the decision.
func (s *sim) checkDeciders(tenant string, a *records.Approval) {
	if a.Status != countersign.ApprovalApproved || a.Needed() < 2 {
		return
	}
	users, by := s.users(tenant), map[string]bool{}
	for i, d := range a.Decisions {
		if d.Decision != countersign.ApprovalApproved {
			continue
		}
		u, is := users[strings.TrimPrefix(d.By, "user:")]
		if is && slices.Contains(u.Roles, approver) || i == len(a.Decisions)-1 {
			by[d.By] = true
		}
	}
	if delete(by, a.RequestedBy); len(by) < a.Needed() {
		s.fail("D5: approval %s needs %d and was given by %v: %s", a.ID, a.Needed(), by, encode(a.Decisions))
	}
}
