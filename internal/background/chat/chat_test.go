package chat_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/background/chat"
	"github.com/countersign/countersign/internal/control"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/runtime/runrepo"
	"github.com/countersign/countersign/internal/runtime/updates"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/testing/memory"
	"github.com/countersign/countersign/internal/testing/rerun"
)

// room is a chat service with one workspace, and the store of the service that posts there.
type room struct {
	t       *testing.T
	store   store.Store
	now     time.Time
	shared  bool
	control *control.Service
	chat    *chat.Chat
	made    int // how often a message was made

	posts    []*post
	calls    int
	failing  error  // the next request fails with it
	arrives  bool   // and is done all the same
	during   func() // called while a request is being made
	deciding error  // of the next decisions
}

type post struct {
	ref, channel string
	chat.Message
	edits int
}

func openRoom(t *testing.T) *room {
	r := &room{t: t, store: rerun.Always(memory.New()), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return r.now }
	runs := runrepo.New(runrepo.Config{Now: clock})
	r.control = control.New(control.Config{Now: clock}, r.store, runs, nil, &updates.Hub{}, nil, slog.New(slog.DiscardHandler))
	r.restart()
	return r
}

// restart makes what a new process has.
func (r *room) restart() {
	r.chat = chat.New(chat.Config{
		BaseURL: "https://countersign.example", Channels: map[string]string{"acme": "C1"}, Shared: r.shared,
		NewID: func(kind string) string { return kind + "-1" }, Now: func() time.Time { return r.now }, Log: slog.New(slog.DiscardHandler),
	}, r.store, counted{r.control, &r.made, &r.deciding}, r)
}

// counted counts how often it is asked who may decide an approval. A decision ends with an error
// if it is to.
type counted struct {
	*control.Service
	n     *int
	fails *error
}

func (c counted) Decide(ctx context.Context, a control.Actor, id string, d countersign.Decision) (countersign.Approval, error) {
	if *c.fails != nil {
		return countersign.Approval{}, *c.fails
	}
	return c.Service.Decide(ctx, a, id, d)
}

func (c counted) StillDeciding(ctx context.Context, a control.Actor, id string) (control.Deciders, error) {
	*c.n++
	return c.Service.StillDeciding(ctx, a, id)
}

func (r *room) Name() string { return "room" }

func (r *room) Listen(context.Context, *chat.Desk) {}

// asked is called by each request: whether it is done, and the error that it ends with.
func (r *room) asked() (done bool, err error) {
	r.calls++
	if during := r.during; during != nil {
		r.during = nil
		during()
	}
	if err = r.failing; err != nil {
		r.failing = nil
		return r.arrives, err
	}
	return true, nil
}

func (r *room) Post(_ context.Context, channel string, m chat.Message) (string, error) {
	done, err := r.asked()
	if !done {
		return "", err
	}
	p := &post{ref: fmt.Sprintf("m%d", len(r.posts)+1), channel: channel, Message: m}
	r.posts = append(r.posts, p)
	return p.ref, err
}

func (r *room) Replace(_ context.Context, channel, ref string, m chat.Message) error {
	done, err := r.asked()
	if !done {
		return err
	}
	i := slices.IndexFunc(r.posts, func(p *post) bool { return p.ref == ref && p.channel == channel })
	if i < 0 {
		return chat.ErrGone
	}
	r.posts[i].Message, r.posts[i].edits = m, r.posts[i].edits+1
	return err
}

func (r *room) write(fn func(tx store.Tx) error) {
	r.t.Helper()
	if err := r.store.Update(context.Background(), fn); err != nil {
		r.t.Fatal(err)
	}
}

