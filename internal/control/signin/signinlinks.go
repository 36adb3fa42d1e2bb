package signin

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/people"
	"github.com/countersign/countersign/internal/control/sessions"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// A sign-in link lets a realm administrator sign a user in without mail. Whoever has it may
// use it, its maker too: the session remembers the makers, and counts as one person with
// them wherever four eyes are asked for.

// errLink refuses every invalid sign-in link, whatever the reason.
var errLink = countersign.Errorf(countersign.CodeUnauthenticated, "this sign-in link is not right, was used, or has expired; ask for a new one")

// CreateLink makes a sign-in link for a user. It takes the place of an earlier one. The
// secret is the one copy of it.
func (s *SignInService) CreateLink(ctx context.Context, a core.Actor, email string, w countersign.SignInLinkWrite) (out countersign.SignInLink, secret string, err error) {
	if err := core.WellFormed(a, w); err != nil {
		return out, "", err
	}
	if err := s.Config.SignIn.Begins(access.ByLink); err != nil {
		err = countersign.Errorf(countersign.CodeStateConflict, "a sign-in link would sign nobody in: sessions begin by the identity provider alone here (SVC_PLATFORM_SIGN_IN=oidc)")
		return out, "", s.Refuse(ctx, a, access.CreateLink, "user/"+email, cmp.Or(access.Allow(a.Principal, access.CreateLink), err))
	}
	if email, err = s.users.StoredSpelling(ctx, a, access.CreateLink, w.TenantID, email); err != nil {
		return out, "", err
	}
	a = a.Asking(email, w)
	subject := "user/" + email
	err = s.View(ctx, a, access.CreateLink, func(tx store.Tx) error {
		tenant, err := core.TenantFor(tx, a, w.TenantID)
		if err == nil {
			_, err = core.UserOf(tx, tenant, email)
		}
		return err
	})
	if err == nil {
		err = tooManyLinks(core.Count(ctx, s.linkLimit, a.ID+" for "+email, s.Config.Now()), email)
	}
	if err != nil {
		return out, "", s.Refuse(ctx, a, access.CreateLink, subject, err)
	}
	secret = access.FormatSecret(s.Config.NewSecret())
	err = s.Write(ctx, a, access.CreateLink, subject, func(tx store.Tx) error {
		tenant, err := core.TenantFor(tx, a, w.TenantID)
		if err != nil {
			return err
		}
		out, err = s.putLink(tx, a, tenant, email, access.HashLink(secret), lifeOfLink(w))
		return err
	})
	return out, secret, err
}

func lifeOfLink(w countersign.SignInLinkWrite) time.Duration {
	minutes := w.ExpiresInMinutes
	if minutes == 0 {
		minutes = countersign.LinkMinutes
	}
	return time.Duration(minutes) * time.Minute
}

func tooManyLinks(err error, email string) error {
	if errors.Is(err, core.ErrTooMany) {
		return countersign.Errorf(countersign.CodeQuotaExceeded, "you have made many sign-in links for %s just now; wait some minutes, or use the last one", email)
	}
	return err
}

// putLink stores a link and makes it the only one of its user.
func (s *SignInService) putLink(tx store.Tx, a core.Actor, tenant, email, id string, life time.Duration) (out countersign.SignInLink, err error) {
	if err := s.sessions.Sweep(tx, store.SignIns); err != nil {
		return out, err
	}
	u, version, err := records.Users.Get(tx, tenant, email)
	if err != nil {
		return out, core.Found(err, "user", email)
	}
	if err := sessions.DropLink(tx, u); err != nil {
		return out, err
	}
	now := s.Config.Now()
	out = countersign.SignInLink{Email: email, TenantID: tenant, CreatedBy: a.ID, CreatedAt: now, ExpiresAt: now.Add(life)}
	makers := slices.DeleteFunc(a.Descent(), func(id string) bool { return id == "user:"+email })
	rec := &records.SignInLink{TenantID: tenant, Email: email, Makers: makers, ExpiresAt: out.ExpiresAt}
	if _, err := records.SignInLinks.Put(tx, store.Realm, id, rec, 0); err != nil {
		return out, err
	}
	u.Link = id
	if _, err := records.Users.Put(tx, tenant, email, u, version); err != nil {
		return out, err
	}
	c := core.Change{After: "good until " + out.ExpiresAt.UTC().Format(time.RFC3339), Weakens: u.Realm || len(core.Granted(nil, nil, u.Roles, u.ProjectIDs)) > 0}
	rights := map[string]any{"roles": u.Roles, "projectIds": u.ProjectIDs}
	c.Was = core.Members(rights)
	rights["link"] = "signs in as " + email
	c.Now = core.Members(rights)
	return out, s.AuditIn(tx, tenant, a, access.CreateLink, "user/"+email, c)
}

