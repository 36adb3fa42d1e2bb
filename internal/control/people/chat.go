package people

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/sessions"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
	"github.com/countersign/countersign/internal/storage/unreadable"
)

// ChatService is the use cases of accounts at chat services.
type ChatService struct {
	*core.Core
	sessions *sessions.SessionService
}

// NewChats returns the use cases.
func NewChats(c *core.Core, sessions *sessions.SessionService) *ChatService {
	return &ChatService{Core: c, sessions: sessions}
}

// A person decides in a chat service as a user, once that user has confirmed the account in
// a session. The account's e-mail address alone proves too little: whoever administers the
// workspace can change it. The confirmation alone would let somebody talk a user into
// confirming a stranger's account, so the address must be the user's as well, each time.

// ChatAccount is an account at a chat service, as the service describes it at this moment.
type ChatAccount struct {
	Service   string // the adapter's name, such as slack
	Workspace string
	ID        string
	Name      string
	Email     string // verified by the service
}

// OwnChatAccount is an account with the address of a session's user.
type OwnChatAccount struct {
	ChatAccount
	AskedAt, ConfirmedAt time.Time
}

// ErrChatUnconfirmed says that the user whose address an account has must confirm it first.
var ErrChatUnconfirmed = errors.New("the chat account is not confirmed")

// Lives of what is kept of an account that isn't confirmed.
const (
	chatAskLife  = 24 * time.Hour // the user is asked for so long
	chatAskAgain = time.Hour      // an account that asks again within it changes nothing
)

// ChatActor returns the user of a tenant who acts by an account, with the rights that they
// have now. An account that isn't confirmed is shown to its user in the console's settings,
// and the error is ErrChatUnconfirmed.
func (s *ChatService) ChatActor(ctx context.Context, tenant string, c ChatAccount, requestID string) (a core.Actor, err error) {
	email, err := access.CanonicalEmail(c.Email)
	if err != nil {
		return a, countersign.Errorf(countersign.CodeRoleRequired, "the address of your account can't be a user's: %v", err)
	}
	var link *records.ChatLink
	err = s.Read(ctx, func(tx store.Tx) error {
		u, err := core.UserOf(tx, tenant, email)
		if err != nil {
			return err
		}
		a = core.Actor{Principal: core.PrincipalOfUser(u), RequestID: requestID, Via: c.Service, Door: c.Service, Account: records.ChatLinkID(c.Service, c.Workspace, c.ID)}
		link, _, err = records.ChatLinks.Get(tx, store.Realm, a.Account)
		if errors.Is(err, store.ErrNotFound) {
			link, err = nil, nil
		}
		return err
	})
	switch {
	case countersign.ErrorCode(err) == countersign.CodeNotFound:
		return core.Actor{}, countersign.Errorf(countersign.CodeRoleRequired, "the address of your account is no user's of tenant %s; an admin can add it", tenant)
	case err != nil:
		return core.Actor{}, err
	case link != nil && link.Email == email && !link.ConfirmedAt.IsZero():
		return a, nil
	case link != nil && link.Email == email && s.Config.Now().Sub(link.AskedAt) < chatAskAgain:
		return core.Actor{}, ErrChatUnconfirmed
	}
	if err := s.askToConfirm(ctx, c, email); err != nil {
		return core.Actor{}, err
	}
	return core.Actor{}, ErrChatUnconfirmed
}

