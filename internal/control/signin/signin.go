// Package signin holds the ways to sign in: codes by mail, links, passkeys, identity providers, and
// the set-up of a new service.
package signin

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/people"
	"github.com/countersign/countersign/internal/control/sessions"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// SignInService is the use cases of signing in, by a code, a link, an identity provider or the
// set-up link.
type SignInService struct {
	*core.Core
	sessions *sessions.SessionService
	users    *people.UserService
	groups   *people.GroupService

	codeLimit  core.Limit // by e-mail and network address together: sign-in codes that are asked for
	siteLimit  core.Limit // by e-mail and IPv6 site: sign-in codes that are asked for
	tryLimit   core.Limit // by network address: all attempts without a session
	linkLimit  core.Limit // by maker and user: sign-in links that are made
	beginLimit core.Limit // by network address: sign-ins begun at the identity provider or by passkey
	codes      *codeMails
}

// NewSignIn returns the use cases.
func NewSignIn(c *core.Core, sessions *sessions.SessionService, users *people.UserService, groups *people.GroupService) *SignInService {
	return &SignInService{
		Core: c, sessions: sessions, users: users, groups: groups, codes: newCodeMails(),
		codeLimit: core.NewLimit(c.Config, c.Store, "asking", codeRate), siteLimit: core.NewLimit(c.Config, c.Store, "siting", siteCodeRate),
		tryLimit: core.NewLimit(c.Config, c.Store, "trying", tryRate), linkLimit: core.NewLimit(c.Config, c.Store, "linking", codeRate),
		beginLimit: core.NewOwnLimit(beginRate), // not shared: what it begins is small, and swept soon
	}
}

// Try counts an attempt of a network address without a session, and refuses it beyond the
// limit.
func (s *SignInService) Try(ctx context.Context, from string) error {
	return core.Count(ctx, s.tryLimit, tryKey(from), s.Config.Now())
}

// tryKey is the key that an address's attempts are counted under.
func tryKey(from string) string { return "from " + network(from) }

// Begin counts a sign-in that a network address begins at the identity provider or by passkey.
func (s *SignInService) Begin(ctx context.Context, from string) error {
	return core.Count(ctx, s.beginLimit, network(from), s.Config.Now())
}

// succeeded takes back the attempt that signed somebody in, so that people who share a
// network address and make no mistakes don't use up each other's attempts.
func (s *SignInService) succeeded(ctx context.Context, from string) {
	ctx = context.WithoutCancel(ctx)
	s.Background.Go(func() {
		if err := s.tryLimit.Return(ctx, tryKey(from), s.Config.Now()); err != nil {
			s.Log.WarnContext(ctx, "can't take back the attempt of a successful sign-in", "error", err)
		}
	})
}

// errCode refuses every invalid code, whatever the reason.
var errCode = countersign.Errorf(countersign.CodeUnauthenticated, "this code is not right, or not any more; ask for a new one")

// AskForCode begins a sign-in: it sends a code to the address and returns the
// secret that the browser must send with it. The answer and its timing don't depend on
// whether the address is a user's. from is the network address of the request.
func (s *SignInService) AskForCode(ctx context.Context, email, from string) (secret string, err error) {
	if err := s.Config.SignIn.Begins(access.ByCode); err != nil {
		return "", err
	}
	if err := core.Count(ctx, s.tryLimit, "asked from "+network(from), s.Config.Now()); err != nil {
		return "", err
	}
	if email, err = people.Address("email", email); err != nil {
		return "", err
	}
	if err := core.Count(ctx, s.codeLimit, email+" from "+network(from), s.Config.Now()); err != nil { // both together: a stranger elsewhere doesn't use up a user's attempts
		return "", err
	}
	if prefix, ok := site(from); ok {
		if err := core.Count(ctx, s.siteLimit, email+" at "+prefix, s.Config.Now()); err != nil {
			return "", err
		}
	}
	mail := s.codes.add(s.Config.Life, mailNetwork(from))
	if mail == nil {
		return "", core.ErrTooMany
	}
	secret = access.FormatSecret(s.Config.NewSecret())
	code := access.FormatCode(s.Config.NewSecret())
	rec := &records.SignIn{Email: email, CodeHash: access.HashCode(secret, code), ExpiresAt: s.Config.Now().Add(access.CodeLife)}
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		if err := s.sessions.Sweep(tx, store.SignIns); err != nil {
			return err
		}
		_, err := records.SignIns.Put(tx, store.Realm, access.HashToken(secret), rec, 0)
		return err
	})
	if err != nil {
		s.codes.remove(mail)
		return "", core.Public(err)
	}
	at := s.Config.Now()
	s.Background.Go(func() {
		defer s.codes.remove(mail)
		s.deliver(context.WithoutCancel(ctx), mail, rec, code, CodeText(code, from, at))
	})
	return secret, nil
}

