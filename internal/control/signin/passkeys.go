package signin

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/people"
	"github.com/countersign/countersign/internal/control/sessions"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/platform/passkey"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// PasskeyService is the use cases of passkeys.
type PasskeyService struct {
	*core.Core
	sessions *sessions.SessionService
	signin   *SignInService
	party    *passkey.Party // nil: browsers allow none at the public address
}

// NewPasskeys returns the use cases.
func NewPasskeys(c *core.Core, sessions *sessions.SessionService, signin *SignInService) *PasskeyService {
	return &PasskeyService{Core: c, sessions: sessions, signin: signin}
}

// Party is whom passkeys are asked for; nil for nobody.
func (s *PasskeyService) Party() *passkey.Party { return s.party }

// A passkey signs its user in without mail. It is a user's in one tenant, and its sessions act
// there alone. One that was added in a session which began with a sign-in link carries the
// makers of that link: it may be theirs.

// AcceptPasskeys lets users have passkeys, of this relying party. It is called before requests
// come.
func (s *PasskeyService) AcceptPasskeys(p *passkey.Party) { s.party = p }

// HasPasskeys reports whether browsers allow passkeys at the public address.
func (s *PasskeyService) HasPasskeys() bool { return s.party != nil }

var (
	// errPasskey refuses every wrong answer, whatever the reason.
	errPasskey  = countersign.Errorf(countersign.CodeUnauthenticated, "this passkey did not sign you in; try again, or sign in in another way")
	errNotFresh = countersign.Errorf(countersign.CodeStateConflict, "a passkey is added within 10 minutes of signing in; sign in again, and add it then")
)

// Question is what a browser is asked about passkeys. Options are for its script; the secret
// comes back with its answer, once.
type Question struct {
	Secret  string
	Options []byte
}

// ask stores a question of the party.
func (s *PasskeyService) ask(tx store.Tx, c passkey.Ceremony, secret string, q records.PasskeyQuestion) error {
	if err := s.sessions.Sweep(tx, store.SignIns); err != nil {
		return err
	}
	q.State, q.ExpiresAt = c.State, s.Config.Now().Add(access.PasskeyAnswer)
	_, err := records.PasskeyQuestions.Put(tx, store.Realm, access.HashQuestion(secret), &q, 0)
	return err
}

// answered takes a question away, whatever the answer is; nil if there is none in time, or if
// it was another session's.
func (s *PasskeyService) answered(tx store.Tx, secret, session string) (*records.PasskeyQuestion, error) {
	if !access.WellFormedSecret(secret) {
		return nil, nil
	}
	id := access.HashQuestion(secret)
	q, _, err := records.PasskeyQuestions.Get(tx, store.Realm, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case q.Session != session:
		return nil, nil
	}
	if err := records.PasskeyQuestions.Delete(tx, store.Realm, id); err != nil || !s.Config.Now().Before(q.ExpiresAt) {
		return nil, err
	}
	return q, nil
}

// OwnPasskey is a passkey as its user sees it.
type OwnPasskey struct {
	ID, Name              string
	CreatedAt, LastUsedAt time.Time
	Makers                []string // of the sign-in link that it goes back to
}

// Passkeys lists the passkeys of the session's user in its tenant, the oldest first.
func (s *PasskeyService) Passkeys(ctx context.Context, a core.Actor) (out []OwnPasskey, err error) {
	err = s.View(ctx, a, access.ReadSession, func(tx store.Tx) error {
		all, err := sessions.PasskeysOf(tx, a.Tenant, a.Email)
		out = make([]OwnPasskey, len(all))
		for i, p := range all {
			out[i] = OwnPasskey{ID: records.KeyHash(p.Key.ID), Name: p.Name, CreatedAt: p.CreatedAt, LastUsedAt: p.LastUsedAt, Makers: p.Makers}
		}
		return err
	})
	return out, err
}