// askToConfirm keeps that an account asks to decide as the user of an address. It takes the
// place of what the account asked, or was confirmed, under another address.
func (s *ChatService) askToConfirm(ctx context.Context, c ChatAccount, email string) error {
	id := records.ChatLinkID(c.Service, c.Workspace, c.ID)
	return core.Public(s.Store.Update(ctx, func(tx store.Tx) error {
		was, version, err := records.ChatLinks.Get(tx, store.Realm, id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err == nil && was.Email == email && !was.ConfirmedAt.IsZero() {
			return nil // confirmed meanwhile
		}
		link := &records.ChatLink{Service: c.Service, Workspace: c.Workspace, Account: c.ID, Name: c.Name, Email: email, AskedAt: s.Config.Now()}
		_, err = records.ChatLinks.Put(tx, store.Realm, id, link, version)
		return err
	}))
}

// OwnChatAccounts lists the accounts of the session's user: those that are confirmed, and
// those that asked lately.
func (s *ChatService) OwnChatAccounts(ctx context.Context, a core.Actor) (out []OwnChatAccount, err error) {
	if a.Session == "" {
		return nil, nil
	}
	err = s.View(ctx, a, access.ReadSession, func(tx store.Tx) error {
		out = nil
		all, err := unreadable.List(s.Config.Unreadable, tx, "chat account", records.ChatLinks, store.Realm, store.Query{Where: records.AllChatLinks()})
		for _, l := range all {
			if l.Email == a.Email && (!l.ConfirmedAt.IsZero() || s.Config.Now().Sub(l.AskedAt) < chatAskLife) {
				out = append(out, OwnChatAccount{ChatAccount{l.Service, l.Workspace, l.Account, l.Name, l.Email}, l.AskedAt, l.ConfirmedAt})
			}
		}
		return err
	})
	return out, err
}

// ConfirmChatAccount records that an account is the session's user's. Only a session may:
// the holder of a token need not be that person.
func (s *ChatService) ConfirmChatAccount(ctx context.Context, a core.Actor, service, workspace, account string) error {
	return s.changeChatAccount(ctx, a, access.ConfirmChat, service, workspace, account, func(tx store.Tx, id string, link *records.ChatLink, version int64) error {
		if !link.ConfirmedAt.IsZero() {
			return nil
		}
		if s.Config.Now().Sub(link.AskedAt) >= chatAskLife {
			return countersign.Errorf(countersign.CodeStateConflict, "the account asked too long ago; press a button in the chat again")
		}
		link.ConfirmedAt = s.Config.Now()
		if _, err := records.ChatLinks.Put(tx, store.Realm, id, link, version); err != nil {
			return err
		}
		return s.sessions.AuditOfPerson(tx, a, access.ConfirmChat, a.Email, core.Change{After: link.Service + " account " + link.Workspace + "/" + link.Account + " confirmed"})
	})
}

// RemoveChatAccount ends that an account decides as the session's user.
func (s *ChatService) RemoveChatAccount(ctx context.Context, a core.Actor, service, workspace, account string) error {
	return s.changeChatAccount(ctx, a, access.RemoveChat, service, workspace, account, func(tx store.Tx, id string, link *records.ChatLink, _ int64) error {
		if err := records.ChatLinks.Delete(tx, store.Realm, id); err != nil || link.ConfirmedAt.IsZero() {
			return err
		}
		return s.sessions.AuditOfPerson(tx, a, access.RemoveChat, a.Email, chatRemoved(link))
	})
}

func (s *ChatService) changeChatAccount(ctx context.Context, a core.Actor, op access.Operation, service, workspace, account string, do func(store.Tx, string, *records.ChatLink, int64) error) error {
	if a.Session == "" {
		return countersign.Errorf(countersign.CodeRoleRequired, "a chat account is confirmed and removed by its user's session in the console")
	}
	if err := access.Proven(a.Principal, op); err != nil {
		return s.Refuse(ctx, a, op, "user/"+a.Email, err)
	}
	id := records.ChatLinkID(service, workspace, account)
	return core.Public(s.UpdateAs(ctx, a, func(tx store.Tx) error {
		link, version, err := records.ChatLinks.Get(tx, store.Realm, id)
		if err == nil && link.Email != a.Email {
			err = store.ErrNotFound
		}
		if err != nil {
			return core.Found(err, "chat account", account)
		}
		return do(tx, id, link, version)
	}))
}

func chatRemoved(link *records.ChatLink) core.Change {
	return core.Change{Before: link.Service + " account " + link.Workspace + "/" + link.Account + " confirmed", After: "removed"}
}

// endChatLinks removes the accounts of a person whose last membership, that of this tenant, has
// ended: who has the address when it is added again must confirm theirs. While they are a user
// of another tenant, the accounts are none of this one's business.
func (s *ChatService) endChatLinks(tx store.Tx, a core.Actor, tenant, email string) error {
	stays, err := sessions.Belongs(tx, email)
	if err != nil || stays {
		return err
	}
	all, err := unreadable.List(s.Config.Unreadable, tx, "chat account", records.ChatLinks, store.Realm, store.Query{Where: records.AllChatLinks()})
	if err != nil {
		return err
	}
	for i := range all {
		link := &all[i]
		if link.Email != email {
			continue
		}
		if err := records.ChatLinks.Delete(tx, store.Realm, records.ChatLinkID(link.Service, link.Workspace, link.Account)); err != nil {
			return err
		}
		if link.ConfirmedAt.IsZero() {
			continue
		}
		if err := s.AuditIn(tx, tenant, a, access.RemoveChat, "user/"+email, chatRemoved(link)); err != nil {
			return err
		}
	}
	return nil
}
