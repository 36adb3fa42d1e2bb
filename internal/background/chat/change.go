package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// changesThatWait lists the changes that wait for a decision, of the tenants that have a channel.
func (c *Chat) changesThatWait(tx store.Tx) (out []job, err error) {
	for tenant := range c.cfg.Channels {
		open, _, err := records.AllOpenChanges.Get(tx, tenant, records.OpenChangesID)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			if err := c.cfg.Unreadable.Pass(unreadable.Record{Tenant: tenant, Kind: "open changes", ID: records.OpenChangesID}, err); err != nil {
				return nil, err
			}
			continue
		}
		for _, o := range open.Items {
			if !o.Approved && c.cfg.Now().Before(o.ExpiresAt) {
				out = append(out, job{tenant: tenant, change: o.ID})
			}
		}
	}
	return out, nil
}

// changeMessage is what the message about a change should say now, and from what.
func (c *Chat) changeMessage(ctx context.Context, d duty) (m Message, b basis, err error) {
	reader := administrator(d.tenant)
	change, err := c.control.Change(ctx, reader, d.change)
	if countersign.ErrorCode(err) == countersign.CodeNotFound { // by a restore
		return Message{Ref: d.ref(""), Title: "A change that ended", State: []string{"Nothing can be decided here any more."}, Link: c.link(d.ref(""))}, b, nil
	}
	var able []string
	if err == nil {
		able, err = c.control.ChangeDeciders(ctx, reader, d.change)
	}
	if err != nil {
		return m, b, err
	}
	b = basis{people: d.people.digest, decisions: -1}
	if change.ApprovalsNeeded > 1 || len(change.Groups) > 1 {
		b.decisions = len(change.Decisions)
	}
	return changeMessageOf(d.ref(change.Digest), &change, able, c.link(d.ref(""))), b, nil
}

// administrator reads the changes of a tenant. What a channel is told of them is less: anybody may read
// a channel, and only administrators what is proposed.
func administrator(tenant string) control.Actor {
	p := access.System(tenant)
	p.Roles = []countersign.Role{countersign.RoleAdmin}
	return control.Actor{Principal: p}
}

// changeMessageOf says what a channel is told of a change: its title and who decides it, and nothing of
// the values that change.
func changeMessageOf(ref Ref, c *countersign.ProposedChange, able []string, link string) Message {
	m := Message{Ref: ref, Title: safetext.Value(c.Title), Open: c.Status == countersign.ChangeProposed, Link: link}
	m.Facts = []Fact{
		{"Weakens", weakerWords(c.Diff)},
		{"Proposed by", principal(c.ProposedBy, c.ProposedByName)},
	}
	for _, d := range c.Decisions {
		m.State = append(m.State, fmt.Sprintf("%s by %s on %s: %s", decisionWord(d.Decision), principal(d.By, ""), moment(d.At), shortened(safetext.Value(d.Reason), maxReason)))
	}
	if !m.Open {
		m.State = append(m.State, endOf(c)+" Nothing more can be decided here.")
		return m
	}
	if len(c.Groups) > 0 {
		m.State = append(m.State, "Members of "+strings.Join(c.Groups, " and ")+" decide.")
	}
	if c.ApprovalsNeeded > 1 {
		m.State = append(m.State, fmt.Sprintf("%d different administrators must approve.", c.ApprovalsNeeded))
	}
	m.State = append(m.State, ableChange(able), "It is not made yet. Waits for a decision until "+moment(c.ExpiresAt)+"; undecided, it lapses.")
	return m
}

func decisionWord(d countersign.ApprovalStatus) string {
	if d == countersign.ApprovalRejected {
		return "Rejected"
	}
	return "Approved"
}

func endOf(c *countersign.ProposedChange) string {
	switch c.Status {
	case countersign.ChangeMade:
		return "It is made."
	case countersign.ChangeApproved:
		return "It is approved; whoever proposed it makes it."
	case countersign.ChangeRejected:
		return "It is rejected."
	case countersign.ChangeWithdrawn:
		return "It is withdrawn."
	}
	return "It has lapsed: " + safetext.Value(c.EndedReason) + "."
}

func ableChange(able []string) string {
	if len(able) == 0 {
		return "No user may decide it now: it needs another administrator, who was one when it was proposed."
	}
	names := make([]string, len(able))
	for i, email := range able {
		names[i] = safetext.Value(email)
	}
	return nameText(names, false)
}

func weakerWords(diff []countersign.ChangeDifference) string {
	n := 0
	for _, d := range diff {
		if d.Weakens {
			n++
		}
	}
	return fmt.Sprintf("%d of %d places that change; whoever decides sees all", n, len(diff))
}

// changeQuestionOf says what a person is asked who decides a change: all that changes, in words and exactly.
func changeQuestionOf(ref Ref, c *countersign.ProposedChange, d countersign.ApprovalStatus, link string) Question {
	q := Question{Ref: ref, Decision: d, Title: safetext.Value(c.Title), Link: link, Shows: "This is changed:", Request: diffText(c.Diff)}
	q.Facts = []Fact{
		{"Operation", safetext.Value(c.Operation) + " of " + safetext.Value(c.Subject)},
		{"Proposed by", principal(c.ProposedBy, c.ProposedByName)},
	}
	if c.Reason != "" {
		q.Facts = append(q.Facts, Fact{"Their reason", safetext.Value(c.Reason)})
	}
	q.Facts = append(q.Facts, Fact{"Lapses", moment(c.ExpiresAt)})
	if c.Revision > 0 {
		q.Facts = append(q.Facts, Fact{"Made against revision", fmt.Sprint(c.Revision)})
	}
	return q
}

// diffText is a difference, in lines.
func diffText(diff []countersign.ChangeDifference) string {
	var b strings.Builder
	for _, d := range diff {
		word := "also: "
		if d.Weakens {
			word = "weaker: "
		}
		fmt.Fprintf(&b, "%s%s\n  %s: %s, was %s\n", word, safetext.Value(d.Text), safetext.Value(d.Path), exact(d.Now), exact(d.Was))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func exact(v countersign.Value) string {
	if v.IsZero() {
		return "nothing"
	}
	return safetext.JSON(v.Raw())
}