// ask stores a pending approval and the run that waits for it.
func (r *room) ask(tenant, id string, change ...func(*records.Approval)) {
	r.t.Helper()
	r.write(func(tx store.Tx) error {
		a := &records.Approval{Requester: access.Requester{ID: "token:t"}, Approval: countersign.Approval{
			ID: id, RunID: "run-" + id, Status: countersign.ApprovalPending, ProjectID: "acme-shop", Capability: "refund", RequestedBy: "token:t",
			RequestedAt: r.now, ExpiresAt: r.now.Add(24 * time.Hour), InputSnapshot: map[string]countersign.Value{"iban": countersign.String("SECRET")},
		}}
		for _, c := range change {
			c(a)
		}
		if _, err := records.Approvals.Put(tx, tenant, id, a, 0); err != nil {
			return err
		}
		u := &records.Unfinished{
			TenantID: tenant, RunID: a.RunID, State: records.Waiting, Since: r.now, Due: a.ExpiresAt,
			WaitingFor: &countersign.WaitingFor{Kind: countersign.WaitApproval, ApprovalID: id, ExpiresAt: a.ExpiresAt},
		}
		_, err := records.UnfinishedRuns.Put(tx, store.Realm, records.UnfinishedID(tenant, u.RunID), u, 0)
		return err
	})
}

// decide gives a decision; the run waits on while the approval stays PENDING.
func (r *room) decide(id string, status countersign.ApprovalStatus, by string) {
	r.t.Helper()
	r.write(func(tx store.Tx) error {
		a, version, err := records.Approvals.Get(tx, "acme", id)
		if err != nil {
			return err
		}
		a.Status, a.DecidedBy, a.DecidedAt = status, by, r.now
		a.Decisions = append(slices.Clone(a.Decisions), countersign.GivenDecision{Decision: countersign.ApprovalApproved, By: by, Reason: "fine", At: r.now})
		if _, err := records.Approvals.Put(tx, "acme", id, a, version); err != nil || status == countersign.ApprovalPending {
			return err
		}
		return records.UnfinishedRuns.Delete(tx, store.Realm, records.UnfinishedID("acme", "run-"+id))
	})
}

// look advances the clock and looks, as often as there is something to send.
func (r *room) look(later time.Duration) {
	r.now = r.now.Add(later)
	for before := -1; r.calls != before; {
		before = r.calls
		r.chat.Look(context.Background())
	}
}

// is checks what each message says: open or ended, sent again or not, and a part of its state.
func (r *room) is(when string, want ...string) {
	r.t.Helper()
	var got []string
	for _, p := range r.posts {
		word := "ended"
		if p.Open {
			word = "open"
		}
		if p.Again {
			word += " again"
		}
		got = append(got, p.Approval+" "+word)
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("%s: %q, want %q", when, got, want)
	}
}

// kept is how many messages the store keeps.
func (r *room) kept() (n int) {
	r.write(func(tx store.Tx) (err error) {
		n, err = tx.Count(store.Meta, store.Realm, store.Query{Where: records.AllChatMessages("room")})
		return err
	})
	return n
}

const (
	pending  = countersign.ApprovalPending
	approved = countersign.ApprovalApproved
)

func TestEachPendingApprovalOfATenantWithAChannelHasOneMessageOverRestarts(t *testing.T) {
	r := openRoom(t)
	r.ask("acme", "one")
	r.ask("beta", "two")
	r.look(0)
	r.is("at once", "one open")
	r.restart()
	r.look(time.Hour)
	r.is("after a restart", "one open")
	r.decide("one", approved, "user:ben@x")
	r.look(time.Second)
	r.is("decided", "one ended")
	if state := strings.Join(r.posts[0].State, " "); !strings.Contains(state, "Approved by ben@x on 1 Mar 2026, 13:00 UTC: fine") {
		t.Errorf("it says %q", state)
	}
	calls := r.calls
	r.restart()
	r.look(time.Hour)
	if r.calls != calls || r.kept() != 0 {
		t.Errorf("%d requests after the end, %d records are kept", r.calls-calls, r.kept())
	}
}

func TestWhatIsDecidedBeforeItIsToldIsNotTold(t *testing.T) {
	r := openRoom(t)
	r.failing = chat.RefusedError{Code: "channel_not_found"}
	r.ask("acme", "one")
	r.look(0)
	r.decide("one", approved, "user:ben@x")
	r.look(time.Hour)
	r.is("never")
	if r.kept() != 0 {
		t.Error("a record is left")
	}
}

