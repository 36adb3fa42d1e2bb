package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/assertion"
)

// Desk takes what people press and type in a chat service. Its methods may be called at the
// same time, and each any number of times for one thing that a person did.
type Desk struct{ chat *Chat }

// Result is how an answer of a person ended. Each is counted.
type Result string

// The results. Only Decided changed something.
const (
	Asked       Result = "asked"       // the question is shown
	Decided     Result = "decided"     // by this answer
	Already     Result = "already"     // it was decided before, perhaps by the same answer
	Late        Result = "late"        // it has expired
	Unconfirmed Result = "unconfirmed" // the person is not known to be a user
	NotAllowed  Result = "not_allowed" // the user may not decide it
	Unknown     Result = "unknown"     // there is no such approval here, or it is about another request
	Foreign     Result = "foreign"     // it is of another workspace or app
	Malformed   Result = "malformed"   // it can't be understood
	Failed      Result = "failed"      // for now
)

// Answer is what the person is told.
type Answer struct {
	Result Result
	Text   string
	Retry  bool // the same may be tried again
}

// Place is where a person pressed something: the channel, and the message as the service
// names it.
type Place struct{ Channel, Message string }

// Count counts an answer that ends in the adapter, and returns it.
func (d *Desk) Count(a Answer) Answer {
	if d.chat.cfg.Count != nil {
		d.chat.cfg.Count(string(a.Result))
	}
	return a
}

// Ask returns what a person sees before they decide, with the rights of the user that they
// are; else why they don't. It decides nothing.
func (d *Desk) Ask(ctx context.Context, who control.ChatAccount, at Place, ref Ref, decision countersign.ApprovalStatus) (Question, Answer) {
	d.saw(ctx, at, ref)
	if ref.Change != "" {
		return d.askOfChange(ctx, who, ref, decision)
	}
	actor, a, err := d.approval(ctx, who, ref)
	if err == nil {
		err = d.chat.control.MayDecide(ctx, actor, ref.Approval)
	}
	if err == nil && decision == countersign.ApprovalApproved {
		err = d.mayApproveHere(ctx, actor, ref)
	}
	if err != nil {
		return Question{}, d.Count(d.answerOf(ctx, who, ref, err))
	}
	notes, err := d.notes(ctx, actor, &a)
	if err != nil {
		return Question{}, d.Count(d.answerOf(ctx, who, ref, err))
	}
	return questionOf(ref.job().ref(a.RequestDigest), &a, decision, notes, d.chat.link(ref)), d.Count(Answer{Result: Asked})
}

// mayApproveHere refuses an approval that must be signed with a passkey, before a reason is
// asked for: no chat can sign one.
func (d *Desk) mayApproveHere(ctx context.Context, actor control.Actor, ref Ref) error {
	signing, err := d.chat.control.Signing(ctx, actor, ref.Approval)
	if err == nil && signing.Wanted {
		err = assertion.Required()
	}
	return err
}

// notes says what this person should know besides what stands in the approval.
func (d *Desk) notes(ctx context.Context, actor control.Actor, a *countersign.Approval) (out []string, err error) {
	alike, err := d.chat.control.RecoveriesLike(ctx, actor, a.ID)
	for _, run := range alike {
		out = append(out, "Of run "+run+" nobody knows yet whether the same has happened: it waits for a reconciliation.")
	}
	if access.SharedMaker(actor.Requester(), access.Requester{ID: a.RequestedBy, Makers: a.RequestedByMakers}) {
		out = append(out, "You and whoever asked go back to one maker.")
	}
	return out, err
}

// Decide approves or rejects as the user that the person is. ref is of the question that
// they were asked.
func (d *Desk) Decide(ctx context.Context, who control.ChatAccount, at Place, ref Ref, decision countersign.ApprovalStatus, reason string) Answer {
	if ref.Change != "" {
		return d.decideChange(ctx, who, at, ref, decision, reason)
	}
	actor, _, err := d.approval(ctx, who, ref)
	var a countersign.Approval
	if err == nil {
		a, err = d.chat.control.Decide(ctx, actor, ref.Approval, countersign.Decision{Decision: decision, Reason: reason})
	}
	d.saw(context.WithoutCancel(ctx), at, ref)
	if err != nil {
		return d.Count(d.answerOf(ctx, who, ref, err))
	}
	return d.Count(Answer{Result: Decided, Text: recorded(&a, actor.Email)})
}