// deliver sends a code to its user by mail; without a mail server it writes it to the log,
// which only the operator reads. An address that is no user's gets none.
func (s *SignInService) deliver(ctx context.Context, mail *codeMail, rec *records.SignIn, code, text string) {
	known, err := s.hasUser(ctx, rec.Email)
	switch {
	case err != nil:
		s.Log.ErrorContext(ctx, "sign-in code not delivered", "error", err)
		return
	case s.Config.Post != nil:
	case known:
		s.Log.InfoContext(ctx, "sign-in code (no mail server is set)", "email", rec.Email, "code", code)
		return
	default:
		return
	}
	var send func() error
	if known {
		send = func() error { return s.Config.Post.Send(ctx, rec.Email, "Your Countersign code", text) }
	}
	valid := func() bool { return s.Config.Now().Before(rec.ExpiresAt) }
	if err := s.codes.deliver(mail, valid, send); err != nil && known {
		s.Log.ErrorContext(ctx, "sign-in code not sent", "error", err)
	}
}

// hasUser reports whether the address gets a code: it is a user's, or it is invited.
func (s *SignInService) hasUser(ctx context.Context, email string) (known bool, err error) {
	err = s.Store.View(ctx, func(tx store.Tx) error {
		users, err := sessions.Memberships(tx, email)
		if err != nil {
			return err
		}
		offers, err := sessions.Invitations(tx, email)
		known = len(users)+len(offers) > 0
		return err
	})
	return known, err
}

// SignIn ends a sign-in with its code and begins a session; secret is the one
// that AskForCode returned. before is the browser's present actor, whose session ends.
func (s *SignInService) SignIn(ctx context.Context, secret, code, from string, before core.Actor) (session string, err error) {
	if err := s.Config.SignIn.Begins(access.ByCode); err != nil {
		return "", err
	}
	if err := s.Try(ctx, from); err != nil {
		return "", err
	}
	if !access.WellFormedSecret(secret) {
		return "", errCode
	}
	made := access.FormatSecret(s.Config.NewSecret())
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		session = ""
		email, err := s.redeem(tx, secret, code)
		if err != nil || email == "" {
			return err
		}
		user, err := s.sessions.MembershipToEnter(tx, email, before.RequestID)
		if err != nil || user == nil {
			return err
		}
		if err := s.groups.KeepClaims(tx, email, nil); err != nil {
			return err
		}
		session = made
		return s.sessions.BeginSession(tx, user, made, before, sessions.Entrance{Way: access.ByCode})
	})
	if err == nil && session == "" {
		err = errCode
	}
	if err == nil {
		s.succeeded(ctx, from)
	}
	return session, core.Public(err)
}

// redeem ends a sign-in whose code is right and returns its address; "" for any other. It
// counts a wrong try in the same commit.
func (s *SignInService) redeem(tx store.Tx, secret, code string) (email string, err error) {
	id := access.HashToken(secret)
	rec, version, err := records.SignIns.Get(tx, store.Realm, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return "", nil
	case err != nil:
		return "", err
	}
	rec.Tries++
	right := access.SameHash(rec.CodeHash, access.HashCode(secret, code))
	late := !s.Config.Now().Before(rec.ExpiresAt)
	if !right && !late && rec.Tries < access.CodeTries {
		_, err := records.SignIns.Put(tx, store.Realm, id, rec, version)
		return "", err
	}
	if err := records.SignIns.Delete(tx, store.Realm, id); err != nil || !right || late {
		return "", err
	}
	return rec.Email, nil
}

// SignInVerified begins a session for an address that an identity provider has
// verified, as SignIn does. The caller has counted the attempt with Try.
func (s *SignInService) SignInVerified(ctx context.Context, email, from string, before core.Actor) (session string, err error) {
	return s.SignInClaiming(ctx, email, nil, from, before)
}

// SignInClaiming is SignInVerified with the claims that the provider made: texts by the
// claim's name. They fill the groups that name them.
func (s *SignInService) SignInClaiming(ctx context.Context, email string, claims map[string][]string, from string, before core.Actor) (session string, err error) {
	if email, err = people.Address("email", email); err != nil {
		return "", err
	}
	session = access.FormatSecret(s.Config.NewSecret())
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		user, err := s.sessions.MembershipToEnter(tx, email, before.RequestID)
		if err != nil {
			return err
		}
		if user == nil {
			return countersign.Errorf(countersign.CodeUnauthenticated, "%s is no user here; an admin can add it", email)
		}
		if err := s.groups.KeepClaims(tx, email, claims); err != nil {
			return err
		}
		if err := keepSubject(tx, user.Email, claims); err != nil {
			return err
		}
		return s.sessions.BeginSession(tx, user, session, before, sessions.Entrance{Way: access.ByProvider})
	})
	if err != nil {
		return "", core.Public(err)
	}
	s.succeeded(ctx, from)
	return session, nil
}
