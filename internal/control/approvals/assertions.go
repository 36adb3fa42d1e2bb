package approvals

import (
	"context"
	"encoding/base64"
	"errors"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/control/core"
	"github.com/countersign/countersign/internal/control/reach"
	"github.com/countersign/countersign/internal/control/sessions"
	"github.com/countersign/countersign/internal/evidence/audit"
	"github.com/countersign/countersign/internal/platform/passkey"
	"github.com/countersign/countersign/internal/rules/access"
	"github.com/countersign/countersign/internal/rules/assertion"
	"github.com/countersign/countersign/internal/rules/safetext"
	"github.com/countersign/countersign/internal/storage/records"
	"github.com/countersign/countersign/internal/storage/store"
)

// A tenant may ask that each approval is signed with a passkey of whoever gives it, over the
// digest of the request. What asked is fixed when the approval is asked for; a setting that
// was tightened since counts too. A rejection lets nothing out and needs no signature.

// wantsAssertion reports an approval that nobody may give now without a signature.
func wantsAssertion(tx store.Tx, tenant string, r *records.Approval) (bool, error) {
	if r.DecisionAssertion != "" {
		return true, nil
	}
	settings, err := records.SettingsOf(tx, tenant)
	return settings.DecisionAssertion == countersign.DecisionAssertionPasskey, err
}

// Signing is what a page needs to have an approval signed.
type Signing struct {
	Wanted      bool
	RPID        string
	Credentials []string // the user's own, base64url; empty: they must add one first
}

// Signing says whether an approval must be signed, and with which passkeys the actor can.
func (s *ApprovalService) Signing(ctx context.Context, a core.Actor, id string) (out Signing, err error) {
	err = s.View(ctx, a, access.ReadApprovals, func(tx store.Tx) error {
		out = Signing{}
		rec, err := reach.Approval(tx, a, id)
		if err != nil {
			return err
		}
		if out.Wanted, err = wantsAssertion(tx, a.Tenant, rec); err != nil {
			return err
		}
		out, err = signing(tx, s.party(), a, out.Wanted)
		return err
	})
	return out, err
}

// ChangeSigning is Signing for changes that several administrators decide: the tenant asks for it.
func (s *ApprovalService) ChangeSigning(ctx context.Context, a core.Actor) (out Signing, err error) {
	err = s.View(ctx, a, access.ReadChanges, func(tx store.Tx) error {
		settings, err := records.SettingsOf(tx, a.Tenant)
		if err == nil {
			out, err = signing(tx, s.party(), a, settings.DecisionAssertion == countersign.DecisionAssertionPasskey)
		}
		return err
	})
	return out, err
}

// signing says with which passkeys the actor can sign what must be.
func signing(tx store.Tx, party *passkey.Party, a core.Actor, wanted bool) (Signing, error) {
	out := Signing{Wanted: wanted}
	if !wanted || party == nil || a.Session == "" {
		return out, nil
	}
	out.RPID = party.RPID()
	all, err := sessions.PasskeysOf(tx, a.Tenant, a.Email)
	for i := range all {
		if all[i].Logged {
			out.Credentials = append(out.Credentials, base64.RawURLEncoding.EncodeToString(all[i].Key.ID))
		}
	}
	return out, err
}

// asserted checks the answer of a passkey that comes with a decision, and keeps its counter;
// nil where none comes and none is wanted.
func (s *ApprovalService) asserted(tx store.Tx, a core.Actor, r *records.Approval, d countersign.Decision) (*countersign.Assertion, error) {
	if d.Assertion == nil {
		wanted, err := wantsAssertion(tx, a.Tenant, r)
		if err == nil && wanted && d.Decision == countersign.ApprovalApproved {
			err = assertion.Required()
		}
		return nil, err
	}
	about := assertion.Decision{ApprovalID: r.ID, RequestDigest: r.RequestDigest, StateDigest: r.StateDigest, Decision: d.Decision, Reason: d.Reason}
	return s.Asserted(tx, a, about, d.Assertion)
}

// Asserted checks the answer of a passkey of the actor's to what somebody decides, and keeps its
// counter.
func (s *ApprovalService) Asserted(tx store.Tx, a core.Actor, about assertion.Signed, answer *countersign.SignedAnswer) (*countersign.Assertion, error) {
	p, version, err := s.signer(tx, a, answer.CredentialID)
	if err != nil {
		return nil, err
	}
	logged, err := registrationOf(tx, p)
	if err != nil {
		return nil, err
	}
	out := &countersign.Assertion{SignedAnswer: *answer, PublicKey: logged.PublicKey, RPID: logged.RPID, Registration: p.Registration}
	checked, err := assertion.Check(about, out)
	switch {
	case err != nil:
		return nil, assertion.Invalid(err)
	case checked.Origin != s.party().Origin():
		return nil, assertion.Invalid(errors.New("it was made on a page of another address than this service's"))
	case (checked.Counter != 0 || p.Key.Counter != 0) && checked.Counter <= p.Key.Counter:
		return nil, assertion.Invalid(errors.New("the counter of the passkey " + safetext.Escaped(p.Name) + " has not risen, so it may have been copied; approve with another one"))
	}
	p.Key.Counter, p.LastUsedAt = checked.Counter, s.Config.Now()
	_, err = records.Passkeys.Put(tx, p.TenantID, records.PasskeyID(p.Email, p.Key.ID), p, version)
	return out, err
}

// signer finds the actor's own passkey by its id. A decision by token isn't signed: the log
// names the user who registered the key, and a decision must name the same.
func (s *ApprovalService) signer(tx store.Tx, a core.Actor, credential string) (*records.Passkey, int64, error) {
	if s.party() == nil {
		return nil, 0, sessions.ErrNoPasskeys
	}
	id, err := base64.RawURLEncoding.Strict().DecodeString(credential)
	if err != nil {
		return nil, 0, assertion.Invalid(errors.New("credentialId must be base64url without padding"))
	}
	p, version, err := sessions.PasskeyByID(tx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return nil, 0, err
	case a.Session != "" && p.TenantID == a.Tenant && p.Email == a.Email:
		return p, version, nil
	}
	return nil, 0, assertion.Invalid(errors.New("it is of no passkey of yours in this tenant; decide in a browser's session, with a passkey that you added there"))
}

// registrationOf reads what the audit log says of a passkey. One that isn't there, under this
// id and by this user, signs nothing.
func registrationOf(tx store.Tx, p *records.Passkey) (*countersign.PasskeyRegistration, error) {
	if !p.Logged {
		return nil, assertion.Invalid(errors.New("the passkey " + safetext.Escaped(p.Name) + " was added before keys were logged; remove it, and add it again"))
	}
	rec, err := audit.Get(tx, p.TenantID, p.Registration)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if err != nil || rec.Action != string(access.AddPasskey) || rec.Outcome != countersign.AuditDone || rec.Actor != "user:"+p.Email ||
		rec.Passkey == nil || rec.Passkey.CredentialID != base64.RawURLEncoding.EncodeToString(p.Key.ID) {
		return nil, assertion.Invalid(errors.New("the audit log has no registration of the passkey " + safetext.Escaped(p.Name) + "; remove it, and add it again"))
	}
	return rec.Passkey, nil
}