// MayAddPasskey returns nil if the session may add a passkey now: it began a short while ago.
func (s *PasskeyService) MayAddPasskey(ctx context.Context, a core.Actor) error {
	return s.Read(ctx, func(tx store.Tx) error { return s.mayAddPasskey(tx, a) })
}

func (s *PasskeyService) mayAddPasskey(tx store.Tx, a core.Actor) error {
	switch {
	case s.party == nil:
		return sessions.ErrNoPasskeys
	case a.Session == "":
		return countersign.Errorf(countersign.CodeRoleRequired, "a passkey is added in a browser's session; you have a token")
	}
	rec, _, err := records.Sessions.Get(tx, store.Realm, a.Session)
	if err != nil {
		return core.Ended(err)
	}
	if s.Config.Now().Sub(rec.CreatedAt) >= access.FreshSignIn {
		return errNotFresh
	}
	if s.Config.SignIn == access.SignInByProvider && rec.Way != access.ByProvider {
		return countersign.Errorf(countersign.CodeStateConflict, "a passkey is added within 10 minutes of signing in at the identity provider; sign in there, and add it then")
	}
	return nil
}

// AskToAddPasskey begins to add a passkey of the session's user.
func (s *PasskeyService) AskToAddPasskey(ctx context.Context, a core.Actor) (q Question, err error) {
	q.Secret = access.FormatSecret(s.Config.NewSecret())
	handle := s.Config.NewSecret()
	err = s.Update(ctx, a, access.AddPasskey, "user/"+a.Email, func(tx store.Tx) error {
		if err := s.mayAddPasskey(tx, a); err != nil {
			return err
		}
		o, err := ownerOf(tx, a.Tenant, a.Email, handle[:])
		if err != nil {
			return err
		}
		c, err := s.party.AskToRegister(o)
		if err != nil {
			return err
		}
		q.Options = c.Options
		return s.ask(tx, c, q.Secret, records.PasskeyQuestion{Session: a.Session, Handle: o.Handle})
	})
	return q, err
}

// ownerOf is a user with their passkeys. fresh is the handle of one who has none.
func ownerOf(tx store.Tx, tenant, email string, fresh []byte) (passkey.Owner, error) {
	o := passkey.Owner{Handle: fresh, Name: email}
	all, err := sessions.PasskeysOf(tx, tenant, email)
	for i := range all {
		o.Handle = all[i].Handle
		o.Keys = append(o.Keys, passkey.Key(all[i].Key))
	}
	return o, err
}

// maxPasskeyName is the longest name of a passkey, in characters.
const maxPasskeyName = 60

// AddPasskey stores the passkey that a browser has made.
func (s *PasskeyService) AddPasskey(ctx context.Context, a core.Actor, name, question, answer string) error {
	if safetext.Blank(name) || utf8.RuneCountInString(name) > maxPasskeyName {
		return countersign.Invalid("name", "say which device it is, in at most %d characters", maxPasskeyName)
	}
	added := false
	err := s.Update(ctx, a, access.AddPasskey, "user/"+a.Email, func(tx store.Tx) error {
		added = false
		if err := s.mayAddPasskey(tx, a); err != nil {
			return err
		}
		q, err := s.answered(tx, question, a.Session)
		if err != nil || q == nil {
			return err
		}
		key, err := s.party.Registered(passkey.Owner{Handle: q.Handle, Name: a.Email}, q.State, []byte(answer))
		if errors.Is(err, passkey.ErrRefused) {
			s.Log.InfoContext(ctx, "a passkey was not added", "error", err)
			return nil // the question is used up
		}
		if err != nil {
			return err
		}
		added = true
		return s.putPasskey(tx, a, name, q.Handle, key)
	})
	if err == nil && !added {
		return countersign.Invalid("answer", "the browser's answer is not right, or came too late; try again")
	}
	return err
}

