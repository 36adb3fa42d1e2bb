package changes

import (
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// ChangeDeciders are the users who may still decide a change, by e-mail.
func (s *ChangeService) ChangeDeciders(ctx context.Context, a core.Actor, id string) (able []string, err error) {
	err = s.View(ctx, a, access.ReadChanges, func(tx store.Tx) error {
		tenant, rec, _, err := s.find(tx, a, id)
		if err != nil {
			return err
		}
		able, err = s.able(tx, tenant, rec)
		return err
	})
	return able, err
}

// able are who may decide a change now: who may decide changes at all and could when it was proposed, but for
// its proposer and who has decided it.
func (b *book) able(tx store.Tx, tenant string, r *records.Change) (able []string, err error) {
	if b.lapsed(r) || r.Status != countersign.ChangeProposed {
		return nil, nil
	}
	all, err := records.ChangeDeciders(tx, tenant, &countersign.Weakening{Groups: r.Groups})
	if err != nil {
		return nil, err
	}
	own := r.Proposer.Chain()
	for _, email := range all {
		decided := slices.ContainsFunc(r.Deciders, func(d records.Decider) bool { return d.Person == email })
		if !decided && slices.Contains(r.Admins, email) && !slices.Contains(own, "user:"+email) {
			able = append(able, email)
		}
	}
	return able, nil
}

// MayDecideChange returns nil if the actor may decide a change at this moment.
func (s *DecisionService) MayDecideChange(ctx context.Context, a core.Actor, id string) error {
	if err := access.Allow(a.Principal, access.DecideChange); err != nil {
		return err
	}
	return s.View(ctx, a, access.ReadChanges, func(tx store.Tx) error {
		rec, _, err := s.decidable(tx, a, id)
		if err != nil {
			return err
		}
		_, err = s.given(tx, a, rec, countersign.ChangeDecision{Decision: countersign.ApprovalRejected})
		return err
	})
}
