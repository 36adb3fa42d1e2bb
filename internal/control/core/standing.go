package core

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// LastUsePrecision is the precision of a token's or session's last use.
const LastUsePrecision = 10 * time.Minute

// cachedLooks is how many tokens are in memory as transactions have seen them.
const cachedLooks = 1024

// Rights says what principals may do at this moment.
type Rights struct {
	Config *Config
	looked *cache.Cache[cache.Stamp, *records.Token] // as transactions that write have seen them
}

// A principal is found when its request arrives, and the request's turn to write comes later:
// after its body, after what was computed, behind others. So the transaction that writes looks
// again at the token, the session or the confirmed account by which the principal acts. That look
// and the end of a right are writes of one log: none that a principal has made stands behind the
// record that its right has ended. What was committed before stays so (contract 3).

// UpdateAs runs fn in a write transaction in which the actor still has the rights that its
// request was admitted with.
func (s *Core) UpdateAs(ctx context.Context, a Actor, fn func(tx store.Tx) error) error {
	err := s.Store.Update(ctx, func(tx store.Tx) error {
		if a.Making != nil {
			return a.Making.Within(tx, func() error { return fn(tx) })
		}
		if err := s.Stands(tx, a); err != nil {
			return err
		}
		return fn(tx)
	})
	return s.proposed(ctx, a, err)
}

// Stands returns nil if the actor has at this moment what it had when its request was admitted.
func (s *Rights) Stands(tx store.Tx, a Actor) error {
	now, err := s.Present(tx, a)
	if err != nil {
		return err
	}
	return access.Still(a.Principal, now)
}

// Present is the actor's principal as it is in a transaction. Who acts by nothing that could end
// is the service itself.
func (s *Rights) Present(tx store.Tx, a Actor) (access.Principal, error) {
	token, byToken := strings.CutPrefix(a.ID, "token:")
	switch {
	case byToken:
		return s.presentToken(tx, a.Tenant, token)
	case a.Identity != nil:
		return s.presentIdentity(tx, a)
	case a.Session != "":
		p, err := s.presentSession(tx, a.Session)
		if err == nil && p.Tenant != a.Tenant {
			err = ErrSignedOut // it acts in another tenant now
		}
		return p, err
	case a.Account != "":
		return s.presentAccount(tx, a)
	}
	return a.Principal, nil
}

func (s *Rights) presentToken(tx store.Tx, tenant, id string) (p access.Principal, err error) {
	row, err := store.Look(tx, store.Tokens, tenant, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return p, ErrToken
	case err != nil:
		return p, err
	}
	stamp := cache.StampOf(tenant, id, row.Version, row.Doc)
	rec, known := s.looked.Get(stamp)
	if !known {
		rec = new(records.Token)
		if err := records.Decode(row, rec); err != nil {
			return p, err
		}
		s.looked.Put(stamp, rec)
	}
	if s.Ended(rec) {
		return p, ErrToken
	}
	return s.PrincipalIn(tx, rec)
}

// presentSession is the principal of a session.
func (s *Rights) presentSession(tx store.Tx, id string) (p access.Principal, err error) {
	rec, _, err := records.Sessions.Get(tx, store.Realm, id)
	if err != nil {
		return p, Ended(err)
	}
	user, _, err := records.Users.Get(tx, rec.TenantID, rec.Email)
	if err != nil {
		return p, Ended(err)
	}
	if user.Invited || s.Over(rec) {
		return p, ErrSignedOut
	}
	return PrincipalOfSession(id, rec, user), nil
}

// presentAccount is the principal of an account at a chat service that its user has confirmed.
func (s *Rights) presentAccount(tx store.Tx, a Actor) (p access.Principal, err error) {
	link, _, err := records.ChatLinks.Get(tx, store.Realm, a.Account)
	if err == nil && (link.Email != a.Email || link.ConfirmedAt.IsZero()) {
		err = store.ErrNotFound
	}
	if err != nil {
		return p, unconfirmed(err)
	}
	u, _, err := records.Users.Get(tx, a.Tenant, a.Email)
	if err == nil && u.Invited {
		err = store.ErrNotFound
	}
	if err != nil {
		return p, unconfirmed(err)
	}
	return PrincipalOfUser(u), nil
}