func (s *PasskeyService) putPasskey(tx store.Tx, a core.Actor, name string, handle []byte, key passkey.Key) error {
	all, err := sessions.PasskeysOf(tx, a.Tenant, a.Email)
	if err != nil {
		return err
	}
	if len(all) >= countersign.MaxPasskeys {
		return countersign.Errorf(countersign.CodeQuotaExceeded, "you have %d passkeys, the most that there may be; remove one first", len(all))
	}
	ref := &records.PasskeyRef{TenantID: a.Tenant, Email: a.Email}
	_, _, err = records.PasskeyRefs.Get(tx, store.Realm, records.PasskeyRefID(key.ID))
	if err == nil {
		return countersign.Errorf(countersign.CodeStateConflict, "this passkey is registered already")
	}
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if _, err := records.PasskeyRefs.Put(tx, store.Realm, records.PasskeyRefID(key.ID), ref, 0); err != nil {
		return err
	}
	logged, err := s.logPasskey(tx, a, name, key)
	if err != nil {
		return err
	}
	rec := &records.Passkey{
		TenantID: a.Tenant, Email: a.Email, Name: name, Handle: handle, Key: records.Key(key), Makers: a.Lineage, CreatedAt: s.Config.Now(),
		Logged: true, Registration: logged,
	}
	_, err = records.Passkeys.Put(tx, a.Tenant, records.PasskeyID(a.Email, key.ID), rec, 0)
	return err
}

// logPasskey records who registers which public key, before it counts for anything.
func (s *PasskeyService) logPasskey(tx store.Tx, a core.Actor, name string, key passkey.Key) (seq int64, err error) {
	rec := s.Record(a, access.AddPasskey, "user/"+a.Email)
	rec.After = "passkey " + safetext.Escaped(name)
	if rec.Passkey, err = s.registration(key); err != nil {
		return 0, err
	}
	rec.Passkey.Makers = a.Lineage
	crashpoint.At("control.written", access.AddPasskey)
	log := []countersign.AuditRecord{rec}
	err = audit.AppendNow(tx, a.Tenant, log)
	return log[0].Seq, err
}

// RemovePasskey ends a passkey of the session's user; id is that of an OwnPasskey. Sessions
// that it began go on.
func (s *PasskeyService) RemovePasskey(ctx context.Context, a core.Actor, id string) error {
	return s.Update(ctx, a, access.RemovePasskey, "user/"+a.Email, func(tx store.Tx) error {
		if a.Session == "" {
			return countersign.Errorf(countersign.CodeRoleRequired, "a passkey is removed in a browser's session; you have a token")
		}
		all, err := sessions.PasskeysOf(tx, a.Tenant, a.Email)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(all, func(p records.Passkey) bool { return records.KeyHash(p.Key.ID) == id })
		if at < 0 {
			return countersign.Errorf(countersign.CodeNotFound, "you have no such passkey")
		}
		if err := sessions.DropPasskey(tx, &all[at]); err != nil {
			return err
		}
		return s.Audit(tx, a, access.RemovePasskey, "user/"+a.Email, core.Change{Before: "passkey " + safetext.Escaped(all[at].Name), After: "gone"})
	})
}

// AskForPasskey begins a sign-in by passkey. from is the network address of the request.
func (s *PasskeyService) AskForPasskey(ctx context.Context, from string) (q Question, err error) {
	if s.party == nil {
		return q, sessions.ErrNoPasskeys
	}
	if err := s.Config.SignIn.Begins(access.ByPasskey); err != nil {
		return q, err
	}
	if err := s.signin.Begin(ctx, from); err != nil {
		return q, err
	}
	c, err := s.party.AskToSignIn()
	if err != nil {
		return q, err
	}
	q = Question{Secret: access.FormatSecret(s.Config.NewSecret()), Options: c.Options}
	return q, core.Public(s.Store.Update(ctx, func(tx store.Tx) error { return s.ask(tx, c, q.Secret, records.PasskeyQuestion{}) }))
}

