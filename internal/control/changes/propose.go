package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/difference"
	"github.com/countersign/countersign/internal/rules/quota"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// ProposedError is the refusal of a request that is proposed instead of made.
type ProposedError struct {
	Refusal  *countersign.Error
	ChangeID string
}

func (p *ProposedError) Error() string { return p.Refusal.Error() }

// Unwrap is the refusal, with its code.
func (p *ProposedError) Unwrap() error { return p.Refusal }

// propose keeps a change that weakens, or finds it where it is open already.
func (p proposals) propose(ctx context.Context, a core.Actor, h *core.HeldError) error {
	rec, err := p.changeOf(a, h)
	if err != nil {
		return err
	}
	var out error
	err = p.UpdateAs(ctx, a, func(tx store.Tx) error {
		r := *rec
		out = nil
		found, err := p.findOpen(tx, h.Tenant, a, r.Digest)
		if err != nil {
			return err
		}
		if found == nil {
			found = &r
			if err := p.add(tx, h, a, &r); err != nil {
				return err
			}
		}
		who, err := p.whoDecides(tx, h.Tenant, found)
		if err != nil {
			return err
		}
		out = &ProposedError{
			countersign.Errorf(countersign.CodeChangeProposed, "this weakens what holds calls back, so it is proposed and not made: change %s (%s), which %s by %s", found.ID, found.Title, who, found.ExpiresAt.UTC().Format("2006-01-02T15:04:05Z")),
			found.ID,
		}
		return nil
	})
	if err != nil {
		return p.Refuse(ctx, a, h.Operation, h.Subject, core.Public(err))
	}
	return out
}

// changeOf is the change that a request asks for.
func (p proposals) changeOf(a core.Actor, h *core.HeldError) (*records.Change, error) {
	body, err := countersign.ValueOf(h.Asked.Body)
	if err != nil {
		return nil, err
	}
	stood, err := h.Change.Stood()
	if err != nil {
		return nil, err
	}
	digest, err := countersign.CanonicalDigest(map[string]any{"operation": h.Operation, "subject": h.Subject, "tenant": h.Tenant, "id": h.Asked.ID, "body": body, "stood": stood})
	if err != nil {
		return nil, err
	}
	members, _ := body.Object()
	now := p.Config.Now()
	return &records.Change{
		ProposedChange: countersign.ProposedChange{
			ID: p.Config.NewID("chg"), Title: titleOf(h), Operation: string(h.Operation), Subject: h.Subject, Revision: h.Change.Revision,
			Digest: digest, Reason: members["reason"].Text(), Diff: difference.Told(h.Change.Was, h.Change.Now, h.Change.Weaker),
			ProposedBy: a.ID, ProposedAt: now, ExpiresAt: now.Add(countersign.ChangeLife), Decisions: []countersign.ChangeDecided{}, Status: countersign.ChangeProposed,
		},
		RequestID: h.Asked.ID, Body: body, Stood: stood, Proposer: a.Requester(), ProposerTenant: a.Tenant,
	}, nil
}

// findOpen finds the open change of the same content, nil for none. It drops those that have lapsed.
func (p proposals) findOpen(tx store.Tx, tenant string, a core.Actor, digest string) (*records.Change, error) {
	if err := p.sweep(tx, tenant, a.RequestID); err != nil {
		return nil, err
	}
	open, _, err := p.open(tx, tenant)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(open.Items, func(o records.OpenChange) bool { return o.Digest == digest })
	if at < 0 {
		return nil, nil
	}
	rec, _, err := records.Changes.Get(tx, tenant, records.ChangeID(open.Items[at].ID))
	return rec, err
}

// add stores a new change, within the bounds of its proposer and of the tenant.
func (p proposals) add(tx store.Tx, h *core.HeldError, a core.Actor, r *records.Change) (err error) {
	open, version, err := p.open(tx, h.Tenant)
	if err != nil {
		return err
	}
	own := 0
	for _, o := range open.Items {
		if o.By == a.ID {
			own++
		}
	}
	switch {
	case own >= countersign.MaxOpenChanges:
		return quota.Exceeded(a.ID, countersign.MaxOpenChanges, "open changes", "withdraw one, or have one decided")
	case len(open.Items) >= countersign.MaxTenantOpenChanges:
		return quota.Exceeded("tenant "+h.Tenant, countersign.MaxTenantOpenChanges, "open changes", "have one decided")
	}
	r.ApprovalsNeeded, r.Groups = h.By.Approvals, h.By.Groups
	if r.ProjectID, err = projectOf(tx, h); err != nil {
		return err
	}
	if r.Admins, err = records.Administrators(tx, h.Tenant); err != nil {
		return err
	}
	if _, err := records.Changes.Put(tx, h.Tenant, records.ChangeID(r.ID), r, 0); err != nil {
		return err
	}
	next := records.OpenChanges{Items: append(slices.Clone(open.Items), records.OpenChange{ID: r.ID, By: a.ID, Digest: r.Digest, ExpiresAt: r.ExpiresAt})}
	if _, err := records.AllOpenChanges.Put(tx, h.Tenant, records.OpenChangesID, &next, version); err != nil {
		return err
	}
	about := core.Change{Before: "", After: string(countersign.ChangeProposed) + " " + r.Operation + " of " + r.Subject, Reason: r.Reason}
	return p.AuditIn(tx, h.Tenant, a, access.ProposeChange, "change/"+r.ID, about)
}

// projectOf is the project that a change is about, "" for what is the tenant's.
func projectOf(tx store.Tx, h *core.HeldError) (string, error) {
	kind, id, _ := strings.Cut(h.Subject, "/")
	switch kind {
	case "project":
		return id, nil
	case "agent":
		head, _, err := records.Agents.Get(tx, h.Tenant, id)
		if err != nil {
			return "", err
		}
		return head.ProjectID, nil
	case "run":
		projects, err := projectsOfRun(tx, h.Tenant, id)
		if err != nil || len(projects) != 1 {
			return "", err
		}
		return projects[0], nil
	}
	return "", nil
}

// projectsOfRun are the projects of a run, archived or not.
func projectsOfRun(tx store.Tx, tenant, id string) ([]string, error) {
	rec, _, err := records.Runs.Get(tx, tenant, id)
	if err == nil {
		return rec.Projects, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	left, _, err := records.ArchivedRuns.Get(tx, tenant, id)
	if err != nil {
		return nil, err
	}
	return left.Projects, nil
}

// namedDeciders is how many users a message names.
const namedDeciders = 5

// whoDecides says who may decide a change, in words.
func (p proposals) whoDecides(tx store.Tx, tenant string, r *records.Change) (string, error) {
	if r.Status == countersign.ChangeApproved {
		return "its proposer makes (POST …/make)", nil
	}
	able, err := p.able(tx, tenant, r)
	if err != nil {
		return "", err
	}
	others := ""
	if n := len(able) - namedDeciders; n > 0 {
		able, others = able[:namedDeciders], fmt.Sprintf(" and %d more", n)
	}
	if len(able) == 0 {
		return "nobody can decide now: it needs another administrator, who was one when it was proposed", nil
	}
	count, left := "one of ", r.ApprovalsNeeded-int64(len(r.Deciders))
	switch {
	case left > 1:
		count = fmt.Sprint(left) + " of "
	case len(able) == 1:
		count = ""
	}
	return fmt.Sprintf("%s%s%s must approve", count, strings.Join(able, ", "), others), nil
}
