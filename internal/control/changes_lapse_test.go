package control_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// openLapsing is openGuarded with the tenant's own record, by which whatever goes over all tenants finds it.
func openLapsing(t *testing.T) *fixture {
	h := openGuarded(t, 1)
	_, err := h.service.PutTenant(background, root(), "acme", countersign.TenantWrite{Name: "Acme"})
	h.must(err)
	return h
}

// stored is the record of a change, which says no more than what was written of it.
func (f *fixture) stored(id string) (out records.Change) {
	f.t.Helper()
	f.must(f.store.View(background, func(tx store.Tx) error {
		rec, _, err := records.Changes.Get(tx, "acme", records.ChangeID(id))
		if err == nil {
			out = *rec
		}
		return err
	}))
	return out
}

// lapses are what the audit log says of changes that lapsed.
func (f *fixture) lapses() (out []string) {
	for _, r := range f.log("acme", 0) {
		if r.Action == "changes.lapse" {
			out = append(out, strings.Join([]string{r.Actor, r.Subject, r.Before, r.After, r.Reason}, " "))
		}
	}
	return out
}

// after lets the service's clock show a time, in whichever replica looks.
func (f *fixture) after(d time.Duration) {
	f.clock.Store(int64(d))
	f.service.LapseChanges(background)
	f.elsewhere(func() { f.service.LapseChanges(background) })
}

// TestAChangeThatNobodyDecidesLapsesByItself: its record and the log say so once, though nobody looks at it. One that is approved has its
// proposer's 24 hours from then on.
func TestAChangeThatNobodyDecidesLapsesByItself(t *testing.T) {
	h := openLapsing(t)
	_, err := h.service.PutUser(background, h.admin(mara), "new@acme.example", approving())
	asked := h.proposed(err)
	_, err = h.service.CreateToken(background, h.admin(mara), countersign.TokenWrite{Name: "deploy", Roles: []countersign.Role{countersign.RoleAdmin}})
	secret := h.proposed(err)
	h.clock.Store(int64(time.Hour))
	_, err = h.decide(noor, secret, countersign.ApprovalApproved)
	h.must(err)
	h.after(countersign.ChangeLife - time.Minute)
	if got := h.lapses(); len(got) != 0 || h.stored(asked).Status != countersign.ChangeProposed {
		t.Errorf("before its time: %q, %s", got, h.stored(asked).Status)
	}
	h.after(countersign.ChangeLife + time.Minute)
	first := "system change/" + asked + " PROPOSED LAPSED nobody has decided it in time"
	if got, c := h.lapses(), h.stored(asked); !slices.Equal(got, []string{first}) || c.Status != countersign.ChangeLapsed || c.EndedReason != "nobody has decided it in time" || c.EndedAt.IsZero() {
		t.Errorf("%q, %+v", got, c.ProposedChange)
	}
	if c := h.stored(secret); c.Status != countersign.ChangeApproved {
		t.Errorf("what was approved an hour later: %+v", c.ProposedChange)
	}
	h.after(countersign.ChangeLife + 2*time.Hour)
	second := "system change/" + secret + " APPROVED LAPSED its proposer has not made it in time"
	if got := h.lapses(); !slices.Equal(got, []string{first, second}) {
		t.Errorf("%q", got)
	}
	if _, err := h.service.MakeChange(background, h.admin(mara), secret); countersign.ErrorCode(err) != countersign.CodeStateConflict {
		t.Errorf("%v", err)
	}
}

// TestAChangeIsDecidedOrLapsesAndNotBoth: a decision comes between the look and the turn.
func TestAChangeIsDecidedOrLapsesAndNotBoth(t *testing.T) {
	h := openLapsing(t)
	_, err := h.service.PutUser(background, h.admin(mara), "new@acme.example", approving())
	id := h.proposed(err)
	h.clock.Store(int64(countersign.ChangeLife))
	h.store.mu.Lock()
	h.store.before = func() {
		h.elsewhere(func() {
			now := h.clock.Swap(0) // that replica's clock is behind
			_, err = h.decide(noor, id, countersign.ApprovalApproved)
			h.clock.Store(now)
		})
	}
	h.store.mu.Unlock()
	h.service.LapseChanges(background)
	if c := h.stored(id); err != nil || c.Status != countersign.ChangeMade || len(h.lapses()) != 0 {
		t.Errorf("%v, %s, %q", err, c.Status, h.lapses())
	}
}

// TestAChangeThatCantBeReadKeepsNoOther from being listed, decided, proposed or lapsing.
func TestAChangeThatCantBeReadKeepsNoOther(t *testing.T) {
	h := openLapsing(t)
	ask := func(email string) string {
		_, err := h.service.PutUser(background, h.admin(mara), email, approving())
		return h.proposed(err)
	}
	bad, good := ask("bad@acme.example"), ask("good@acme.example")
	h.breaks(store.Meta, records.ChangeID(bad))
	limited := h.admin(noor)
	limited.Projects = []string{"acme-one"}
	for name, who := range map[string]control.Actor{"all": h.admin(noor), "limited": limited} {
		if _, err := h.service.Changes(background, who, list); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	open, err := h.service.OpenChanges(background, h.admin(noor))
	if err != nil || len(open) != 1 || open[0].ID != good {
		t.Errorf("%+v, %v", open, err)
	}
	if n, err := h.service.WaitingChanges(background, h.admin(noor)); err != nil || n != 1 {
		t.Errorf("%d wait, %v", n, err)
	}
	h.after(countersign.ChangeLife)
	if h.stored(good).Status != countersign.ChangeLapsed {
		t.Errorf("%+v", h.stored(good).ProposedChange)
	}
	third := ask("third@acme.example")
	_, err = h.decide(noor, third, countersign.ApprovalApproved)
	h.must(err)
}