// TestAMessageOfWhichNobodyKnowsIsSentAgainAndSaysSo: the process ends, or the answer is
// lost, after the message was sent.
func TestAMessageOfWhichNobodyKnowsIsSentAgainAndSaysSo(t *testing.T) {
	r := openRoom(t)
	r.ask("acme", "one")
	r.failing, r.arrives = errors.New("the connection broke"), true
	r.look(0)
	r.is("the first", "one open")
	r.restart()
	r.look(time.Hour)
	r.is("the second", "one open", "one open again")
	r.decide("one", approved, "user:ben@x")
	r.look(time.Second)
	r.is("the end is told in the one that is known", "one open", "one ended again")
}

func TestAMessageThatWasSurelyNotSentIsSentAsTheFirst(t *testing.T) {
	for _, failure := range []error{chat.RefusedError{Code: "not_in_channel"}, chat.LaterError{After: 30 * time.Second}} {
		r := openRoom(t)
		r.ask("acme", "one")
		r.failing = failure
		r.look(0)
		r.look(4 * time.Second)
		r.is("too early")
		r.look(30 * time.Second)
		r.is("later", "one open")
	}
}

func TestNothingIsSentBeforeTheServiceAllows(t *testing.T) {
	r := openRoom(t)
	r.ask("acme", "one")
	r.ask("acme", "two")
	r.failing = fmt.Errorf("chat.postMessage: %w", chat.LaterError{After: time.Minute})
	r.look(0)
	r.look(59 * time.Second)
	if r.calls != 1 {
		t.Errorf("%d requests within the minute", r.calls)
	}
	r.look(time.Second)
	r.is("after it", "one open", "two open")
}

// TestTheStateToldLastIsTrue: the approval is decided while its message is being sent.
func TestTheStateToldLastIsTrue(t *testing.T) {
	r := openRoom(t)
	r.ask("acme", "one")
	r.during = func() { r.decide("one", approved, "user:ben@x") }
	r.look(0)
	r.is("in the end", "one ended")
}

func TestEachOfSeveralDecisionsIsTold(t *testing.T) {
	r := openRoom(t)
	r.ask("acme", "one", func(a *records.Approval) { a.ApprovalsNeeded = 2 })
	r.look(0)
	r.decide("one", pending, "user:ben@x")
	r.look(time.Second)
	r.is("after the first", "one open")
	if state := strings.Join(r.posts[0].State, " "); !strings.Contains(state, "Approved by ben@x") || !strings.Contains(state, "2 different people") {
		t.Errorf("it says %q", state)
	}
	edits := r.posts[0].edits
	r.look(time.Minute)
	if r.posts[0].edits != edits {
		t.Error("it is replaced by the same")
	}
	r.decide("one", approved, "user:cem@x")
	r.look(time.Second)
	r.is("after the second", "one ended")
}

func TestAProcessThatIsSendingIsLeftAloneUntilItsTimeIsOver(t *testing.T) {
	r := openRoom(t)
	r.shared = true
	r.restart()
	r.ask("acme", "one")
	slow := r.chat
	r.during = func() {
		r.restart()
		r.look(time.Minute)
		r.is("another process meanwhile")
		r.look(2 * time.Minute)
		r.is("after its time", "one open again")
	}
	slow.Look(context.Background())
	r.is("both have sent", "one open again", "one open")
	r.chat = slow
	r.look(time.Minute)
	r.decide("one", approved, "user:ben@x")
	r.look(time.Second)
	r.is("the end", "one ended again", "one open")
}

func TestADeletedMessageIsSentAnewWhileItMayBeDecided(t *testing.T) {
	r := openRoom(t)
	r.ask("acme", "one", func(a *records.Approval) { a.ApprovalsNeeded = 2 })
	r.look(0)
	r.posts = nil
	r.decide("one", pending, "user:ben@x")
	r.look(time.Second)
	r.is("anew", "one open")
	r.posts = nil
	r.decide("one", approved, "user:cem@x")
	r.look(time.Second)
	r.is("not after the end")
	if r.kept() != 0 {
		t.Error("a record is left")
	}
}