// errAccount is the answer to an account whose user has removed it, or is gone, while it decides.
var errAccount = countersign.Errorf(countersign.CodeRoleRequired, "the user whose account this was is none of the tenant any more, or has removed it; nothing was done")

func unconfirmed(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return errAccount
	}
	return err
}

// ErrToken is the answer to malformed, unknown, revoked and expired tokens.
var ErrToken = countersign.Errorf(countersign.CodeUnauthenticated, "the token is unknown, expired or revoked; send a valid one as Authorization: Bearer")

// Ended reports a token that is good no more.
func (s *Rights) Ended(t *records.Token) bool {
	return t.Lapsed || !t.RevokedAt.IsZero() || !s.Config.Now().Before(t.ExpiresAt)
}

// PrincipalOf is a token's principal. Only where people decide does its user have to have
// confirmed it before it counts as them (contract 11).
func (s *Rights) PrincipalOf(t *records.Token) access.Principal {
	p := access.Principal{
		ID: "token:" + t.ID, Name: t.Name, Tenant: t.TenantID, Roles: t.Shown().Roles, Projects: t.ProjectIDs, Agents: t.AgentIDs, Modes: t.Modes,
		Realm: t.Realm, Email: t.UserEmail, Person: t.Person(), Lineage: t.Lineage, ExpiresAt: t.ExpiresAt,
	}
	if t.Reads != nil {
		p.Reads = []countersign.Reading{} // PrincipalIn says what of it its maker gives
	}
	if p.Person == "" && s.Config.Eyes != access.EyesOfPeople && !t.UserLeft {
		p.Person = t.UserEmail
	}
	return p
}

// ErrSignedOut is the answer to a session that is unknown, ended, expired, or whose user is
// gone. It doesn't say which.
var ErrSignedOut = countersign.Errorf(countersign.CodeUnauthenticated, "the session has ended; sign in again")

// Over reports a session that has ended: by its time, or because it began in a way that begins none
// here.
func (s *Rights) Over(rec *records.Session) bool {
	now := s.Config.Now()
	return !now.Before(rec.ExpiresAt) || now.Sub(rec.SeenAt) >= access.SessionIdle || s.Config.SignIn.Begins(rec.Way) != nil
}

// PrincipalOfSession is a session's principal.
func PrincipalOfSession(id string, rec *records.Session, u *records.User) access.Principal {
	p := PrincipalOfUser(u)
	p.Session, p.ExpiresAt, p.Lineage = id, rec.ExpiresAt, rec.Makers
	return p
}

// PrincipalOfUser is a user's principal.
func PrincipalOfUser(u *records.User) access.Principal {
	return access.Principal{
		ID: "user:" + u.Email, Name: u.Email, Tenant: u.TenantID, Roles: u.Roles, Projects: u.ProjectIDs, Realm: u.Realm, Email: u.Email, Person: u.Email,
	}
}

// Ended turns "no such session" into the answer to one that has ended.
func Ended(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return ErrSignedOut
	}
	return err
}

// Usable reports whether the token is neither revoked nor expired.
func (s *Rights) Usable(t *records.Token) bool {
	return t.RevokedAt.IsZero() && !t.Lapsed && s.Config.Now().Before(t.ExpiresAt)
}

// UserOf finds a tenant's user by address; not_found for one who is only invited.
func UserOf(tx store.Tx, tenant, email string) (*records.User, error) {
	u, _, err := records.Users.Get(tx, tenant, email)
	if errors.Is(err, store.ErrNotFound) || err == nil && u.Invited {
		return nil, countersign.Errorf(countersign.CodeNotFound, "%s is not a user of tenant %s", email, tenant)
	}
	return u, err
}
