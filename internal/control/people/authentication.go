package people

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/platform/cache"
	"github.com/countersign/countersign/internal/platform/crashpoint"
	"github.com/countersign/countersign/internal/platform/issuer"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// AuthenticationService finds who a bearer token stands for.
type AuthenticationService struct {
	*core.Core
	tokens    *cache.Cache[string, knownToken] // by hash
	tokenRefs *cache.Cache[string, records.TokenRef]
	touching  sync.Map // ids of the tokens whose last use is being written
}

// NewAuthentication returns the use cases.
func NewAuthentication(c *core.Core) *AuthenticationService {
	return &AuthenticationService{Core: c, tokens: cache.New[string, knownToken](cachedTokens), tokenRefs: cache.New[string, records.TokenRef](cachedTokens)}
}

// Authenticate finds the principal of a bearer token. Malformed, unknown, revoked and
// expired tokens get the same error.
func (s *AuthenticationService) Authenticate(ctx context.Context, token string) (access.Principal, error) {
	return s.AuthenticateAt(ctx, token, "")
}

// AuthenticateAt is Authenticate at an agent's door, by its path: a token of an identity provider
// may be good there alone.
func (s *AuthenticationService) AuthenticateAt(ctx context.Context, token, door string) (access.Principal, error) {
	if s.Config.Issuers == nil || !hasParts(token) {
		return s.authenticate(ctx, token)
	}
	p, err := s.byIssuer(ctx, token, door)
	var refused *issuer.RefusedError
	if !errors.As(err, &refused) {
		return p, err
	}
	if p, err := s.authenticate(ctx, token); countersign.ErrorCode(err) != countersign.CodeUnauthenticated {
		return p, err // the first token of the store may be any text
	}
	s.Log.WarnContext(ctx, "a token of an identity provider was refused", "check", refused.Check, "why", refused.Why)
	return access.Principal{}, core.ErrToken
}

func (s *AuthenticationService) authenticate(ctx context.Context, token string) (access.Principal, error) {
	if strings.HasPrefix(token, "csn_") && !access.WellFormed(token) {
		return access.Principal{}, core.ErrToken
	}
	rec, err := s.token(ctx, access.HashToken(token))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return access.Principal{}, core.ErrToken
	case err != nil:
		return access.Principal{}, core.Public(err)
	}
	if s.Ended(rec) {
		if rec.RevokedAt.IsZero() && !rec.Lapsed {
			s.lapse(ctx, rec)
		}
		return access.Principal{}, core.ErrToken
	}
	if now := s.Config.Now(); now.Sub(rec.LastUsedAt) > core.LastUsePrecision {
		s.touch(ctx, rec, func(r *records.Token) { r.LastUsedAt = now })
	}
	return s.principal(ctx, rec)
}

// principal is a token's, which for a reading token depends on its maker.
func (s *AuthenticationService) principal(ctx context.Context, rec *records.Token) (p access.Principal, err error) {
	if rec.Reads == nil {
		return s.PrincipalOf(rec), nil
	}
	err = s.Read(ctx, func(tx store.Tx) error {
		p, err = s.PrincipalIn(tx, rec)
		return err
	})
	return p, err
}

// Expect finds the principal that a bearer token stood for when it was last looked at, which may be
// some time ago. It decides whether the body of a request is read, and nothing else: Authenticate
// comes after the body.
func (s *AuthenticationService) Expect(ctx context.Context, token, door string) (access.Principal, error) {
	if k, ok := s.tokens.Get(access.HashToken(token)); ok && k.rec.Reads == nil && !s.Ended(k.rec) {
		return s.PrincipalOf(k.rec), nil
	}
	return s.AuthenticateAt(ctx, token, door)
}

// knownToken is a token's record, and the store's change count when it was read.
type knownToken struct {
	rec     *records.Token
	changes int64
}

// cachedTokens is how many tokens are cached.
const cachedTokens = 1024

// token finds a token's record by its hash. A cached record is used while the store says
// that no token has changed since.
func (s *AuthenticationService) token(ctx context.Context, hash string) (rec *records.Token, err error) {
	var changes int64
	if s.Alone != nil {
		changes = s.Alone.Changes(store.TokenHashes, store.Tokens) // taken before the read
		if k, ok := s.tokens.Get(hash); ok && k.changes == changes {
			return k.rec, nil
		}
	}
	ref, known := s.tokenRefs.Get(hash) // a hash always belongs to the same token
	err = s.Store.View(ctx, func(tx store.Tx) error {
		if !known {
			found, _, err := records.TokenHashes.Get(tx, store.Realm, hash)
			if err != nil {
				return err
			}
			ref = *found
		}
		rec, _, err = records.Tokens.Get(tx, ref.TenantID, ref.TokenID)
		return err
	})
	if err == nil && !known {
		s.tokenRefs.Put(hash, ref)
	}
	if err == nil {
		s.tokens.Put(hash, knownToken{rec, changes})
	}
	return rec, err
}

// CountStranger counts a request that was answered 401 (contract 9).
func (s *AuthenticationService) CountStranger() { s.Config.Metrics.Stranger() }

// lapse records that a token was seen expired before the caller is told, so that neither a
// clock that is set back nor a crash makes it valid again. If the store can't write, the
// next use records it.
func (s *AuthenticationService) lapse(ctx context.Context, t *records.Token) {
	err := s.Store.Update(ctx, func(tx store.Tx) error {
		rec, version, err := records.Tokens.Get(tx, t.TenantID, t.ID)
		if err != nil || rec.Lapsed {
			return err
		}
		rec.Lapsed = true
		_, err = records.Tokens.Put(tx, t.TenantID, t.ID, rec, version)
		return err
	})
	if err != nil {
		s.Log.WarnContext(ctx, "can't record that a token has expired", "token", t.ID, "error", err)
	}
}

// touch writes a token's last use in the background.
func (s *AuthenticationService) touch(ctx context.Context, t *records.Token, set func(*records.Token)) {
	if _, underway := s.touching.LoadOrStore(t.ID, true); underway {
		return
	}
	s.Background.Go(func() {
		defer s.touching.Delete(t.ID)
		ctx := context.WithoutCancel(ctx)
		err := s.Store.Update(ctx, func(tx store.Tx) error {
			rec, version, err := records.Tokens.Get(tx, t.TenantID, t.ID)
			if err != nil {
				return err
			}
			set(rec)
			_, err = records.Tokens.Put(tx, t.TenantID, t.ID, rec, version)
			return err
		})
		crashpoint.At("control.touched", nil)
		if err != nil {
			s.Log.WarnContext(ctx, "can't record a token's last use", "token", t.ID, "error", err)
		}
	})
}
