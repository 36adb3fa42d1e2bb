package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/platform/issuer"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// PutIdentities says by which tokens of identity providers a caller is the agent. It holds from the
// next request on, has a revision of its own, and is drift for no plan.
func (s *AgentService) PutIdentities(ctx context.Context, a core.Actor, id string, w countersign.IdentitiesWrite) (out countersign.Agent, err error) {
	if err := core.WellFormed(a, w); err != nil {
		return out, err
	}
	if err := checkIdentities(w); err != nil {
		return out, err
	}
	a = a.Asking(id, w)
	err = s.Update(ctx, a, access.WriteIdentities, "agent/"+id, func(tx store.Tx) error {
		head, version, err := reach.Agent(tx, a, id)
		if err != nil {
			return err
		}
		if head.IdentitiesRevision != w.ExpectedRevision {
			return countersign.Errorf(countersign.CodeRevisionConflict, "the identities of agent %s are at revision %d, not %d; read the agent and send expectedRevision %d, its identitiesRevision", id, head.IdentitiesRevision, w.ExpectedRevision, head.IdentitiesRevision)
		}
		next := *head
		if next.Identities, err = identitiesBy(a, head, w); err != nil {
			return err
		}
		if err := bindIdentities(tx, a, head, next.Identities); err != nil {
			return err
		}
		next.IdentitiesRevision, next.UpdatedAt = head.IdentitiesRevision+1, s.Config.Now()
		if _, err := records.Agents.Put(tx, a.Tenant, id, &next, version); err != nil {
			return err
		}
		if out, err = s.shownAgent(tx, a, &next); err != nil {
			return err
		}
		c := core.Change{Before: identitiesText(head), After: identitiesText(&next), Weakens: widensIdentities(head.Identities, next.Identities), Revision: head.IdentitiesRevision}
		c.Was, c.Now = core.Member("identities", identitiesShown(head)), core.Member("identities", identitiesShown(&next))
		return s.Audit(tx, a, access.WriteIdentities, "agent/"+id, c)
	})
	return out, err
}

// checkIdentities checks what identities say by themselves.
func checkIdentities(w countersign.IdentitiesWrite) error {
	var problems []countersign.Problem
	seen := map[countersign.Identity]bool{}
	for i, of := range w.Identities {
		at := fmt.Sprintf("identities[%d]", i)
		if err := issuer.CheckAddress(of.Issuer); err != nil {
			problems = append(problems, countersign.Problem{Path: at + ".issuer", Message: err.Error()})
		}
		if !identifies(of.Claim) {
			problems = append(problems, countersign.Problem{Path: at + ".claim", Message: "it must be sub, azp, client_id, act.sub, or an https:// name"})
		}
		if safetext.Blank(of.Value) {
			problems = append(problems, countersign.Problem{Path: at + ".value", Message: "it can't be blank"})
		}
		if seen[of.Identity()] {
			problems = append(problems, countersign.Problem{Path: at, Message: "it is named twice"})
		}
		seen[of.Identity()] = true
		problems = append(problems, core.Repeated(at+".modes", of.Modes)...)
	}
	return core.Wrong(append(problems, core.Repeated("modes", w.Modes)...))
}

// identifies reports a claim that says who an agent is.
func identifies(claim string) bool {
	name, isName := strings.CutPrefix(claim, "https://")
	return isName && name != "" || slices.Contains([]string{"sub", "azp", "client_id", "act.sub"}, claim)
}

// identitiesBy are the identities that are asked for. One that stays as it is stays whose it was;
// the others are their writer's.
func identitiesBy(a core.Actor, head *records.AgentHead, w countersign.IdentitiesWrite) (next []records.AgentIdentity, err error) {
	for _, of := range w.Identities {
		if of.Modes == nil {
			of.Modes = w.Modes
		}
		if of.Modes, err = core.WithinModes(a, of.Modes); err != nil {
			return nil, err
		}
		made := records.AgentIdentity{AgentIdentity: of, Makers: a.Descent()}
		if at := slices.IndexFunc(head.Identities, func(was records.AgentIdentity) bool { return sameIdentity(was.AgentIdentity, of) }); at >= 0 {
			made = head.Identities[at]
		}
		next = append(next, made)
	}
	return next, nil
}

func sameIdentity(a, b countersign.AgentIdentity) bool {
	return a.Identity() == b.Identity() && (a.Modes == nil) == (b.Modes == nil) && slices.Equal(a.Modes, b.Modes)
}

// bindIdentities makes the agent the owner of its identities, and of no other: within a tenant each is one
// agent's.
func bindIdentities(tx store.Tx, a core.Actor, head *records.AgentHead, next []records.AgentIdentity) error {
	has := func(list []records.AgentIdentity, i countersign.Identity) bool {
		return slices.ContainsFunc(list, func(other records.AgentIdentity) bool { return other.Identity() == i })
	}
	for _, was := range head.Identities {
		if has(next, was.Identity()) {
			continue
		}
		if err := records.IdentityOwners.Delete(tx, a.Tenant, records.IdentityID(was.Identity())); err != nil {
			return err
		}
	}
	for n, now := range next {
		if has(head.Identities, now.Identity()) {
			continue
		}
		id := records.IdentityID(now.Identity())
		owner, _, err := records.IdentityOwners.Get(tx, a.Tenant, id)
		if err == nil {
			return countersign.Errorf(countersign.CodeStateConflict, "identities[%d]: it is an identity of %s already; take it away there first, since one identity is one agent", n, ownerShown(tx, a, owner.AgentID))
		}
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if _, err := records.IdentityOwners.Put(tx, a.Tenant, id, &records.IdentityOwner{AgentID: head.ID}, 0); err != nil {
			return err
		}
	}
	return nil
}

// ownerShown names an agent to who may read it.
func ownerShown(tx store.Tx, a core.Actor, id string) string {
	if _, _, err := reach.Agent(tx, a, id); err != nil {
		return "another agent"
	}
	return "agent " + id
}

// widensIdentities reports that a caller may be the agent who might not be before, or in another mode.
func widensIdentities(was, now []records.AgentIdentity) bool {
	return slices.ContainsFunc(now, func(i records.AgentIdentity) bool {
		return !slices.ContainsFunc(was, func(before records.AgentIdentity) bool {
			return before.Identity() == i.Identity() && (before.Modes == nil || i.Modes != nil && !slices.ContainsFunc(i.Modes, func(m string) bool { return !slices.Contains(before.Modes, m) }))
		})
	})
}

// identitiesShown are an agent's identities as a change of them is shown.
func identitiesShown(h *records.AgentHead) (list []countersign.AgentIdentity) {
	for _, of := range h.Identities {
		list = append(list, of.AgentIdentity)
	}
	return list
}

// identitiesText describes an agent's identities in the audit log.
func identitiesText(h *records.AgentHead) string {
	if h.IdentitiesRevision == 0 {
		return ""
	}
	list := make([]string, len(h.Identities))
	for i, of := range h.Identities {
		list[i] = fmt.Sprintf("%s %s=%s", of.Issuer, of.Claim, of.Value)
		if of.Modes != nil {
			list[i] += fmt.Sprintf(" %v", of.Modes)
		}
	}
	return fmt.Sprintf("identities %s [%s]", core.Revision(h.IdentitiesRevision), strings.Join(list, ", "))
}