// TestAChannelIsToldWhatAVIEWERSees: nobody knows who reads it. Of a plan that is gone
// nothing says which inputs are sensitive.
func TestAChannelIsToldWhatAVIEWERSees(t *testing.T) {
	r := openRoom(t)
	r.ask("acme", "one")
	r.look(0)
	if text := fmt.Sprintf("%+v", r.posts[0].Message); strings.Contains(text, "SECRET") || !strings.Contains(text, "refund") {
		t.Errorf("it says %s", text)
	}
}

// TestAMessageThatSomebodyAnswersIsToldTheEndToo, though its sending was interrupted.
func TestAMessageThatSomebodyAnswersIsToldTheEndToo(t *testing.T) {
	r := openRoom(t)
	r.ask("acme", "one")
	r.failing, r.arrives = errors.New("the connection broke"), true
	r.look(0)
	r.look(time.Hour)
	r.is("two", "one open", "one open again")
	ref := chat.Ref{Tenant: "acme", Approval: "one"}
	who := control.ChatAccount{Service: "room", Workspace: "w", ID: "u", Email: "eve@x"}
	if a := r.chat.Desk().Decide(context.Background(), who, chat.Place{Channel: "C1", Message: "m1"}, ref, approved, "fine"); a.Result != chat.NotAllowed {
		t.Errorf("who is no user: %+v", a)
	}
	r.decide("one", approved, "user:ben@x")
	r.look(time.Second)
	r.is("the end", "one ended again", "one ended again")
	r.chat.Desk().Decide(context.Background(), who, chat.Place{Channel: "C2", Message: "m1"}, ref, approved, "fine")
	if r.kept() != 0 {
		t.Error("a message of another channel is kept")
	}
}

// confirmed is the account of an approver who has confirmed it.
func (r *room) confirmed(email string) control.ChatAccount {
	r.t.Helper()
	r.approver(email)
	ctx, who := context.Background(), control.ChatAccount{Service: "room", Workspace: "w", ID: "u", Email: email}
	_, _ = r.control.ChatActor(ctx, "acme", who, "req-1") // it asks them to confirm the account
	r.session("s", email)
	actor := control.Actor{Principal: access.Principal{ID: "user:" + email, Tenant: "acme", Email: email, Roles: []countersign.Role{countersign.RoleApprover}, Session: "s"}}
	if err := r.control.ConfirmChatAccount(ctx, actor, "room", "w", "u"); err != nil {
		r.t.Fatal(err)
	}
	return who
}

// TestAnAnswerAboutAnotherTenantOrRequestDecidesNothing, and says why.
func TestAnAnswerAboutAnotherTenantOrRequestDecidesNothing(t *testing.T) {
	r := openRoom(t)
	r.ask("acme", "one", func(a *records.Approval) { a.RequestDigest = "of what is asked now" })
	r.ask("beta", "two")
	ctx, who := context.Background(), r.confirmed("ben@x.example")
	for _, c := range []struct {
		ref  chat.Ref
		want string
	}{
		{chat.Ref{Tenant: "beta", Approval: "two"}, "Nothing was changed: no approvals of this tenant are decided here."},
		{chat.Ref{Tenant: "acme", Approval: "one", Digest: "of what was asked"}, "Nothing was changed: this message is about another request than the approval. Decide on its page: https://countersign.example/console/approvals/one"},
	} {
		want := chat.Answer{Result: chat.Unknown, Text: c.want}
		if got := r.chat.Desk().Decide(ctx, who, chat.Place{Channel: "C1", Message: "m1"}, c.ref, approved, "fine"); got != want {
			t.Errorf("\n got %+v\nwant %+v", got, want)
		}
	}
}