// SignInByPasskey begins a session for the user of the passkey that a browser answered with.
// before is as in SignIn.
func (s *PasskeyService) SignInByPasskey(ctx context.Context, question, answer, from string, before core.Actor) (session string, err error) {
	if s.party == nil {
		return "", sessions.ErrNoPasskeys
	}
	if err := s.Config.SignIn.Begins(access.ByPasskey); err != nil {
		return "", err
	}
	if err := s.signin.Try(ctx, from); err != nil {
		return "", err
	}
	made := access.FormatSecret(s.Config.NewSecret())
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		session = ""
		rec, err := s.usePasskey(tx, question, answer, before.RequestID)
		if err != nil || rec == nil {
			return err
		}
		if err := people.DropClaims(tx, rec.TenantID, rec.Email); err != nil {
			return err
		}
		u, err := core.UserOf(tx, rec.TenantID, rec.Email)
		if countersign.ErrorCode(err) == countersign.CodeNotFound || err == nil && len(u.Roles) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		session = made
		return s.sessions.BeginSession(tx, u, made, before, sessions.Entrance{Way: access.ByPasskey, Makers: rec.Makers, Bound: true, By: "with the passkey " + safetext.Escaped(rec.Name)})
	})
	if err == nil && session == "" {
		err = errPasskey
	}
	if err == nil {
		s.signin.succeeded(ctx, from)
	}
	return session, core.Public(err)
}

// usePasskey finds the passkey that a right answer comes from, and stores its counter; nil for
// any other answer. The question is used up in either case.
func (s *PasskeyService) usePasskey(tx store.Tx, question, answer, requestID string) (rec *records.Passkey, err error) {
	q, err := s.answered(tx, question, "")
	if err != nil || q == nil {
		return nil, err
	}
	var version int64
	key, err := s.party.SignedIn(q.State, []byte(answer), func(id []byte) (passkey.Owner, error) {
		if rec, version, err = sessions.PasskeyByID(tx, id); err != nil {
			return passkey.Owner{}, err
		}
		return passkey.Owner{Handle: rec.Handle, Name: rec.Email, Keys: []passkey.Key{passkey.Key(rec.Key)}}, nil
	})
	switch {
	case errors.Is(err, passkey.ErrCopied):
		return nil, s.noteCopied(tx, rec, requestID)
	case errors.Is(err, passkey.ErrRefused), errors.Is(err, store.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	case !bytes.Equal(key.ID, rec.Key.ID):
		return nil, nil
	}
	rec.Key, rec.LastUsedAt = records.Key(key), s.Config.Now()
	_, err = records.Passkeys.Put(tx, rec.TenantID, records.PasskeyID(rec.Email, key.ID), rec, version)
	return rec, err
}

// noteCopied records a right answer whose counter has not risen, of which a second copy of the
// key may be the reason. It signs nobody in.
func (s *PasskeyService) noteCopied(tx store.Tx, p *records.Passkey, requestID string) error {
	who := core.Actor{Principal: access.Principal{ID: "user:" + p.Email, Tenant: p.TenantID}, RequestID: requestID}
	rec := s.Record(who, access.SignIn, "user/"+p.Email)
	rec.Outcome = countersign.AuditRefused + ": " + string(countersign.CodeUnauthenticated)
	rec.Reason = "the counter of the passkey " + safetext.Escaped(p.Name) + " has not risen, so it may have been copied"
	return core.AppendAudit(tx, p.TenantID, rec)
}

// registration is what the log keeps of a new passkey.
func (s *PasskeyService) registration(key passkey.Key) (*countersign.PasskeyRegistration, error) {
	spki, err := key.SPKI()
	if err != nil {
		return nil, err
	}
	return &countersign.PasskeyRegistration{
		CredentialID: base64.RawURLEncoding.EncodeToString(key.ID), PublicKey: base64.RawURLEncoding.EncodeToString(spki), RPID: s.party.RPID(),
	}, nil
}