// Link is what a sign-in link says before it is used: whom it signs in, and who made it.
type Link struct{ Email, TenantID, Maker string }

// LookAtLink returns what a valid sign-in link says. It changes nothing, since mail scanners
// and previews follow links.
func (s *SignInService) LookAtLink(ctx context.Context, secret string) (l Link, err error) {
	if err := s.Config.SignIn.Begins(access.ByLink); err != nil {
		return l, err
	}
	err = s.Read(ctx, func(tx store.Tx) error {
		rec, err := s.validLink(tx, secret)
		if err != nil {
			return err
		}
		l = Link{Email: rec.Email, TenantID: rec.TenantID, Maker: madeBy(rec)}
		return nil
	})
	return l, err
}

func madeBy(l *records.SignInLink) string {
	if len(l.Makers) == 0 {
		return "user:" + l.Email
	}
	return l.Makers[0]
}

// validLink finds a link by its secret. It is good until it expires, while
// its user names it and has a role.
func (s *SignInService) validLink(tx store.Tx, secret string) (*records.SignInLink, error) {
	if !access.WellFormedSecret(secret) {
		return nil, errLink
	}
	id := access.HashLink(secret)
	rec, _, err := records.SignInLinks.Get(tx, store.Realm, id)
	var u *records.User
	if err == nil {
		u, _, err = records.Users.Get(tx, rec.TenantID, rec.Email)
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, errLink
	case err != nil:
		return nil, err
	case u.Link != id || u.Invited || len(u.Roles) == 0 || !s.Config.Now().Before(rec.ExpiresAt):
		return nil, errLink
	}
	return rec, nil
}

// SignInByLink uses a sign-in link up and begins a session of its user. before is as in
// SignIn.
func (s *SignInService) SignInByLink(ctx context.Context, secret, from string, before core.Actor) (session string, err error) {
	if err := s.Config.SignIn.Begins(access.ByLink); err != nil {
		return "", err
	}
	if err := s.Try(ctx, from); err != nil {
		return "", err
	}
	made := access.FormatSecret(s.Config.NewSecret())
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		session = ""
		rec, err := s.useLink(tx, secret)
		if err != nil || rec == nil {
			return err
		}
		u, _, err := records.Users.Get(tx, rec.TenantID, rec.Email)
		if err != nil {
			return err
		}
		session = made
		return s.sessions.BeginSession(tx, u, made, before, sessions.Entrance{Way: access.ByLink, Makers: rec.Makers, Bound: true, By: "with a sign-in link that " + madeBy(rec) + " made"})
	})
	if err == nil && session == "" {
		err = errLink
	}
	if err == nil {
		s.succeeded(ctx, from)
	}
	return session, core.Public(err)
}

// useLink deletes a link and returns it; nil for one that isn't valid. One that was seen
// expired is deleted too, so that a clock that is set back doesn't make it valid again.
func (s *SignInService) useLink(tx store.Tx, secret string) (*records.SignInLink, error) {
	rec, err := s.validLink(tx, secret)
	if errors.Is(err, errLink) {
		return nil, s.dropExpiredLink(tx, secret)
	}
	if err != nil {
		return nil, err
	}
	if err := people.DropClaims(tx, rec.TenantID, rec.Email); err != nil {
		return nil, err
	}
	u, version, err := records.Users.Get(tx, rec.TenantID, rec.Email)
	if err != nil {
		return nil, err
	}
	if err := sessions.DropLink(tx, u); err != nil {
		return nil, err
	}
	_, err = records.Users.Put(tx, u.TenantID, u.Email, u, version)
	return rec, err
}

func (s *SignInService) dropExpiredLink(tx store.Tx, secret string) error {
	id := access.HashLink(secret)
	rec, _, err := records.SignInLinks.Get(tx, store.Realm, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil || s.Config.Now().Before(rec.ExpiresAt):
		return err
	}
	return records.SignInLinks.Delete(tx, store.Realm, id)
}
