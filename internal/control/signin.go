package control

import (
	"context"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// Try counts an attempt of a network address without a session, and refuses it beyond the
// limit.
func (s *Service) Try(ctx context.Context, from string) error {
	return count(ctx, s.tryLimit, tryKey(from), s.cfg.Now())
}

// tryKey is the key that an address's attempts are counted under.
func tryKey(from string) string { return "from " + network(from) }

// Begin counts a sign-in that a network address begins at the identity provider or by passkey.
func (s *Service) Begin(ctx context.Context, from string) error {
	return count(ctx, s.beginLimit, network(from), s.cfg.Now())
}

// succeeded takes back the attempt that signed somebody in, so that people who share a
// network address and make no mistakes don't use up each other's attempts.
func (s *Service) succeeded(ctx context.Context, from string) {
	ctx = context.WithoutCancel(ctx)
	s.background.Go(func() {
		if err := s.tryLimit.Return(ctx, tryKey(from), s.cfg.Now()); err != nil {
			s.log.WarnContext(ctx, "can't take back the attempt of a successful sign-in", "error", err)
		}
	})
}

// errCode refuses every invalid code, whatever the reason.
var errCode = countersign.Errorf(countersign.CodeUnauthenticated, "this code is not right, or not any more; ask for a new one")

// AskForCode begins a sign-in: it sends a code to the address and returns the
// secret that the browser must send with it. The answer and its timing don't depend on
// whether the address is a user's. from is the network address of the request.
func (s *Service) AskForCode(ctx context.Context, email, from string) (secret string, err error) {
	if err := count(ctx, s.tryLimit, "asked from "+network(from), s.cfg.Now()); err != nil {
		return "", err
	}
	if email, err = address("email", email); err != nil {
		return "", err
	}
	if err := count(ctx, s.codeLimit, email+" from "+network(from), s.cfg.Now()); err != nil { // both together: a stranger elsewhere doesn't use up a user's attempts
		return "", err
	}
	if prefix, ok := site(from); ok {
		if err := count(ctx, s.siteLimit, email+" at "+prefix, s.cfg.Now()); err != nil {
			return "", err
		}
	}
	mail := s.codes.add(s.cfg.Life, mailNetwork(from))
	if mail == nil {
		return "", ErrTooMany
	}
	secret = access.FormatSecret(s.cfg.NewSecret())
	code := access.FormatCode(s.cfg.NewSecret())
	rec := &records.SignIn{Email: email, CodeHash: access.HashCode(secret, code), ExpiresAt: s.cfg.Now().Add(access.CodeLife)}
	err = s.store.Update(ctx, func(tx store.Tx) error {
		if err := s.sweep(tx, store.SignIns); err != nil {
			return err
		}
		_, err := records.SignIns.Put(tx, store.Realm, access.HashToken(secret), rec, 0)
		return err
	})
	if err != nil {
		s.codes.remove(mail)
		return "", public(err)
	}
	at := s.cfg.Now()
	s.background.Go(func() {
		defer s.codes.remove(mail)
		s.deliver(context.WithoutCancel(ctx), mail, rec, code, CodeText(code, from, at))
	})
	return secret, nil
}

// deliver sends a code to its user by mail; without a mail server it writes it to the log,
// which only the operator reads. An address that is no user's gets none.
func (s *Service) deliver(ctx context.Context, mail *codeMail, rec *records.SignIn, code, text string) {
	known, err := s.hasUser(ctx, rec.Email)
	switch {
	case err != nil:
		s.log.ErrorContext(ctx, "sign-in code not delivered", "error", err)
		return
	case s.cfg.Post != nil:
	case known:
		s.log.InfoContext(ctx, "sign-in code (no mail server is set)", "email", rec.Email, "code", code)
		return
	default:
		return
	}
	var send func() error
	if known {
		send = func() error { return s.cfg.Post.Send(ctx, rec.Email, "Your Countersign code", text) }
	}
	valid := func() bool { return s.cfg.Now().Before(rec.ExpiresAt) }
	if err := s.codes.deliver(mail, valid, send); err != nil && known {
		s.log.ErrorContext(ctx, "sign-in code not sent", "error", err)
	}
}

// hasUser reports whether the address gets a code: it is a user's, or it is invited.
func (s *Service) hasUser(ctx context.Context, email string) (known bool, err error) {
	err = s.store.View(ctx, func(tx store.Tx) error {
		users, err := memberships(tx, email)
		if err != nil {
			return err
		}
		offers, err := invitations(tx, email)
		known = len(users)+len(offers) > 0
		return err
	})
	return known, err
}

// SignIn ends a sign-in with its code and begins a session; secret is the one
// that AskForCode returned. before is the browser's present actor, whose session ends.
func (s *Service) SignIn(ctx context.Context, secret, code, from string, before Actor) (session string, err error) {
	if err := s.Try(ctx, from); err != nil {
		return "", err
	}
	if !access.WellFormedSecret(secret) {
		return "", errCode
	}
	made := access.FormatSecret(s.cfg.NewSecret())
	err = s.store.Update(ctx, func(tx store.Tx) error {
		session = ""
		email, err := s.redeem(tx, secret, code)
		if err != nil || email == "" {
			return err
		}
		user, err := s.membershipToEnter(tx, email, before.RequestID)
		if err != nil || user == nil {
			return err
		}
		if err := s.keepClaims(tx, email, nil); err != nil {
			return err
		}
		session = made
		return s.begin(tx, user, made, before, entrance{})
	})
	if err == nil && session == "" {
		err = errCode
	}
	if err == nil {
		s.succeeded(ctx, from)
	}
	return session, public(err)
}

// redeem ends a sign-in whose code is right and returns its address; "" for any other. It
// counts a wrong try in the same commit.
func (s *Service) redeem(tx store.Tx, secret, code string) (email string, err error) {
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
	late := !s.cfg.Now().Before(rec.ExpiresAt)
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
func (s *Service) SignInVerified(ctx context.Context, email, from string, before Actor) (session string, err error) {
	return s.SignInClaiming(ctx, email, nil, from, before)
}

// SignInClaiming is SignInVerified with the claims that the provider made: texts by the
// claim's name. They fill the groups that name them.
func (s *Service) SignInClaiming(ctx context.Context, email string, claims map[string][]string, from string, before Actor) (session string, err error) {
	if email, err = address("email", email); err != nil {
		return "", err
	}
	session = access.FormatSecret(s.cfg.NewSecret())
	err = s.store.Update(ctx, func(tx store.Tx) error {
		user, err := s.membershipToEnter(tx, email, before.RequestID)
		if err != nil {
			return err
		}
		if user == nil {
			return countersign.Errorf(countersign.CodeUnauthenticated, "%s is no user here; an admin can add it", email)
		}
		if err := s.keepClaims(tx, email, claims); err != nil {
			return err
		}
		return s.begin(tx, user, session, before, entrance{})
	})
	if err != nil {
		return "", public(err)
	}
	s.succeeded(ctx, from)
	return session, nil
}