// recorded says what the decision did.
func recorded(a *countersign.Approval, email string) string {
	switch a.Status {
	case countersign.ApprovalApproved:
		return "Approved. Recorded as the decision of " + email + "."
	case countersign.ApprovalRejected:
		return "Rejected. Recorded as the decision of " + email + "."
	}
	return "Your approval is recorded as that of " + email + ". Others must approve too before anything is sent."
}

// errOther says that a message is about another request than the approval.
var errOther = errors.New("the approval is about another request")

// approval is an approval as the person sees it who acts in the chat.
func (d *Desk) approval(ctx context.Context, who control.ChatAccount, ref Ref) (actor control.Actor, a countersign.Approval, err error) {
	if actor, err = d.actor(ctx, who, ref); err == nil {
		a, err = d.chat.control.Approval(ctx, actor, ref.Approval)
	}
	if err == nil && ref.Digest != "" && ref.Digest != a.RequestDigest {
		err = errOther
	}
	return actor, a, err
}

// actor is the user that a person is, in the tenant of what they answer.
func (d *Desk) actor(ctx context.Context, who control.ChatAccount, ref Ref) (control.Actor, error) {
	if d.chat.cfg.Channels[ref.Tenant] == "" {
		return control.Actor{}, countersign.Errorf(countersign.CodeNotFound, "no approvals of this tenant are decided here")
	}
	return d.chat.control.ChatActor(ctx, ref.Tenant, who, d.chat.cfg.NewID("req"))
}

// saw takes note of the message that was answered; see Chat.saw.
func (d *Desk) saw(ctx context.Context, at Place, ref Ref) {
	if err := d.chat.saw(ctx, ref.job(), at.Channel, at.Message); err != nil {
		d.chat.failed(ctx, "a message that was answered is not noted", err)
	}
}

// answerOf words an error for the person. The errors of use cases are written for people.
func (d *Desk) answerOf(ctx context.Context, who control.ChatAccount, ref Ref, err error) Answer {
	const unchanged = "Nothing was changed: "
	text := ""
	if e := (*countersign.Error)(nil); errors.As(err, &e) {
		text = unchanged + strings.TrimSuffix(strings.Replace(e.Message, "; nothing was changed", "", 1), ".") + "."
	}
	switch countersign.ErrorCode(err) {
	case countersign.CodeAssertionRequired:
		return Answer{Result: NotAllowed, Text: text + " " + d.chat.link(ref)}
	case countersign.CodeApprovalExpired:
		return Answer{Result: Late, Text: text}
	case countersign.CodeStateConflict, countersign.CodeRevisionConflict:
		return Answer{Result: Already, Text: text}
	case countersign.CodeRoleRequired, countersign.CodeProjectScope, countersign.CodeSelfApproval:
		return Answer{Result: NotAllowed, Text: text}
	case countersign.CodeNotFound:
		return Answer{Result: Unknown, Text: text}
	case countersign.CodeInvalidRequest:
		return Answer{Result: Malformed, Text: text, Retry: true}
	}
	switch {
	case errors.Is(err, control.ErrChatUnconfirmed):
		return Answer{Result: Unconfirmed, Text: fmt.Sprintf("%s%s has not confirmed this account yet. Sign in, confirm it under “Chat accounts” at %s/console/settings#chat, and press the button again.", unchanged, who.Email, d.chat.cfg.BaseURL)}
	case errors.Is(err, errOther) && ref.Change != "":
		return Answer{Result: Unknown, Text: unchanged + "this message is about another change. Decide on its page: " + d.chat.link(ref)}
	case errors.Is(err, errOther):
		return Answer{Result: Unknown, Text: unchanged + "this message is about another request than the approval. Decide on its page: " + d.chat.link(ref)}
	case text != "":
		return Answer{Result: Failed, Text: text, Retry: true}
	}
	d.chat.failed(ctx, "an answer of a person failed", err)
	return Answer{Result: Failed, Text: "This failed, and it is not known whether anything was changed. Try again, or look at the page: " + d.chat.link(ref), Retry: true}
}
