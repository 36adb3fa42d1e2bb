package chat

import (
	"encoding/json"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/remind"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// people is what says who may decide a tenant's approvals, besides the approvals: a digest
// of its users, groups and delegations, and when a delegation begins or ends.
type people struct {
	digest string
	turns  []time.Time
}

func (c *Chat) peopleOf(tx store.Tx, tenant string) (p people, err error) {
	users, err := unreadable.List(c.cfg.Unreadable, tx, "user", records.Users, tenant, store.Query{})
	if err != nil {
		return p, err
	}
	groups, err := unreadable.List(c.cfg.Unreadable, tx, "group", records.Groups, tenant, store.Query{Where: records.AllGroups()})
	if err != nil {
		return p, err
	}
	away, err := unreadable.List(c.cfg.Unreadable, tx, "delegation", records.Delegations, tenant, store.Query{Where: records.AllDelegations()})
	if err != nil {
		return p, err
	}
	for i := range users {
		users[i].UsedAt = time.Time{} // signing in changes nobody's rights
	}
	for _, d := range away {
		p.turns = append(p.turns, d.From, d.Until)
	}
	p.digest = digestOf([]any{users, groups, away})
	return p, nil
}

// basis is what a message was made from. While it holds the message needn't be made again.
type basis struct {
	people    string    // digest
	until     time.Time // the next moment that changes what the message says
	decisions int       // -1: the first decision ends the approval
	told      string    // digest of the message
}

// basisOf returns the basis of an approval's message that is made at or after now.
func basisOf(now time.Time, p people, a *countersign.Approval) basis {
	b := basis{people: p.digest, decisions: -1}
	if a.Needed() > 1 || len(a.Groups) > 1 {
		b.decisions = len(a.Decisions)
	}
	turns := append([]time.Time{remind.ExpiresSoonAt(a.RequestedAt, a.ExpiresAt)}, p.turns...)
	for _, e := range a.Escalations {
		turns = append(turns, e.At)
	}
	for _, at := range turns {
		if at.After(now) && (b.until.IsZero() || at.Before(b.until)) {
			b.until = at
		}
	}
	return b
}

// holds reports that the message of an approval that waits says what it should.
func (b basis) holds(tx store.Tx, now time.Time, p people, m *records.ChatMessage) (bool, error) {
	switch {
	case b.told == "" || b.told != m.Told || b.people != p.digest || !b.until.IsZero() && !now.Before(b.until):
		return false, nil
	case b.decisions < 0:
		return true, nil
	}
	if m.ChangeID != "" {
		c, _, err := records.Changes.Get(tx, m.TenantID, records.ChangeID(m.ChangeID))
		return err == nil && len(c.Decisions) == b.decisions, err
	}
	a, _, err := records.Approvals.Get(tx, m.TenantID, m.ApprovalID)
	return err == nil && len(a.Decisions) == b.decisions, err
}

// digest is the digest of what a message says, besides that it is sent again.
func (m Message) digest() string {
	m.Again = false
	return digestOf(m)
}

func digestOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil { // it has texts and times only
		panic(err)
	}
	return countersign.SHA256Hex(b)
}