// TestAnAnswerSaysThatNothingWasChangedOnlyWhereThatIsKnown.
func TestAnAnswerSaysThatNothingWasChangedOnlyWhereThatIsKnown(t *testing.T) {
	r := openRoom(t)
	r.ask("acme", "one")
	ctx, who := context.Background(), r.confirmed("ben@x.example")
	for err, want := range map[error]string{
		store.ErrInDoubt: "This failed, and it is not known whether anything was changed. Try again, or look at the page: https://countersign.example/console/approvals/one",
		countersign.Errorf(countersign.CodeUnavailable, "the store is unavailable now; nothing was changed, try again"): "Nothing was changed: the store is unavailable now, try again.",
		countersign.Errorf(countersign.CodeQuotaExceeded, "that is too many"):                                           "Nothing was changed: that is too many.",
	} {
		r.deciding = err
		got := r.chat.Desk().Decide(ctx, who, chat.Place{Channel: "C1", Message: "m1"}, chat.Ref{Tenant: "acme", Approval: "one"}, approved, "fine")
		if want := (chat.Answer{Result: chat.Failed, Text: want, Retry: true}); got != want {
			t.Errorf("%v:\n got %+v\nwant %+v", err, got, want)
		}
	}
}

func TestAnAccountDecidesOnlyAfterItsUserHasConfirmedIt(t *testing.T) {
	r := openRoom(t)
	r.ask("acme", "one")
	ctx, who := context.Background(), control.ChatAccount{Service: "room", Workspace: "w", ID: "u", Name: "Ben", Email: "Ben@X.example"}
	refused := func(when string, c control.ChatAccount, want error) {
		t.Helper()
		if _, err := r.control.ChatActor(ctx, "acme", c, "req-1"); want != nil && !errors.Is(err, want) || want == nil && countersign.ErrorCode(err) != countersign.CodeRoleRequired {
			t.Errorf("%s: %v", when, err)
		}
	}
	refused("no user", who, nil)
	r.write(func(tx store.Tx) error {
		for _, tenant := range []string{"acme", "beta"} {
			u := &records.User{User: countersign.User{Email: "ben@x.example", TenantID: tenant, Roles: []countersign.Role{countersign.RoleApprover}, Invited: tenant == "beta"}}
			if _, err := records.Users.Put(tx, tenant, u.Email, u, 0); err != nil {
				return err
			}
		}
		return nil
	})
	refused("not confirmed", who, control.ErrChatUnconfirmed)
	ben := control.Actor{Principal: access.Principal{ID: "user:ben@x.example", Tenant: "acme", Email: "ben@x.example", Roles: []countersign.Role{countersign.RoleApprover}, Session: "s"}}
	r.session("s", ben.Email)
	eve, token := ben, ben
	eve.Email, token.Session = "eve@x.example", ""
	for name, a := range map[string]control.Actor{"another user": eve, "a token": token} {
		if err := r.control.ConfirmChatAccount(ctx, a, "room", "w", "u"); err == nil {
			t.Errorf("%s confirms it", name)
		}
	}
	r.now = r.now.Add(25 * time.Hour)
	r.session("later", ben.Email)
	ben.Session = "later"
	if err := r.control.ConfirmChatAccount(ctx, ben, "room", "w", "u"); countersign.ErrorCode(err) != countersign.CodeStateConflict {
		t.Errorf("what was asked a day ago: %v", err)
	}
	refused("asked again", who, control.ErrChatUnconfirmed)
	if err := r.control.ConfirmChatAccount(ctx, ben, "room", "w", "u"); err != nil {
		t.Fatal(err)
	}
	a, err := r.control.ChatActor(ctx, "acme", who, "req-1")
	if err != nil || a.ID != "user:ben@x.example" || a.Via != "room" || a.Person != "ben@x.example" || a.Session != "" {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := r.control.ChatActor(ctx, "beta", who, "req-1"); countersign.ErrorCode(err) != countersign.CodeRoleRequired {
		t.Errorf("where the user is only invited: %v", err)
	}
	other := who
	other.Workspace = "w2"
	refused("of another workspace", other, control.ErrChatUnconfirmed)
	other = who
	other.Email = "eve@x.example"
	refused("whose address has changed", other, nil)
	if err := r.control.RemoveChatAccount(ctx, ben, "room", "w", "u"); err != nil {
		t.Fatal(err)
	}
	refused("removed", who, control.ErrChatUnconfirmed)
}
