package chat

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/assertion"
)

// askOfChange is Ask for a change that weakens.
func (d *Desk) askOfChange(ctx context.Context, who control.ChatAccount, ref Ref, decision countersign.ApprovalStatus) (Question, Answer) {
	actor, c, err := d.change(ctx, who, ref)
	if err == nil {
		err = d.chat.control.MayDecideChange(ctx, actor, ref.Change)
	}
	if err == nil && decision == countersign.ApprovalApproved {
		err = d.mayApproveChangesHere(ctx, actor)
	}
	if err != nil {
		return Question{}, d.Count(d.answerOf(ctx, who, ref, err))
	}
	return changeQuestionOf(ref.job().ref(c.Digest), &c, decision, d.chat.link(ref)), d.Count(Answer{Result: Asked})
}

// mayApproveChangesHere is mayApproveHere for changes: the tenant's settings say whether they are signed.
func (d *Desk) mayApproveChangesHere(ctx context.Context, actor control.Actor) error {
	signing, err := d.chat.control.ChangeSigning(ctx, actor)
	if err == nil && signing.Wanted {
		err = assertion.Required()
	}
	return err
}

// decideChange is Decide for a change that weakens.
func (d *Desk) decideChange(ctx context.Context, who control.ChatAccount, at Place, ref Ref, decision countersign.ApprovalStatus, reason string) Answer {
	actor, _, err := d.change(ctx, who, ref)
	var c countersign.ProposedChange
	if err == nil {
		c, err = d.chat.control.DecideChange(ctx, actor, ref.Change, countersign.ChangeDecision{Decision: decision, Reason: reason})
	}
	d.saw(context.WithoutCancel(ctx), at, ref)
	if err != nil {
		return d.Count(d.answerOf(ctx, who, ref, err))
	}
	return d.Count(Answer{Result: Decided, Text: recordedOfChange(&c, actor.Email)})
}

// recordedOfChange says what the decision did.
func recordedOfChange(c *countersign.ProposedChange, email string) string {
	by := " Recorded as the decision of " + email + "."
	switch c.Status {
	case countersign.ChangeMade:
		return "Approved, and made." + by
	case countersign.ChangeApproved:
		return "Approved. Whoever proposed it makes it." + by
	case countersign.ChangeRejected:
		return "Rejected." + by
	}
	return "Your approval is recorded as that of " + email + ". Others must approve too before it is made."
}

// change is a change as the person sees it who acts in the chat: administrators alone do.
func (d *Desk) change(ctx context.Context, who control.ChatAccount, ref Ref) (actor control.Actor, c countersign.ProposedChange, err error) {
	if actor, err = d.actor(ctx, who, ref); err == nil {
		c, err = d.chat.control.Change(ctx, actor, ref.Change)
	}
	if err == nil && ref.Digest != "" && ref.Digest != c.Digest {
		err = errOther
	}
	return actor, c, err
}
